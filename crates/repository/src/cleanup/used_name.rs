//! The names under which uses of files are recorded.

use std::fmt;

/// The name under which the use of a file is recorded, as text ([`fmt::Display`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsedName<'a> {
    /// A name that is unique in the repository.
    Own(&'a str),
    /// A version of a package.
    Version {
        /// The package.
        package: &'a str,
        /// The version.
        version: &'a str,
    },
}

impl fmt::Display for UsedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsedName::Own(name) => f.write_str(name),
            UsedName::Version { package, version } => write!(f, "{package}:{version}"),
        }
    }
}
