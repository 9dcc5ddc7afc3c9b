//! The state of a repository that survives changes of its settings.

use crate::format::Format;
use crate::gem::group::waiting_names::WaitingNames;
use crate::gem::indexes::GemIndexes;
use crate::gem::upstream::index::FollowedIndex;
use crate::hints::waiting::Hints;
use crate::upstream::due::Due;
use crate::upstream::upstream_cell::UpstreamCell;
use std::sync::Arc;
use store::RepositoryId;
use telemetry::Bound;

/// The state of a repository that survives changes of its settings.
#[derive(Debug)]
pub struct Shared {
    /// The upstream of a remote repository.
    pub(crate) upstream: UpstreamCell,
    /// The large indexes of a gem repository.
    pub(crate) gem: Option<GemIndexes>,
    /// The known state of the upstream's index, in a remote gem repository.
    pub(crate) followed: FollowedIndex,
    /// The names that wait for a decision of an administrator, in a group of gem repositories.
    pub(crate) waiting: WaitingNames,
    /// Hints that its upstream changed, or the upstreams of a group's members.
    pub(crate) hints: Hints,
    /// Paths that have to be fetched again because of hints, in a remote repository of files.
    pub(crate) due: Due,
}

impl Shared {
    /// The state of a new repository. The memory of its indexes counts in `memory`.
    pub(crate) fn new(format: Format, id: RepositoryId, memory: &Arc<Bound>) -> Self {
        Self {
            upstream: UpstreamCell::default(),
            gem: GemIndexes::of(format, id, memory),
            followed: FollowedIndex::default(),
            waiting: WaitingNames::default(),
            hints: Hints::default(),
            due: Due::default(),
        }
    }
}
