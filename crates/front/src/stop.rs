//! Asking the front to stop, from anywhere.

use std::sync::Arc;
use tokio::sync::watch;

/// A switch that is thrown once. Clones share it.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Throws the switch. May be called from any thread, any number of times.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was thrown.
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is thrown.
    pub async fn asked(&self) {
        // An error means that every sender is gone, and this is one.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }
}
