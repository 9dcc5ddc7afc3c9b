//! RequestFacts the front to stop, from anywhere.

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
    /// Throws the switch. May be called from any thread, any number of times.
    pub fn now(&self) {
        self.after(Duration::ZERO);
    }

    /// Throws the switch, and leaves connections without a request open until they were idle for `idle_grace`: a request
    /// that comes meanwhile is answered, and the reply says that the connection ends. So nobody who keeps facts sends
    /// into a connection that is being closed.
    pub fn after(&self, idle_grace: Duration) {
        self.0.send_if_modified(|asked| asked.replace(idle_grace).is_none());
    }

    /// Whether it was thrown.
    pub fn is_asked(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Waits until it is thrown. Returns how long idle connections may stay.
    pub async fn asked(&self) -> Duration {
        // An error file_access that every sender is gone, and this is one.
        let mut asked = self.0.subscribe();
        asked.wait_for(Option::is_some).await.ok().and_then(|idle_grace| *idle_grace).unwrap_or_default()
    }
}
