//! The stored settings of a Koji hub as the source of a remote repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Koji hub whose builds a remote Maven repository has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Koji")]
pub struct KojiRecord {
    /// URL of the hub, such as `https://koji.example.org/kojihub`. Credentials are never sent to it.
    pub hub: String,
    /// URL of the files, above `packages/` and `vol/`. Credentials go only here.
    pub files: String,
    /// Names of tags. `*`, `?` and `[...]` stand for parts of a name.
    #[schemars(length(min = 1, max = 64))]
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
