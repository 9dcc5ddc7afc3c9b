//! A repository that holds packages of its own. The catalog is the truth, so nothing is remembered as missing.

mod dependencies;
mod index;
mod push;
mod shared;
mod single;
mod yank;

pub(crate) use dependencies::{Pieces, dependencies};
pub(crate) use index::{info, names, versions};
pub(crate) use push::push;
pub use shared::Shared;
pub(crate) use single::{gem, gemspec};
pub(crate) use yank::yank;

use crate::{Repository, Workers};
use std::sync::Arc;
use store::Store;

/// A hosted repository and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosted<'a> {
    pub(crate) store: &'a Store,
    pub(crate) workers: &'a Workers,
    pub(crate) repository: &'a Arc<Repository>,
}
