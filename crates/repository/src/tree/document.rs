//! Documents of a tree that say what it has: hosted trees generate them, and a group makes one of those of its members.

use crate::content::Content;
use crate::policy::package_version::PackageVersion;
use crate::upstream::first_seen::observation::Observation;
use bytes::Bytes;
use std::collections::HashSet;
use std::fmt::Debug;
use telemetry::Millis;

/// A kind of document, as its format knows it.
pub(crate) trait Document: Debug + Send + Sync {
    /// Which members of a group it is made from.
    fn sources(&self) -> Sources;

    /// Most bytes that one may have.
    fn longest(&self) -> usize;

    /// Most bytes that are read of all members' documents together.
    fn longest_together(&self) -> usize;

    /// Why clients cannot read it.
    fn check(&self, bytes: &[u8]) -> Result<(), String>;

    /// What the document of a folder tells of the ages of versions, where the upstream says when it was last changed.
    fn observe(&self, folder: &str, bytes: &[u8], modified: Option<Millis>) -> Vec<Observation>;

    /// What a folder below that of the document is called as a package.
    fn package<'a>(&self, folder: &'a str, below: &'a str) -> PackageVersion<'a>;

    /// One document of those of several members, which are in the members' order with hosted ones first. What the members that are
    /// hosted have alone is in `guarded`, by the names of folders below that of the document: nothing of it is taken from others.
    /// `None`: nothing can be made of them.
    fn merge(&self, folder: &str, parts: &[MemberDocument], guarded: &HashSet<String>) -> Option<MergedDocument>;
}

/// Which members of a group a document is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sources {
    /// All that have it.
    Any,
    /// Hosted members that have it.
    Hosted,
    /// All of them, and only where all are hosted: one that lacks anything would do harm.
    AllHosted,
}

/// The document of one member.
#[derive(Debug)]
pub(crate) struct MemberDocument {
    pub(crate) hosted: bool,
    pub(crate) content: Content,
}

/// The document of all members.
#[derive(Debug)]
pub(crate) struct MergedDocument {
    pub(crate) bytes: Bytes,
    /// Whether something could not be read, and is not in it.
    pub(crate) lacks: bool,
}
