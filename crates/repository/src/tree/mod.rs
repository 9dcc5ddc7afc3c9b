//! A hosted repository that is a tree of files: the key of an entry is its path, and its unit the folder that it is in.

pub(crate) mod admit;
pub(crate) mod by_format;
pub(crate) mod deploy;
pub(crate) mod document;
pub(crate) mod fetch;
pub(crate) mod file;
pub(crate) mod folder;
pub(crate) mod found;
pub(crate) mod readable;

pub(crate) mod inventory;
pub(crate) mod prefix_index;
pub(crate) mod purge;
pub(crate) mod question;
pub(crate) mod remote;
pub(crate) mod remove;
pub(crate) mod restore;
pub(crate) mod subject;
#[cfg(test)]
mod tests;

pub use found::Found;
pub(crate) use question::Question;

use crate::context::Context;
use crate::repository::Repository;
use std::sync::Arc;
use store::Store;

/// How often a change that lost a race tries again. Each lost race means that another change of the same folder won.
pub(crate) const TRIES: usize = 100;

/// A hosted tree of files and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) store: &'a Store,
    pub(crate) context: &'a Context,
    pub(crate) repository: &'a Arc<Repository>,
}
