//! Files in the data folder's `indexes/` that save work at a start. One that cannot be read is removed, logged, and made
//! again.

use crate::context::Context;
use crate::error::{Error, Result};
use bytes::Bytes;
use store::{Lane, RepositoryId};
use telemetry::{Event, Op};

impl Context {
    /// What `read` makes from a file, on a thread that may block; `None`: there is no such file, or it cannot be read.
    pub(crate) async fn read_derived<T: Send + 'static>(
        &self,
        id: RepositoryId,
        file: &'static str,
        event: &mut Event,
        read: impl FnOnce(Bytes) -> Option<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let Some(bytes) = self.store.derived(id, file, event).await? else { return Ok(None) };
        let read = move |(): &mut ()| read(bytes);
        let read = self.workers.run(Lane::Index, Op::IndexRender, event, read).await?;
        if read.is_none() {
            self.store.forget_derived(id, file, Error::Undecodable.to_string(), event).await?;
        }
        Ok(read)
    }
}
