//! The rows of a repository as of a moment.
//!
//! Every answer reads its rows through this file. For an earlier moment, rows that have changed since come from the
//! journal.

use crate::as_of::Past;
use crate::error::purged::Purged;
use crate::error::{Error, Result};
use crate::repository::Repository;
use serde_json::Value;
use std::sync::Arc;
use store::{Child, Entry, Lane, LevelRequest, Store, Withdrawal};
use telemetry::Event;

impl Repository {
    /// The same repository as of a moment. A group keeps its present members, order and rules, and exists since the
    /// first of these members was made.
    pub(crate) fn as_of(&self, past: Past) -> Result<Self> {
        let first = self.leaves.iter().map(|leaf| &**leaf).min_by_key(|leaf| leaf.id.0).unwrap_or(self);
        // A repository's number is that of the change that made it. Koji's past may be older.
        if past.koji.is_none() && past.through.0 < first.id.0 {
            return Err(Error::BeforeItsTime { what: self.record.name.clone(), since: first.record.created });
        }
        let leaves = self.leaves.iter().map(|leaf| Arc::new(leaf.seen(leaf.rules.clone(), Some(past)))).collect();
        Ok(Self { leaves, ..self.seen(self.rules.clone(), Some(past)) })
    }

    /// One entry.
    pub(crate) async fn entry(
        &self,
        store: &Store,
        key: &str,
        event: &mut Event,
    ) -> Result<Option<Entry>, store::Error> {
        match self.as_of {
            None => store.entry(self.id, key, event).await,
            Some(past) => store.as_of(past.through).entry(self.id, key, event).await,
        }
    }

    /// Refuses an entry of an earlier moment whose bytes were purged since.
    pub(crate) async fn refuse_purged(&self, store: &Store, key: &str, event: &mut Event) -> Result<()> {
        if self.as_of.is_none() {
            return Ok(());
        }
        match store.entry(self.id, key, event).await? {
            Some(Entry { withdrawal: Some(Withdrawal::Purged { .. }), changed, key, .. }) => {
                Err(Purged::Gone { what: key, at: changed }.into())
            }
            _ => Ok(()),
        }
    }

    /// A part of the children of a folder, as [`Store::children`] and [`Store::children_then`] have them, and the name after
    /// which the next part begins.
    pub(crate) async fn children(
        &self,
        store: &Store,
        request: LevelRequest,
        event: &mut Event,
    ) -> Result<(Vec<Child<Entry>>, Option<String>), store::Error> {
        let limit = request.limit;
        match self.as_of {
            Some(past) => store.children_then(self.id, request, past.through, event).await,
            None => {
                let children = store.children(self.id, request, event).await?;
                let next = children.last().filter(|_| children.len() == limit).map(|last| last.name.clone());
                Ok((children, next))
            }
        }
    }

    /// The entries of one unit, including withdrawn ones.
    pub(crate) async fn unit(&self, store: &Store, unit: &str, event: &mut Event) -> Result<Vec<Entry>, store::Error> {
        match self.as_of {
            None => Ok(store.unit(self.id, unit, Lane::Index, event).await?.entries),
            Some(past) => store.as_of(past.through).unit(self.id, unit, event).await,
        }
    }

    /// The entries of one unit. Withdrawn ones may be missing: a folder of snapshots can have thousands of them.
    pub(crate) async fn live_unit(
        &self,
        store: &Store,
        unit: &str,
        event: &mut Event,
    ) -> Result<Vec<Entry>, store::Error> {
        match self.as_of {
            None => Ok(store.live_unit(self.id, unit, Lane::Index, event).await?.entries),
            Some(past) => store.as_of(past.through).unit(self.id, unit, event).await,
        }
    }

    /// Calls `read` for each of the next `limit` units after `after`, with the unit's entries, including withdrawn
    /// ones. Returns the results, and the last unit if there may be more.
    pub(crate) async fn units<T: Send + 'static>(
        &self,
        store: &Store,
        after: &str,
        limit: usize,
        read: impl FnMut(&str, Vec<Entry>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<(Vec<T>, Option<String>), store::Error> {
        let through = self.as_of.map_or_else(|| store.last(), |past| past.through);
        store.as_of(through).units(self.id, after, limit, read, event).await
    }

    /// Entries whose keys have this prefix, at most `limit`.
    pub(crate) async fn beginning(
        &self,
        store: &Store,
        prefix: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<Entry>, store::Error> {
        match self.as_of {
            None => store.entries_beginning(self.id, prefix, "", limit, event).await,
            Some(past) => store.as_of(past.through).entries_beginning(self.id, prefix, limit, event).await,
        }
    }

    /// Units that have this prefix and come after `after`, with their facts, at most `limit`.
    pub(crate) async fn facts(
        &self,
        store: &Store,
        prefix: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, Value)>, store::Error> {
        match self.as_of {
            None => store.units_with_facts(self.id, prefix, after, limit, event).await,
            Some(past) => store.as_of(past.through).units_with_facts(self.id, prefix, after, limit, event).await,
        }
    }
}
