//! A hosted repository that is a tree of files: the key of an entry is its path, and its unit the folder that it is in.

mod admit;
mod besides;
mod deploy;
mod fetch;
mod folder;
mod hint;
mod listing;
mod made;
mod place;
mod remove;
mod restore;
mod retention;

pub(crate) use admit::admit;
pub(crate) use deploy::deploy;
pub(crate) use fetch::fetch;
pub(crate) use remove::remove;
pub use restore::UNDO_DAYS;
pub(crate) use restore::restore;
pub(crate) use retention::sweep;

use super::Keeper;
use crate::Repository;
use format::maven::path::PREFIXES;
use std::sync::Arc;
use store::{RepositoryId, Store, Unit};

/// How often a change that lost a race tries again. Each lost race means that another change of the same folder won.
const TRIES: usize = 100;

/// What the answer to a question for the file at `path` is made from.
pub(crate) fn unit(repository: RepositoryId, path: &str) -> Unit<'_> {
    // The beginnings of all paths are of every folder there is.
    if path.starts_with(PREFIXES) { Unit::All(repository) } else { Unit::Of(repository, format::tree::folder(path)) }
}

/// A hosted tree of files and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) store: &'a Store,
    pub(crate) keeper: &'a Keeper,
    pub(crate) repository: &'a Arc<Repository>,
}

#[cfg(test)]
mod tests;
