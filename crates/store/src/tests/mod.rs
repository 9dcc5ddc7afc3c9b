//! Tests of the public interface.

mod as_of;
mod backup;
pub(crate) mod blob_uses;
mod collector;
mod crash;
mod facade;
pub(crate) mod facts;
pub(crate) mod first_seen;
mod freshness;
mod group;
mod histories;
pub(crate) mod holding;
mod journal;
mod late_digests;
mod merge;
pub(crate) mod objects;
mod recent_rows;
mod rehearse;
pub(crate) mod rows;
pub(crate) mod same;
pub(crate) mod shared;

use crate::{Change, Error, Hashes, Store, StoreOptions};
use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use telemetry::{Clock, Event, Millis, Recorder};

pub(crate) fn options(data: &Path) -> StoreOptions {
    let clock = Clock::at(Millis(1_000));
    StoreOptions { floor_bytes: 0, reserve: false, ..StoreOptions::new(data, clock.clone(), Recorder::silent(clock)) }
}

pub(crate) fn open(data: &Path) -> Arc<Store> {
    Store::open(options(data)).unwrap()
}

pub(crate) fn job() -> Box<Event> {
    Event::job("test", Millis(1))
}

pub(crate) async fn keep(store: &Store, bytes: &[u8]) -> Result<Hashes, Error> {
    let mut event = job();
    let mut staged = store.stage(&mut event).await?;
    for piece in bytes.chunks(5) {
        staged.write(Bytes::copy_from_slice(piece), &mut event).await?;
    }
    Ok(staged.keep(&mut event).await?.hashes)
}

/// Publishes an entry whose bytes are its key.
pub(crate) fn publication(unit: &str, number: u32) -> (Vec<u8>, Change) {
    (format!("{unit}-{number}").into_bytes(), crate::truth::suite::publish(unit, number))
}
