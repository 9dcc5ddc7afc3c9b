//! The upstream of one repository after its first call, with the settings that it was built from.

use crate::record::RemoteRecord;
use client::Upstream;
use std::sync::Arc;
use telemetry::Millis;
use tokio::sync::Mutex;

/// The upstream of one repository.
#[derive(Debug, Default)]
pub(crate) struct UpstreamCell(pub(crate) Mutex<Option<(RemoteRecord, Arc<Upstream>)>>);

impl UpstreamCell {
    /// When its client certificate expires, if it was called and has one.
    pub(crate) fn certificate_expires(&self) -> Option<Millis> {
        // An upstream that is still being built was not called.
        let made = self.0.try_lock().ok();
        made.as_ref()?.as_ref()?.1.certificate_expires()
    }

    /// Whether the next call is a trial, because the upstream did not answer recently.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let made = self.0.try_lock().ok();
        made.as_ref().and_then(|made| made.as_ref()).is_some_and(|(_, upstream)| upstream.is_in_doubt())
    }
}
