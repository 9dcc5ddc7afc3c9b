//! The size of each repository, in memory: metrics and lists read it without waiting for a database.

use crate::cache::Origin;
use crate::journal::record::RepositoryId;
use crate::truth::catalog::Holding;
use std::collections::HashMap;
use std::sync::Mutex;
use telemetry::lock;

/// The figures after the last change of the databases.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    /// Published files.
    published: Mutex<HashMap<RepositoryId, Holding>>,
    /// Cached files, by upstream.
    cached: Mutex<HashMap<(RepositoryId, i64), Holding>>,
}

impl Holdings {
    pub(crate) fn published(&self, id: RepositoryId) -> Holding {
        lock(&self.published).get(&id).copied().unwrap_or_default()
    }

    pub(crate) fn cached(&self, of: Origin) -> Holding {
        lock(&self.cached).get(&(of.repository, of.number())).copied().unwrap_or_default()
    }

    /// The number of all cached files.
    pub(crate) fn cached_files(&self) -> u64 {
        lock(&self.cached).values().map(|holding| holding.files).sum()
    }

    /// Sets the figures of repositories that changed.
    pub(crate) fn set_published(&self, changed: impl IntoIterator<Item = (RepositoryId, Holding)>) {
        lock(&self.published).extend(changed);
    }

    /// Sets the figures of one repository, one for each upstream whose files are cached.
    pub(crate) fn set_cached(&self, id: RepositoryId, each: impl IntoIterator<Item = (i64, Holding)>) {
        let mut cached = lock(&self.cached);
        cached.retain(|(of, _), _| *of != id);
        cached.extend(each.into_iter().map(|(urls, holding)| ((id, urls), holding)));
    }

    /// Removes the figures of all cached files: their database is a new one.
    pub(crate) fn clear_cached(&self) {
        lock(&self.cached).clear();
    }
}
