//! The stored settings of a Koji hub as the source of a remote repository.

use crate::record::tag_pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Koji hub whose builds a remote Maven repository has. A new one names `hub`, `files` and `tags`; a change names what it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Koji")]
pub struct KojiRecord {
    /// URL of the hub, such as `https://koji.example.org/kojihub`. Credentials are never sent to it.
    #[schemars(default)]
    pub hub: String,
    /// URL of the files, above `packages/` and `vol/`. Credentials go only here.
    #[schemars(default)]
    pub files: String,
    /// Names of tags, with case. `*`, `?` and `[...]` stand for parts of a name.
    #[schemars(default, length(min = 1, max = 64))]
    pub tags: Vec<String>,
    /// Whether builds of tags that these inherit from belong to them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inherit: bool,
    /// Which build has a folder that several have: the one that was tagged last (newest, as where nothing is said), or the
    /// first, while it is tagged (oldest).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["newest", "oldest", null]))]
    pub duplicates: Option<String>,
}

impl KojiRecord {
    /// The name of the rule for duplicates that is no default: the build that was tagged first has a folder.
    pub(crate) const OLDEST: &str = "oldest";
    /// The name of the default.
    pub(crate) const NEWEST: &str = "newest";

    /// Whether a tag is one of this repository.
    pub fn matches(&self, tag: &str) -> bool {
        self.tags.iter().any(|pattern| tag_pattern::matches(pattern, tag))
    }

    /// The patterns to ask a hub for tags with. They name at least the tags of this repository; [`Self::matches`] decides. A hub
    /// knows `*` and `?`, and ignores case.
    pub fn asked_patterns(&self) -> Vec<String> {
        self.tags.iter().map(|pattern| tag_pattern::widened(pattern)).collect()
    }

    /// Whether a folder that several builds have belongs to the one that was tagged first, while it is tagged.
    pub fn takes_oldest(&self) -> bool {
        self.duplicates.as_deref() == Some(Self::OLDEST)
    }

    /// The name of its rule for duplicates.
    pub fn rule(&self) -> &'static str {
        if self.takes_oldest() { Self::OLDEST } else { Self::NEWEST }
    }
}
