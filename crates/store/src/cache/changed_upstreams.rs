//! The current upstream of each repository whose upstream was changed or removed since the start of the process.

use super::origin::Origin;
use crate::journal::record::RepositoryId;
use std::collections::HashMap;
use std::sync::Mutex;
use telemetry::lock;

/// Only the cache's thread changes it. Others read it before they queue a file.
#[derive(Debug, Default)]
pub(crate) struct ChangedUpstreams(Mutex<HashMap<RepositoryId, Option<Origin>>>);

impl ChangedUpstreams {
    pub(super) fn set(&self, repository: RepositoryId, to: Option<Origin>) {
        lock(&self.0).insert(repository, to);
    }

    /// The current upstream of a repository, or that it has none; `None`: it was not changed.
    pub(super) fn of(&self, repository: RepositoryId) -> Option<Option<Origin>> {
        lock(&self.0).get(&repository).copied()
    }

    /// Whether this is no longer the upstream of its repository.
    pub(crate) fn is_former(&self, of: Origin) -> bool {
        self.of(of.repository).is_some_and(|now| now != Some(of))
    }
}
