//! Deletes blobs in the turn of the writer's thread, so that no change is committed between the last check of a blob and its
//! deletion.

use crate::blobs::Blobs;
use crate::blobs::digest::Digest;
use crate::blobs::life::BlobLife;
use crate::error::Result;
use crate::journal::change::Change;
use crate::journal::record::Seq;
use crate::truth::catalog::{Batch, Expect};
use crate::writer::committer::Committer;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Millis, Tick};

/// The most blobs that are checked in one turn.
pub(crate) const TURN_MAX: usize = 32;
/// A turn stops removing files after this time. Large files take long, and changes wait meanwhile.
const TURN_TIME: Duration = Duration::from_millis(3);

/// Deletes blobs that no row needs and no upload holds.
pub(crate) struct Deletion {
    blobs: Arc<Blobs>,
    life: BlobLife,
}

/// Which of the deleted blobs get a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeletionRows {
    /// Blobs that a row names.
    Named,
    /// All, because they may be objects. The row ends the generation of the object.
    All,
    /// None: the files are copies of objects, with which another node does this.
    Nothing,
}

/// The result of a turn.
#[derive(Debug, Default)]
pub(crate) struct Deleted {
    pub(crate) blobs: u64,
    pub(crate) size_bytes: u64,
    /// Blobs whose rows are written and whose files are still to be removed in another turn.
    pub(crate) rest: Vec<Digest>,
    /// Blobs whose rows are written, each with the generation of its object, which may be deleted now.
    pub(crate) ended: Vec<(Digest, Seq)>,
    /// The other blobs stay until the next round: a backup needs all blobs, or no row could be written for them.
    pub(crate) paused: bool,
}

impl Deletion {
    pub(crate) fn new(blobs: Arc<Blobs>, life: BlobLife) -> Self {
        Self { blobs, life }
    }

    /// Checks each blob once more, and deletes the blobs that are unneeded at `now`.
    ///
    /// Blobs that no row names are deleted first: they need no row, so this frees space even on a full disk. For the others the
    /// row is written before the file is removed. A crash in between leaves a file that no row names.
    ///
    pub(crate) fn turn(
        &self,
        committer: &mut Committer,
        blobs: &[Digest],
        rows: DeletionRows,
        now: Millis,
    ) -> Result<Deleted> {
        let until = Tick::now().plus(TURN_TIME);
        let mut deleted = Deleted::default();
        // Nothing is deleted by a clock that may be wrong.
        committer.check_clock()?;
        committer.follow()?;
        let at = committer.last();
        let Some(_lock) = self.blobs.layout().try_collect()? else {
            return Ok(Deleted { paused: true, ..deleted });
        };
        let (mut unnamed, mut named) = (VecDeque::new(), VecDeque::new());
        for digest in blobs.iter().filter(|digest| !self.blobs.holds().is_held(digest)) {
            let uses = committer.blob_uses(digest)?;
            match uses.iter().any(|one| one.keeps(&self.life, now)) {
                true => {}
                false if rows == DeletionRows::Nothing => unnamed.push_back(*digest),
                false if uses.is_empty() && rows == DeletionRows::Named => unnamed.push_back(*digest),
                false => named.push_back(*digest),
            }
        }
        self.remove(&mut unnamed, until, &mut deleted)?;
        if !named.is_empty() {
            let ended = match rows {
                DeletionRows::All => committer.generations(named.iter().copied())?,
                DeletionRows::Named | DeletionRows::Nothing => Vec::new(),
            };
            let changes = vec![Change::Collected { blobs: named.iter().copied().collect() }];
            let (by, from) = ("daylight".to_owned(), "server".to_owned());
            // Another process may publish these bytes meanwhile.
            let expect = vec![Expect::JournalAt(at)];
            let answers = committer.commit(&[Batch { by, from, at: now, expect, changes, ..Batch::default() }])?;
            if answers.iter().any(Result::is_err) {
                // No file is removed without its row.
                return Ok(Deleted { paused: true, ..deleted });
            }
            deleted.ended = ended;
            self.remove(&mut named, until, &mut deleted)?;
        }
        deleted.rest.extend(unnamed.into_iter().chain(named));
        Ok(deleted)
    }

    /// Removes files until the time is over, but at least one. If a crash undoes a removal, a file without a row is left.
    fn remove(&self, blobs: &mut VecDeque<Digest>, until: Tick, deleted: &mut Deleted) -> Result<()> {
        while (deleted.blobs == 0 || Tick::now() < until)
            && let Some(digest) = blobs.pop_front()
        {
            let size_bytes = self.blobs.remove(&digest)?;
            if size_bytes.is_some() || !deleted.ended.is_empty() {
                deleted.blobs += 1;
                deleted.size_bytes += size_bytes.unwrap_or_default();
            }
        }
        Ok(())
    }
}
