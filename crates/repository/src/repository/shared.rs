//! The state of a repository that survives changes of its settings.

use crate::gem::indexes::GemIndexes;
use crate::hints::waiting::Hints;
use crate::maven::koji::state::KojiState;
use crate::upstream::due::Due;
use crate::upstream::upstream_cell::UpstreamCell;
use std::sync::{Arc, OnceLock};
use store::RepositoryId;
use telemetry::Bound;

/// The state of a repository that survives changes of its settings.
#[derive(Debug)]
pub struct Shared {
    /// The upstream of a remote repository.
    pub(crate) upstream: UpstreamCell,
    /// The hub of a Koji repository, whose files are its upstream.
    pub(crate) hub: UpstreamCell,
    /// Hints that its upstream changed, or the upstreams of a group's members.
    pub(crate) hints: Hints,
    /// Paths that have to be fetched again because of hints, in a remote repository of files.
    pub(crate) due: Due,
    /// The indexes of a gem repository, made at their first use.
    gems: OnceLock<Box<GemIndexes>>,
    /// The map of a Koji repository, made at its first use.
    koji: OnceLock<Box<KojiState>>,
    id: RepositoryId,
    /// The bound of the memory for indexes.
    memory: Arc<Bound>,
}

impl Shared {
    /// The state of a new repository. The memory of its indexes counts in `memory`.
    pub(crate) fn new(id: RepositoryId, memory: &Arc<Bound>) -> Self {
        let (upstream, hub) = (UpstreamCell::default(), UpstreamCell::default());
        let (hints, due) = (Hints::default(), Due::default());
        Self { upstream, hub, hints, due, gems: OnceLock::new(), koji: OnceLock::new(), id, memory: memory.clone() }
    }

    /// The indexes of a gem repository.
    pub(crate) fn gems(&self) -> &GemIndexes {
        self.gems.get_or_init(|| Box::new(GemIndexes::new(self.id, &self.memory)))
    }

    /// The map of a Koji repository.
    pub(crate) fn koji(&self) -> &KojiState {
        self.koji.get_or_init(Box::default)
    }
}
