//! The package formats. A closed list: a new format is a folder in the crate `format`, a folder here, and its lines in this file.

pub(crate) mod rules;

use crate::format::rules::FormatRules;
use crate::gem::layout::GemPath;
use crate::gem::rules::GemRules;
use crate::maven::layout::MavenPath;
use crate::maven::rules::MavenRules;
use crate::raw::layout::RawPath;
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

/// A path of a repository or of its upstream, as its format reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatPath<'a> {
    /// A file of an upstream. Clients request gems with other questions.
    Gem(GemPath<'a>),
    Maven(MavenPath<'a>),
    Raw(RawPath<'a>),
}

/// Calls a function of a path that a format has read. With `else`, only formats that derive content from files have the function, such
/// as documents and lists of versions; for the others it is the value after `else`.
macro_rules! of_path {
    ($read:expr, $function:ident($($argument:expr),*)) => {
        match $read {
            $crate::format::FormatPath::Gem(path) => path.$function($($argument),*),
            $crate::format::FormatPath::Maven(path) => path.$function($($argument),*),
            $crate::format::FormatPath::Raw(path) => path.$function($($argument),*),
        }
    };
    ($read:expr, $function:ident($($argument:expr),*)$(.$wait:ident)? else $nothing:expr) => {
        match $read {
            $crate::format::FormatPath::Maven(path) => path.$function($($argument),*)$(.$wait)?,
            $crate::format::FormatPath::Gem(_) | $crate::format::FormatPath::Raw(_) => $nothing,
        }
    };
}

pub(crate) use of_path;

impl FormatPath<'_> {
    /// Reads another path of the same format.
    pub(crate) fn at(self, path: &str) -> FormatPath<'_> {
        match self {
            FormatPath::Gem(_) => FormatPath::Gem(GemPath(path)),
            FormatPath::Maven(_) => FormatPath::Maven(MavenPath::read(path)),
            FormatPath::Raw(_) => FormatPath::Raw(RawPath(path)),
        }
    }
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

    /// Reads a path of a repository of the format.
    pub(crate) fn read_path(self, path: &str) -> FormatPath<'_> {
        match self {
            Format::Gem => FormatPath::Gem(GemPath(path)),
            Format::Maven => FormatPath::Maven(MavenPath::read(path)),
            Format::Raw => FormatPath::Raw(RawPath(path)),
        }
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
