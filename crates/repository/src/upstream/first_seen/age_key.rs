//! The key under which the journal records the age of an upstream's file.

/// Where the age of a file is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgeKey<'a> {
    /// In a unit of its own, which records its digest.
    Bytes,
    /// In the unit of a folder, together with the ages of other versions.
    Version(VersionPath<'a>),
    /// Nowhere: the file is a document that lists others.
    Document,
}

/// A version, or a build of a snapshot, in the folder that lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VersionPath<'a> {
    pub(crate) folder: &'a str,
    /// `None`: the file name can have other bytes each time.
    pub(crate) version: Option<String>,
}
