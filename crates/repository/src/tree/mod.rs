//! A hosted repository that is a tree of files: the key of an entry is its path, and its unit the folder that it is in.

pub(crate) mod admit;
pub(crate) mod deploy;
pub(crate) mod fetch;
pub(crate) mod folder;
pub(crate) mod inventory;
pub(crate) mod place;
pub(crate) mod prefix_index;
pub(crate) mod question;
pub(crate) mod remove;
pub(crate) mod restore;
#[cfg(test)]
mod tests;

pub(crate) use question::Question;

use crate::context::Context;
use crate::repository::Repository;
use format::maven::path::PREFIXES;
use std::sync::Arc;
use store::{RepositoryId, Store, Unit};

/// How often a change that lost a race tries again. Each lost race means that another change of the same folder won.
pub(crate) const TRIES: usize = 100;

/// What the answer to a question for the file at `path` is made from.
pub(crate) fn unit(repository: RepositoryId, path: &str) -> Unit<'_> {
    // The beginnings of all paths are of every folder there is.
    if path.starts_with(PREFIXES) { Unit::All(repository) } else { Unit::Of(repository, format::tree::folder(path)) }
}

/// A hosted tree of files and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) store: &'a Store,
    pub(crate) context: &'a Context,
    pub(crate) repository: &'a Arc<Repository>,
}
