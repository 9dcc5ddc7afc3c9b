//! Documents that list the content of a tree: hosted trees generate them, and groups merge those of their members.

use crate::content::Content;
use crate::policy::package_version::PackageVersion;
use crate::upstream::first_seen::observation::Observation;
use bytes::Bytes;
use std::collections::HashSet;
use std::fmt::Debug;
use telemetry::{Millis, Reason};

/// A kind of document of a format.
pub(crate) trait Document: Debug + Send + Sync {
    /// Maximum size of one document, in bytes.
    fn longest(&self) -> usize;

    /// Maximum size of all documents that are merged, in bytes.
    fn longest_together(&self) -> usize;

    /// Checks whether clients can read the document.
    fn check(&self, bytes: &[u8]) -> Result<(), String>;

    /// The ages of versions that follow from a folder's document and the upstream's date of its last change.
    fn observe(&self, folder: &str, bytes: &[u8], modified: Option<Millis>) -> Vec<Observation>;

    /// The package that a folder which the document lists stands for.
    fn package<'a>(&self, folder: &'a str, below: &'a str) -> PackageVersion<'a>;

    /// Whether the document of an upstream is always rendered again, even if no other member has one. Such a document
    /// lists packages anywhere, and others list subfolders of their own folder.
    fn is_rendered(&self) -> bool;

    /// The folders of all packages that the documents of upstreams list, for a document that is rendered.
    fn listed(&self, parts: &[MemberDocument]) -> HashSet<String>;

    /// Merges the documents of several members. They are in the order of the members, hosted ones first. `guarded` has
    /// the listed folders that only hosted members answer for: nothing about them is taken from other documents.
    /// `None`: they cannot be merged.
    fn merge(&self, folder: &str, parts: &[MemberDocument], guarded: &HashSet<String>) -> Option<MergedDocument>;
}

/// The document of one member.
#[derive(Debug)]
pub(crate) struct MemberDocument {
    /// The member's name.
    pub(crate) member: String,
    pub(crate) hosted: bool,
    pub(crate) content: Content,
}

/// The merged document.
#[derive(Debug)]
pub(crate) struct MergedDocument {
    pub(crate) bytes: Bytes,
    /// The documents of members that are not in it, or only in part.
    pub(crate) left_out: Vec<LeftOut>,
}

/// A document that is not merged, or only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The member's name.
    pub(crate) member: String,
    pub(crate) reason: Reason,
    /// The missing part, and the reason, in words.
    pub(crate) text: String,
}
