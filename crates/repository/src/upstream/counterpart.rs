//! Files of an upstream that are good only together, such as a search index and its properties. Each has an entry of
//! its own in the cache. One that was confirmed before the bytes of the other came may be of another moment.

use crate::tree::file::File;
use crate::upstream::{Remembered, Remote};
use store::CachedFile;
use telemetry::Event;

impl Remote {
    /// Whether the other file of the pair has other bytes since this one was last confirmed.
    pub(crate) async fn is_behind_counterpart(
        &self,
        file: &File<'_>,
        known: &CachedFile,
        event: &mut Event,
    ) -> Result<bool, store::Error> {
        let Some(path) = file.counterpart() else { return Ok(false) };
        let other = self.recall(&self.repository.file(path), event).await?;
        Ok(matches!(other, Some(Remembered::File(other)) if known.checked < other.known.fetched))
    }
}
