//! The flags of a Koji hub, of `repo add` and `repo set`.

use super::body::object;
use crate::cli::failure::Failure;
use serde_json::{Value, json};

/// The settings of a Koji hub. `repo set` changes the settings that are given.
#[derive(Debug, Default, clap::Args)]
pub(super) struct KojiFlags {
    /// URL of a Koji hub whose builds the repository has; it gets no credentials
    #[arg(long, value_name = "URL", help_heading = "Remote repositories of a Koji hub")]
    koji: Option<String>,
    /// URL of the files of the hub, above `packages/`; credentials go there only
    #[arg(long, value_name = "URL", help_heading = "Remote repositories of a Koji hub")]
    koji_files: Option<String>,
    /// Name of a tag, or a pattern such as `app-*-released`; repeat the flag for all of them
    #[arg(long, value_name = "PATTERN", help_heading = "Remote repositories of a Koji hub")]
    koji_tag: Vec<String>,
    /// Whether the tags have the builds of the tags that they inherit from, too
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Remote repositories of a Koji hub"
    )]
    koji_inherit: Option<bool>,
    /// Which of several builds with the same version has it: the one that was tagged last, or the first one [default: newest]
    #[arg(long, value_parser = ["newest", "oldest"], help_heading = "Remote repositories of a Koji hub")]
    koji_duplicates: Option<String>,
}

impl KojiFlags {
    /// The names of all of them, as clap knows them.
    pub(super) const ALL: [&str; 5] = ["koji", "koji_files", "koji_tag", "koji_inherit", "koji_duplicates"];

    /// Whether any of them is given.
    pub(super) fn are_given(&self) -> bool {
        let urls = self.koji.is_some() || self.koji_files.is_some();
        urls || !self.koji_tag.is_empty() || self.koji_inherit.is_some() || self.koji_duplicates.is_some()
    }

    /// Refuses a new repository with only a part of a hub.
    pub(super) fn check_new(&self) -> Result<(), Failure> {
        let needed = [
            ("--koji", self.koji.is_some()),
            ("--koji-files", self.koji_files.is_some()),
            ("--koji-tag", !self.koji_tag.is_empty()),
        ];
        match needed.iter().find(|(_, given)| !given) {
            Some((missing, _)) if self.are_given() => {
                let text = format!("a repository of a Koji hub needs `{missing}`");
                Err(Failure::usage(
                    text,
                    "`--koji HUB_URL --koji-files TOP_URL --koji-tag PATTERN`, and `--format maven`",
                ))
            }
            _ => Ok(()),
        }
    }

    /// The object of an API call, with the settings that were given.
    pub(super) fn body(self) -> Option<Value> {
        object([
            ("hub", self.koji.map(Value::from)),
            ("files", self.koji_files.map(Value::from)),
            ("tags", (!self.koji_tag.is_empty()).then(|| json!(self.koji_tag))),
            ("inherit", self.koji_inherit.map(Value::from)),
            ("duplicates", self.koji_duplicates.map(Value::from)),
        ])
    }
}
