//! Gives requests access to the first `/versions` of an upstream while it arrives.

use crate::gem::found::ArrivingIndex;
use store::Origin;
use tokio::sync::watch;

/// The file, if it can be read already, and its upstream.
#[derive(Debug)]
pub(crate) struct Arrivals(watch::Sender<Option<(Origin, ArrivingIndex)>>);

impl Default for Arrivals {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Arrivals {
    /// Waits until the file of this upstream can be read. The file of a former upstream may still be arriving after a
    /// change of the URL.
    pub(crate) async fn shown(&self, of: Origin) -> Option<ArrivingIndex> {
        let is_of = |shown: &Option<(Origin, ArrivingIndex)>| shown.as_ref().is_some_and(|(origin, _)| *origin == of);
        // The sender lives as long as this value.
        self.0.subscribe().wait_for(is_of).await.ok().and_then(|shown| shown.clone()).map(|(_, index)| index)
    }

    /// Whether the file of this upstream can be read already.
    pub(crate) fn has(&self, of: Origin) -> bool {
        self.0.borrow().as_ref().is_some_and(|(origin, _)| *origin == of)
    }

    /// Makes it readable for requests.
    pub(crate) fn show(&self, of: Origin, index: ArrivingIndex) {
        self.0.send_replace(Some((of, index)));
    }

    /// Hides it from further requests.
    pub(crate) fn hide(&self) {
        self.0.send_replace(None);
    }
}
