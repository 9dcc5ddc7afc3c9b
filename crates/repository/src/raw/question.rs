//! A question to a raw repository: a tree of files and no more.

use crate::format::Format;
use crate::reading::Reading;
use crate::tree;
use store::RepositoryKind;

pub(crate) use crate::tree::Question;

/// Reads a method and a path. `Err` has the methods that every path takes.
pub(crate) fn read<'a>(
    kind: RepositoryKind,
    method: &str,
    path: &'a str,
) -> Result<Reading<Question<'a>>, &'static str> {
    tree::question::read(Format::Raw, kind, method, path)
}
