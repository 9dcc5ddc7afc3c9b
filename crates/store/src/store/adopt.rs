//! Moves what a data folder has into the database and into object storage.

use super::Store;
use crate::disk::RealDisk;
use crate::disk::layout::Layout;
use crate::error::Result;
use crate::journal::record::Seq;
use crate::objects::Objects;
use crate::objects::calls::ObjectCalls;
use crate::objects::place::belongs;
use crate::objects::segment_copies::SegmentCopies;
use crate::store::progress::Progress;
use crate::truth::sqlite::Sqlite;
use std::path::Path;
use telemetry::Event;

/// What was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adopted {
    /// The last change. The database has all changes up to it, where there is one.
    pub last: Seq,
    /// The blobs that were sent now. The others were in object storage before.
    pub sent: u64,
    /// The blobs that are neither on the disk nor in object storage.
    pub missing: u64,
}

impl Store {
    /// Waits until the database has all changes of the data folder, and object storage all bytes. After a failure it can be called
    /// again: what was moved stays.
    pub async fn adopt(&self, progress: &mut dyn FnMut(Progress), event: &mut Event) -> Result<Adopted> {
        // Compares the history of the database with that of the folder, and writes what the database lacks.
        self.follow(event).await?;
        let (sent, missing) = match &self.objects {
            Some(objects) => {
                let round = objects.keeper.round(progress).await?;
                let last = self.ship_now(event).await?;
                objects.keeper.copied(&objects.blobs.calls.state, last).await;
                round
            }
            None => (0, 0),
        };
        Ok(Adopted { last: self.last(), sent, missing })
    }
}

/// An error unless object storage answers and has nothing of another data folder. Asked before anything is moved, because changes that are
/// in a database stay there. Blocks.
pub fn try_objects(data: &Path, objects: &Objects, event: &mut Event) -> Result<()> {
    let layout = Layout::new(data);
    belongs(&RealDisk, &layout, Some(objects))?;
    let (calls, mut truth) = (ObjectCalls::silent(objects), Sqlite::reader(&layout.truth())?);
    objects.runtime.block_on(SegmentCopies::look(&calls, &mut truth, None, event)).map(drop)
}
