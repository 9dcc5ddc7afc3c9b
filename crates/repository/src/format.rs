//! The package formats. A closed list: a new format is a folder in the crate `format`, a folder here, and its lines in this file.

pub(crate) mod rules;

use crate::format::rules::FormatRules;
use crate::gem::rules::GemRules;
use crate::maven::rules::MavenRules;
use crate::raw::rules::RawRules;
use crate::record::RepositoryRecord;
use format::tree::{self, Hurtful};
use serde_json::Value;

/// A package format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// RubyGems.
    Gem,
    /// Maven.
    Maven,
    /// Files that have a path and nothing else: wrappers, tools, installers.
    Raw,
}

impl Format {
    /// All formats.
    pub const ALL: &'static [Format] = &[Format::Gem, Format::Maven, Format::Raw];

    /// The rules of the format for settings and policies.
    pub(crate) fn rules(self) -> &'static dyn FormatRules {
        match self {
            Format::Gem => &GemRules,
            Format::Maven => &MavenRules,
            Format::Raw => &RawRules,
        }
    }

    /// Its name in settings and journal rows.
    pub fn as_str(self) -> &'static str {
        self.rules().name()
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.as_str() == name)
    }

    /// Whether its repositories are trees of files that are read and written by their paths.
    pub fn is_tree(self) -> bool {
        self.rules().is_tree()
    }

    /// Whether a repository of the format may have a file at this path, which may end with a query.
    pub(crate) fn check_path(self, path: &str) -> Result<(), Hurtful> {
        match (self, tree::split_query(path)) {
            (Format::Raw, (path, query)) if query.is_none_or(tree::is_query) => tree::check_raw(path),
            (Format::Raw | Format::Maven | Format::Gem, _) => tree::check(path),
        }
    }

    /// The settings that only hosted repositories of this format have, as the API shows them.
    pub fn hosted_settings(self, record: &RepositoryRecord) -> Value {
        self.rules().hosted_settings(record)
    }

    /// Whether an upstream may have another file for each query of a path.
    pub fn has_queries(self) -> bool {
        self.rules().has_queries()
    }

    /// Whether its hosted repositories publish packages.
    pub fn has_packages(self) -> bool {
        self.rules().has_packages()
    }

    /// Whether repositories of the format have an `/info`. If so, `info_format` is a setting of theirs.
    pub fn has_info(self) -> bool {
        self.rules().has_info()
    }
}
