//! A hosted repository that is a tree of files. The key of an entry is its path, and its unit is its folder.

pub(crate) mod admit;
pub(crate) mod answer;
pub(crate) mod by_format;
pub(crate) mod contents;
pub(crate) mod deploy;
pub(crate) mod document;
pub(crate) mod early_checksum;
pub(crate) mod facts;
pub(crate) mod fetch;
pub(crate) mod file;
pub(crate) mod folder;
pub(crate) mod folder_lists;
pub(crate) mod found;
pub(crate) mod further_changes;
pub(crate) mod hiding;
pub(crate) mod kept_names;
pub(crate) mod readable;

pub(crate) mod folder_list;
pub(crate) mod inventory;
pub(crate) mod past;
pub(crate) mod prefix_index;
pub(crate) mod purge;
pub(crate) mod question;
pub(crate) mod read;
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

/// Maximum number of attempts of a change. Each failed attempt means that another change of the same folder succeeded.
pub(crate) const TRIES: usize = 100;

/// A hosted tree of files and the tools that it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) store: &'a Store,
    pub(crate) context: &'a Context,
    pub(crate) repository: &'a Arc<Repository>,
}
