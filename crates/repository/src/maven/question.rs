//! A question to a Maven repository, read from a method and a path.

use crate::format::Format;
use crate::reading::Reading;
use crate::tree;
use format::maven::path::SETTINGS;
use store::RepositoryKind;

/// A question to a Maven repository. It borrows from the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it is copied while a request is read, and never kept")]
pub(crate) enum Question<'a> {
    /// A request for the settings file that a client needs to use the repository.
    ClientSettings,
    /// A request for a file of the tree, or a change of one.
    Tree(tree::Question<'a>),
}

/// Reads a method and a path. `Err` has the methods that every path takes.
pub(crate) fn read<'a>(
    kind: RepositoryKind,
    method: &str,
    path: &'a str,
) -> Result<Reading<Question<'a>>, &'static str> {
    let settings = path == SETTINGS && matches!(method, "GET" | "HEAD");
    let read = tree::question::read(Format::Maven, kind, method, path)?;
    Ok(read.map(|question| if settings { Question::ClientSettings } else { Question::Tree(question) }))
}
