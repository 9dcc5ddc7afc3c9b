//! The list of a folder.

use crate::content::Freshness;
use telemetry::{Millis, Slot};

/// The list of a folder. It has at least one row.
#[derive(Debug)]
pub struct FolderList {
    /// The path of the folder, without a slash at its end.
    pub path: String,
    /// In the byte order of their names.
    pub rows: Vec<FolderRow>,
    /// How the metadata of upstreams was obtained, if it is in the list.
    pub freshness: Option<Freshness>,
    /// The memory of the rows and of their HTML.
    pub(crate) _held: Vec<Slot>,
}

/// A file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderRow {
    /// Its name in the folder. That of a folder ends with a slash.
    pub name: String,
    /// When the file was published; of a folder, its first file by path. Of a version of an upstream, its date if that is
    /// known.
    pub at: Option<Millis>,
    /// The size of a file.
    pub size_bytes: Option<u64>,
}

/// Versions in a folder that upstreams list, in their order, each with its date if that is known.
#[derive(Debug, Default)]
pub(crate) struct FolderVersions {
    pub(crate) dated: Vec<(String, Option<Millis>)>,
    pub(crate) freshness: Option<Freshness>,
}
