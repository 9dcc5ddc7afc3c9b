//! The state of one Koji repository apart from its settings.

use crate::maven::koji::map::KojiMap;
use std::sync::{Arc, Mutex};
use store::Origin;
use telemetry::{Millis, Reason};

/// The state of a Koji repository.
#[derive(Debug, Default)]
pub(crate) struct KojiState {
    known: Mutex<Option<Known>>,
    /// The turn of the look under way.
    pub(crate) looking: Arc<tokio::sync::Mutex<()>>,
}

/// What is known of a hub.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The upstream it was read from. A repository with another hub or other files is another upstream.
    pub(crate) origin: Origin,
    pub(crate) map: Arc<KojiMap>,
    /// When a look last confirmed it; when one was last tried, and why that failed.
    pub(crate) checked: Millis,
    pub(crate) tried: Millis,
    pub(crate) failed: Option<Reason>,
}

impl KojiState {
    /// What is known of this upstream.
    pub(crate) fn known(&self, origin: Origin) -> Option<Known> {
        telemetry::lock(&self.known).clone().filter(|known| known.origin == origin)
    }

    pub(crate) fn replace(&self, known: Known) {
        *telemetry::lock(&self.known) = Some(known);
    }
}
