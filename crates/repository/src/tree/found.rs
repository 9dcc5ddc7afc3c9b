//! The answer of a repository that is a tree of files.

use crate::content::Content;

/// The answer of a repository that is a tree of files. Clones share the bytes.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly every answer is a file")]
pub enum Found {
    /// A file.
    Content(Content),
    /// The upload is published; `true`: the path was empty before.
    Kept(bool),
    /// This number of files was deleted.
    Removed(u64),
}
