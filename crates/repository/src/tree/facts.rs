//! Facts that each format states about each path, and their parts.

use format::tree::Checksum;

/// The facts that each format states about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathFacts<'a> {
    /// The path without the query that an upstream is asked with.
    pub(crate) without_query: &'a str,
    /// The file whose checksum this is by its ending, in formats that store checksums as ordinary files.
    pub(crate) kept_checksum_of: Option<(&'a str, Checksum)>,
    /// Whether the format stores checksums as ordinary files.
    pub(crate) keeps_checksums: bool,
    /// Whether the bytes of the path never change; `None`: the format has no rule for that.
    pub(crate) is_immutable: Option<bool>,
    /// Whether an index lists it with its digest. Then the upstream must have it, and its own age does not matter.
    pub(crate) is_listed: bool,
    /// Whether a client gets the 403 of an upstream that is about the file. Bundler 2.2 to 4.0 and `gem` treat it like a
    /// 502.
    pub(crate) passes_refusal: bool,
    /// Whether a file can exist at this path where an upstream lists a folder.
    pub(crate) may_be_folder: bool,
}

/// The source of the bytes at a path of a hosted tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provenance<'a> {
    /// A client uploads them.
    Uploaded,
    /// They are computed: the digest of the file at another path.
    ChecksumOf(&'a str, Checksum),
    /// They are generated from uploaded files.
    Generated,
}

/// A name that is guarded as soon as a hosted repository has, or ever had, something under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guarded<'a> {
    /// A folder with subfolders that contain files.
    Folder(&'a str),
    /// A path of a file.
    Path(&'a str),
}
