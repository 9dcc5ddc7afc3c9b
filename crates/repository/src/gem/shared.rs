//! What a repository has beside its settings: the indexes that grow with the number of its gems, and its upstream. All who
//! ask share them.

use crate::context::Context;
use crate::gem::names::Names;
use crate::gem::specs::Specs;
use crate::gem::versions::Lines;
use crate::index::incremental_index::IncrementalIndex;
use crate::upstream::factory::UpstreamCell;
use std::sync::Arc;
use store::RepositoryId;
use telemetry::Bound;
use tokio::sync::{Mutex, RwLock};

/// The same while a repository lives, whatever its settings become.
#[derive(Debug)]
pub struct Shared {
    /// `/versions`.
    pub(crate) versions: Arc<Mutex<IncrementalIndex<Lines>>>,
    /// `/names`.
    pub(crate) names: Arc<Mutex<IncrementalIndex<Names>>>,
    /// The three files of the older index.
    pub(crate) specs: Arc<Mutex<IncrementalIndex<Specs>>>,
    /// Held together by those who publish and withdraw, and alone by who has every line said anew: else pushes that never
    /// end would have that begin again and again.
    pub(crate) changing: RwLock<()>,
    /// What it stands for, where it is a remote repository.
    pub(crate) upstream: UpstreamCell,
}

impl Shared {
    /// Holds none yet. What it will hold is counted in `room`.
    pub(crate) fn new(room: &Arc<Bound>) -> Self {
        Self {
            versions: IncrementalIndex::new(room),
            names: IncrementalIndex::new(room),
            specs: IncrementalIndex::new(room),
            changing: RwLock::new(()),
            upstream: UpstreamCell::default(),
        }
    }

    /// Writes what the data folder does not have yet.
    pub(crate) async fn keep(&self, id: RepositoryId, context: &Context) {
        context.keep(id, self.versions.clone()).await;
        context.keep(id, self.names.clone()).await;
        context.keep(id, self.specs.clone()).await;
    }
}
