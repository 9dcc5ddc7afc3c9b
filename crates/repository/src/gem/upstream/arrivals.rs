//! Where requests find the first `/versions` of an upstream while it arrives.

use crate::gem::found::ArrivingIndex;
use tokio::sync::watch;

/// The file, if it can be read by now.
#[derive(Debug)]
pub(crate) struct Arrivals(watch::Sender<Option<ArrivingIndex>>);

impl Default for Arrivals {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Arrivals {
    /// Waits until it can be read.
    pub(crate) async fn shown(&self) -> Option<ArrivingIndex> {
        // Whoever shows it lives as long as this.
        self.0.subscribe().wait_for(Option::is_some).await.ok().and_then(|shown| shown.clone())
    }

    /// Lets requests read it.
    pub(crate) fn show(&self, index: ArrivingIndex) {
        self.0.send_replace(Some(index));
    }

    /// Lets no more requests read it.
    pub(crate) fn hide(&self) {
        self.0.send_replace(None);
    }
}
