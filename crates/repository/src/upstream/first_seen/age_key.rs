//! Under which name the journal has the age of a file of an upstream.

/// Where the age of a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgeKey<'a> {
    /// In a unit of its own, which says its bytes.
    Bytes,
    /// In the unit of a folder, with the ages of others.
    Version(VersionPath<'a>),
    /// Nowhere: it is a document that lists others.
    Document,
}

/// A version, or a build of a snapshot, in the folder that lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VersionPath<'a> {
    pub(crate) folder: &'a str,
    /// `None`: the file's name has other bytes each time.
    pub(crate) version: Option<String>,
}
