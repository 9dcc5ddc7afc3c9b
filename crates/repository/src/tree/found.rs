//! The answer of a repository that is a tree of files.

use crate::content::Content;
use crate::tree::folder_list::FolderList;
use std::sync::Arc;
use telemetry::Millis;

/// The answer of a repository that is a tree of files. Clones share the bytes.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly every answer is a file")]
pub enum Found {
    /// A file.
    Content(Content),
    /// The list of a folder.
    Folder(Arc<FolderList>),
    /// The upload is published.
    Kept {
        /// Whether the path was empty before.
        new: bool,
        /// When these bytes were published here.
        published: Millis,
        /// The effect on other clients, if there is one.
        notice: Option<String>,
    },
    /// Files were deleted.
    Removed {
        /// The names that stay with the repository although nothing of them is left, if there are some.
        notice: Option<String>,
    },
}
