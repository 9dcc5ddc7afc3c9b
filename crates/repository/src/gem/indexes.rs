//! The indexes of a gem repository. All requests share them.

pub(crate) mod last_modified;
pub(crate) mod names;
pub(crate) mod specs;
pub(crate) mod versions;
pub(crate) mod view_log;

use crate::context::Context;
use crate::gem::group::waiting_names::WaitingNames;
use crate::gem::indexes::last_modified::SentDates;
use crate::gem::indexes::names::NameList;
use crate::gem::indexes::specs::SpecFiles;
use crate::gem::indexes::versions::VersionLog;
use crate::gem::indexes::view_log::ViewLog;
use crate::gem::upstream::index::FollowedIndex;
use crate::gem::upstream::learned::Learned;
use crate::index::incremental_index::{IncrementalIndex, SharedIndex};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::RepositoryId;
use telemetry::Bound;
use tokio::sync::RwLock;

/// The indexes. They survive changes of the repository's settings.
#[derive(Debug)]
pub(crate) struct GemIndexes {
    /// `/versions`.
    pub(crate) versions: SharedIndex<VersionLog>,
    /// `/versions` of a remote repository or group, filtered by its policy.
    pub(crate) view: SharedIndex<ViewLog>,
    /// `/names`.
    pub(crate) names: SharedIndex<NameList>,
    /// The three files of the older index.
    pub(crate) specs: SharedIndex<SpecFiles>,
    /// The `Last-Modified` dates of these files that clients were sent.
    pub(crate) sent_dates: SentDates,
    /// Whether a client read the unfiltered `/versions` of a remote repository since the start.
    pub(crate) whole_was_read: AtomicBool,
    /// The known state of the index of a remote repository's upstream.
    pub(crate) followed: FollowedIndex,
    /// The facts that were learned from an upstream's `/info` files.
    pub(crate) learned: Learned,
    /// The names in a group that wait for a decision of an administrator.
    pub(crate) waiting: WaitingNames,
    /// Each push and yank holds it for reading, and the job that gives every gem a new line holds it for writing.
    /// Otherwise a continuous stream of pushes would make that job start again and again.
    pub(crate) changing: RwLock<()>,
}

impl GemIndexes {
    /// Empty indexes for a gem repository. Their bytes will count in `memory`.
    pub(crate) fn new(id: RepositoryId, memory: &Arc<Bound>) -> Self {
        Self {
            versions: IncrementalIndex::new(id, memory),
            view: IncrementalIndex::new(id, memory),
            names: IncrementalIndex::new(id, memory),
            specs: IncrementalIndex::new(id, memory),
            sent_dates: SentDates::default(),
            whole_was_read: AtomicBool::new(false),
            followed: FollowedIndex::default(),
            learned: Learned::default(),
            waiting: WaitingNames::default(),
            changing: RwLock::new(()),
        }
    }

    /// Saves the parts that the data folder does not have yet.
    pub(crate) async fn keep(&self, context: &Context) {
        context.keep_index(self.versions.clone()).await;
        context.keep_index(self.view.clone()).await;
        context.keep_index(self.names.clone()).await;
        context.keep_index(self.specs.clone()).await;
    }
}
