//! Files in the data folder's `indexes/` that save work at a start. One that cannot be read is removed, logged, and made
//! again.

use crate::context::Context;
use crate::error::Error;
use crate::gem::indexes::names::NameList;
use crate::gem::indexes::specs::SpecFiles;
use crate::gem::indexes::versions::VersionLog;
use crate::gem::indexes::view_log::ViewLog;
use crate::gem::upstream::{dates_file, saved};
use crate::index::incremental_index::IndexSource;
use crate::repositories::kept_hints;
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
    ) -> Result<Option<T>, Error> {
        let Some(bytes) = self.store.derived(id, file, event).await? else { return Ok(None) };
        let read = move |(): &mut ()| read(bytes);
        let read = self.workers.run(Lane::Index, Op::IndexRender, event, read).await?;
        if read.is_none() {
            self.store.forget_derived(id, file, Error::Undecodable.to_string(), event).await?;
        }
        Ok(read)
    }
}

/// Whether the content of a file of that name can be read. Files of other names are never read.
pub fn can_read_derived(file: &str, bytes: Bytes) -> bool {
    match file {
        VersionLog::FILE => VersionLog::read(bytes).is_some(),
        ViewLog::FILE => ViewLog::read(bytes).is_some(),
        NameList::FILE => NameList::read(bytes).is_some(),
        SpecFiles::FILE => SpecFiles::read(bytes).is_some(),
        saved::PIECES => saved::read_pieces(bytes).is_some(),
        saved::FILE => saved::read_file(bytes).is_some(),
        dates_file::FILE => dates_file::read_head(bytes).is_some(),
        kept_hints::FILE => kept_hints::read_head(bytes).is_some(),
        _ => true,
    }
}
