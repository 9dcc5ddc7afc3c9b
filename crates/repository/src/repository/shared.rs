//! What a repository has beside its settings. It stays the same while the repository lives, whatever the settings become.

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

/// What a repository has beside its settings.
#[derive(Debug)]
pub struct Shared {
    /// Its upstream, where it is a remote repository.
    pub(crate) upstream: UpstreamCell,
    /// Its large indexes, where it is a repository of gems.
    pub(crate) gem: Option<GemIndexes>,
    /// What is known of its upstream's index, where it is a remote repository of gems.
    pub(crate) followed: FollowedIndex,
    /// The names that wait for an administrator, where it is a group of repositories of gems.
    pub(crate) waiting: WaitingNames,
    /// Hints that its upstream changed, or those of the members of a group.
    pub(crate) hints: Hints,
    /// What of its upstream is to be asked for again, as hints say, where it is a remote repository of files.
    pub(crate) due: Due,
}

impl Shared {
    /// What a new repository has. The bytes of its indexes will count in `memory`.
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
