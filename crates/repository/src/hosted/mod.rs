//! A repository that holds packages of its own. The catalog is the truth, so nothing is remembered as missing.

mod beginnings;
mod compact;
mod dependencies;
mod describe;
mod from_rows;
mod heads;
mod index;
mod inventory;
mod names;
mod owners;
mod push;
mod reform;
mod search;
mod shared;
mod single;
mod slot;
mod specs;
mod tree;
mod versions;
mod views;
mod yank;

pub(crate) use beginnings::lacks;
pub(crate) use compact::compact;
pub(crate) use dependencies::{Pieces, dependencies};
pub(crate) use describe::describe;
pub(crate) use heads::Heads;
pub(crate) use index::info;
pub(crate) use inventory::Inventory;
pub(crate) use names::names;
pub(crate) use owners::change as change_owner;
pub(crate) use push::push;
pub(crate) use reform::{name as form, reform};
pub use shared::Shared;
pub(crate) use single::{gem, gemspec};
pub(crate) use slot::Keeper;
pub use specs::Packed;
pub(crate) use specs::specs;
pub use tree::UNDO_DAYS;
pub(crate) use tree::{Tree, admit, deploy, fetch, remove, restore, sweep, unit as file_unit};
pub(crate) use versions::versions;
pub(crate) use views::Views;
pub(crate) use yank::yank;

use crate::Repository;
use std::sync::Arc;
use store::{Stamp, Store};

/// A hosted repository and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosted<'a> {
    pub(crate) store: &'a Store,
    pub(crate) keeper: &'a Keeper,
    pub(crate) heads: &'a Heads,
    pub(crate) views: &'a Views,
    pub(crate) repository: &'a Arc<Repository>,
    /// The revision of the settings that `repository` was read from.
    pub(crate) settings: &'a Stamp,
}

impl Hosted<'_> {
    /// Whether it is looked at in a way that the indexes which all share do not show.
    fn by_rows(self) -> bool {
        self.repository.as_of.is_some() || !self.repository.rules.is_open()
    }
}
