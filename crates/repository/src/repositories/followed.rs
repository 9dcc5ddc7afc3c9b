//! Passes on what other nodes wrote to the parts of this one that have it in memory.

use crate::context::Context;
use crate::face::Face;
use crate::formats::face;
use crate::gem::push_cache::PushCache;
use crate::repository::RepositoryTable;
use crate::upstream::Remotes;
use crate::upstream::first_seen::followed_rows::FollowedRow;
use arc_swap::ArcSwap;
use std::sync::Arc;
use store::{Change, JournalRow};

/// The parts that have it.
pub(crate) struct Followers {
    pub(crate) context: Context,
    pub(crate) known: Arc<ArcSwap<RepositoryTable>>,
    pub(crate) remotes: Arc<Remotes>,
    pub(crate) pushed: Arc<PushCache>,
}

impl Followers {
    /// Passes rows on. It does not wait.
    pub(crate) fn take_in(&self, rows: &[JournalRow]) {
        self.pushed.follow(rows);
        for row in rows {
            let Change::FirstSeen { repository: id, unit, seen, .. } = &row.change else { continue };
            let known = self.known.load();
            let Some(repository) = known.by_name.values().find(|one| one.id == *id) else { continue };
            let remote = self.remotes.remote(repository, &Arc::default());
            let row = FollowedRow { seq: row.seq, at: row.at, seen: seen.clone() };
            face!(repository.format, take_in(&self.context, remote, unit, row));
        }
    }
}
