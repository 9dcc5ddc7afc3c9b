//! What the store gets from the settings.

use super::{database, objects};
use crate::config::{Error, Settings};
use std::sync::Arc;
use store::{BlobLife, StoreOptions};
use telemetry::{Clock, Log, Recorder};
use tokio::runtime::Handle;

/// The options of the store. `places`: requests that may wait in each of its queues. `back`: the runtime that calls object storage.
pub(super) fn store_options(
    settings: &Settings,
    places: u64,
    clock: &Clock,
    recorder: &Arc<Recorder>,
    log: &Log,
    back: &Handle,
) -> Result<StoreOptions, Error> {
    Ok(StoreOptions {
        database: database::of(settings)?,
        objects: objects::of(settings, recorder, back)?,
        readers: settings.store.readers,
        reader_cache_bytes: settings.store.reader_cache_bytes,
        blob_threads: settings.store.blob_threads,
        facts_max_bytes: settings.store.facts_bytes,
        known_folders_max_bytes: settings.store.known_folders_bytes,
        reads_max: places,
        commits_max: places,
        blob_operations_max: places,
        cached_max_bytes: settings.store.cached_bytes,
        first_seen_max_bytes: settings.upstream.first_seen_bytes,
        floor_bytes: settings.store.free_space_floor_bytes,
        log: log.clone(),
        clock_jump: settings.store.clock_jump,
        blob_life: BlobLife {
            horizon: settings.store.horizon,
            undo: settings.store.undo,
            collect_after: settings.store.collect_after,
        },
        ..StoreOptions::new(&settings.store.data, clock.clone(), recorder.clone())
    })
}
