//! What a repository that is a tree of files answers with.

use crate::content::Content;

/// What a repository that is a tree of files answers with. Clones share the bytes.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly every answer is a file")]
pub enum Found {
    /// A file.
    Content(Content),
    /// The upload is there now; `true`: it was not before.
    Kept(bool),
    /// So many files were taken away.
    Removed(u64),
}
