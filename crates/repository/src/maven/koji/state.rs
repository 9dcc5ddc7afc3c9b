//! The state of one Koji repository apart from its settings: the map, and the results of the last looks.

use crate::maven::koji::counted::Counted;
use crate::maven::koji::map::KojiMap;
use crate::maven::koji::moments::Moments;
use crate::maven::koji::schedule::Following;
use crate::upstream::failure::Failure;
use crate::upstream::first_seen::followed_rows::FollowedRows;
use format::koji::model::EventId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use store::Origin;
use telemetry::{Millis, Reason, Slot, lock};

/// The state of a Koji repository.
#[derive(Debug, Default)]
pub(crate) struct KojiState {
    known: Mutex<Option<Known>>,
    /// The share of the map in the bound of memory.
    pub(super) room: Mutex<Option<Slot>>,
    /// The turn to read the journal, and the upstream whose rows were read.
    pub(super) reading: tokio::sync::Mutex<Option<Origin>>,
    /// Why a map did not fit into memory, of which upstream and when.
    pub(super) unfit: Mutex<Option<(Origin, Millis, Failure)>>,
    /// The turn of the look under way.
    pub(crate) looking: Arc<tokio::sync::Mutex<()>>,
    /// The moments of events that clients named.
    pub(crate) moments: Moments,
    /// Calls of the hub, and requests of clients.
    pub(crate) counted: Counted,
    /// When looks are due, and what the last one leaves for the next.
    pub(crate) follow: Following,
    /// Changes that other nodes saw and that are not added to the map yet.
    pub(crate) followed_rows: FollowedRows,
}

/// The known state of a hub.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The upstream it was read from. A repository with another hub or other files is another upstream.
    pub(crate) origin: Origin,
    pub(crate) map: Arc<KojiMap>,
    /// When a look last confirmed it; when one was last tried, and why that failed.
    pub(crate) checked: Millis,
    pub(crate) tried: Millis,
    pub(crate) failed: Option<Reason>,
    /// The newest event that the last successful look saw.
    pub(crate) event: EventId,
    /// What that look left out, by reason.
    pub(crate) left_out: BTreeMap<&'static str, u64>,
}

impl Known {
    /// A map that no look has confirmed since the start. It was true when it last changed.
    pub(crate) fn new(origin: Origin, map: Arc<KojiMap>) -> Self {
        let (checked, event) = (map.changed(), map.seen());
        Self { origin, map, checked, tried: Millis(0), failed: None, event, left_out: BTreeMap::new() }
    }
}

impl KojiState {
    /// The state of this upstream.
    pub(crate) fn known(&self, origin: Origin) -> Option<Known> {
        lock(&self.known).clone().filter(|known| known.origin == origin)
    }

    /// Replaces the known state.
    pub(crate) fn replace(&self, known: Known) {
        *lock(&self.known) = Some(known);
    }

    /// Changes the state of this upstream.
    pub(crate) fn change<T>(&self, origin: Origin, change: impl FnOnce(&mut Known) -> T) -> Option<T> {
        lock(&self.known).as_mut().filter(|known| known.origin == origin).map(change)
    }

    /// Discards the known state, because the journal may have more. It is read again at the next use.
    pub(super) async fn forget(&self) {
        *self.reading.lock().await = None;
        *lock(&self.known) = None;
        *lock(&self.room) = None;
    }
}
