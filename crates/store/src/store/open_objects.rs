//! Opens the parts of a store that use object storage.

use super::objects::StoreObjects;
use crate::blobs::Blobs;
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::Result;
use crate::objects::Objects;
use crate::objects::bell::Bell;
use crate::objects::blobs::ObjectBlobs;
use crate::objects::calls::ObjectCalls;
use crate::objects::keeper::{Claim, Keeper, Keeping};
use crate::objects::local_copies::LocalCopies;
use crate::objects::round::Round;
use crate::objects::state::ObjectsState;
use crate::pool::Pool;
use crate::truth::catalog::Catalog;
use crate::truth::postgres::Leases;
use crate::writer::Writer;
use std::sync::Arc;
use telemetry::{Log, Recorder};
use tokio::sync::watch;

/// Object storage, and what the parts of the store that are made first need of it.
pub(super) struct ObjectParts {
    objects: Objects,
    pub(super) bell: Arc<Bell>,
    pub(super) local: Arc<LocalCopies>,
}

/// The parts of the store that work with object storage.
pub(super) struct Around {
    pub(super) truth: Box<dyn Catalog>,
    /// `None`: there is no database.
    pub(super) writer: Option<Arc<Writer>>,
    /// Whether the copy of the truth was made from the database at this start.
    pub(super) was_lost: bool,
    pub(super) blobs: Arc<Blobs>,
    pub(super) threads: Arc<Pool<Arc<Blobs>>>,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) layout: Layout,
    pub(super) space: Arc<Space>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) log: Log,
    pub(super) leases: Arc<Leases>,
}

impl ObjectParts {
    pub(super) fn new(objects: Objects) -> Self {
        let bell = Arc::new(Bell::default());
        let local = Arc::new(LocalCopies::new(objects.local_max_bytes, bell.clone()));
        Self { objects, bell, local }
    }

    /// Starts the thread.
    pub(super) fn start(self, around: Around) -> Result<StoreObjects> {
        let Self { objects, bell, local } = self;
        let Around { truth, writer, was_lost, blobs, threads, disk, layout, space, recorder, log, leases } = around;
        let state =
            Arc::new(ObjectsState::new(objects.url.clone(), recorder.clock().clone(), log.clone(), bell.clone()));
        state.register(&recorder);
        let calls = ObjectCalls::new(objects, state);
        local.register(&recorder);
        calls.bounds().into_iter().for_each(|bound| recorder.register(bound.clone()));
        let objects = Arc::new(ObjectBlobs::new(calls, threads, recorder.clone()));
        let (claim, _) = watch::channel(Claim::Unknown);
        let keeping = Keeping {
            truth,
            writer,
            objects: objects.clone(),
            blobs,
            local,
            disk,
            layout,
            space,
            recorder,
            log,
            claim,
            leases,
            bell,
            segments: None,
            round: Round::default(),
        };
        Ok(StoreObjects { blobs: objects, keeper: Keeper::start(keeping)?, was_lost })
    }
}
