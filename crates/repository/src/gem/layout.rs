//! A path of an upstream of gems: what is fetched from there by its path, and nothing else.

/// What a path of an upstream of gems is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GemPath<'a> {
    /// The versions of the gem of this name.
    Info(&'a str),
    /// A package, or something that is about one.
    Other(&'a str),
}

impl<'a> GemPath<'a> {
    /// Reads a path.
    pub(crate) fn read(path: &'a str) -> Self {
        match path.strip_prefix("info/") {
            Some(name) => GemPath::Info(name),
            None => GemPath::Other(path),
        }
    }

    /// The unit of its revisions: the gem where the path names one, else the path itself.
    pub(crate) fn unit(self) -> &'a str {
        match self {
            GemPath::Info(unit) | GemPath::Other(unit) => unit,
        }
    }
}
