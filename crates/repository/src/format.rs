//! The package formats. A closed list: a new format is a folder in `format`, a folder here, and a line in this file.

/// A package format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// RubyGems.
    Gem,
    /// Maven.
    Maven,
    /// Files by their paths and no more: wrappers, tools, installers.
    Raw,
}

impl Format {
    /// All formats.
    pub const ALL: &'static [Format] = &[Format::Gem, Format::Maven, Format::Raw];

    /// Its name in settings and journal rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Gem => "gem",
            Format::Maven => "maven",
            Format::Raw => "raw",
        }
    }

    /// Whether its repositories are trees of files that are read and written by their paths.
    pub fn is_tree(self) -> bool {
        matches!(self, Format::Maven | Format::Raw)
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.as_str() == name)
    }
}
