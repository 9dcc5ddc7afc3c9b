//! Where requests find the first `/versions` of an upstream while it arrives.

use crate::gem::found::ArrivingIndex;
use store::Origin;
use tokio::sync::watch;

/// The file, if it can be read by now, and the upstream that it is of.
#[derive(Debug)]
pub(crate) struct Arrivals(watch::Sender<Option<(Origin, ArrivingIndex)>>);

impl Default for Arrivals {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Arrivals {
    /// Waits until that of this upstream can be read. That of another may arrive still, as the repository's upstream can be changed.
    pub(crate) async fn shown(&self, of: Origin) -> Option<ArrivingIndex> {
        let is_of = |shown: &Option<(Origin, ArrivingIndex)>| shown.as_ref().is_some_and(|(origin, _)| *origin == of);
        // Whoever shows it lives as long as this.
        self.0.subscribe().wait_for(is_of).await.ok().and_then(|shown| shown.clone()).map(|(_, index)| index)
    }

    /// Lets requests read it.
    pub(crate) fn show(&self, of: Origin, index: ArrivingIndex) {
        self.0.send_replace(Some((of, index)));
    }

    /// Lets no more requests read it.
    pub(crate) fn hide(&self) {
        self.0.send_replace(None);
    }
}
