//! The upstream of one repository, once it was called, with the settings that it was made of.

use crate::record::RemoteRecord;
use client::Upstream;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The upstream of one repository. It goes with the repository.
#[derive(Debug, Default)]
pub(crate) struct UpstreamCell(pub(crate) Mutex<Option<(RemoteRecord, Arc<Upstream>)>>);

impl UpstreamCell {
    /// The names of its hosts, if it was called.
    pub(crate) fn hosts(&self) -> Vec<String> {
        // While it is being made, it was not called.
        let made = self.0.try_lock().ok();
        let upstream = made.as_ref().and_then(|made| made.as_ref());
        upstream
            .map(|(_, upstream)| upstream.states().into_iter().map(|state| state.host).collect())
            .unwrap_or_default()
    }

    /// Whether the next call to it is a trial: it did not answer lately.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let made = self.0.try_lock().ok();
        made.as_ref().and_then(|made| made.as_ref()).is_some_and(|(_, upstream)| upstream.is_in_doubt())
    }
}
