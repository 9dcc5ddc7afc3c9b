//! Stops the front, from any thread.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A switch that is thrown once. Clones share it.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<Option<Duration>>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }
}

impl Stop {
    /// Stops now. May be called any number of times.
    pub fn now(&self) {
        self.after(Duration::ZERO);
    }

    /// Stops, and keeps connections without a request open until they were idle for `idle_grace`. A request that
    /// arrives meanwhile is answered, and its reply has `Connection: close`. So a busy client never sends a request on
    /// a connection that is being closed.
    pub fn after(&self, idle_grace: Duration) {
        self.0.send_if_modified(|asked| asked.replace(idle_grace).is_none());
    }

    /// Waits until the front is to stop. Returns how long idle connections may stay.
    pub async fn asked(&self) -> Duration {
        // An error would mean that every sender was dropped, but `self` is one.
        let mut asked = self.0.subscribe();
        asked.wait_for(Option::is_some).await.ok().and_then(|idle_grace| *idle_grace).unwrap_or_default()
    }
}
