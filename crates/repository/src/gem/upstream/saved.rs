//! Results that a start need not compute again: the encoded log of an upstream's index, and the state of the upstream's
//! own file if the journal does not contain it. Both are files in the data folder and may be lost. Then the log is
//! encoded again, and the upstream's whole file is requested once.

use crate::error::Result;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::UpstreamFile;
use crate::gem::upstream::rows;
use crate::index::rope::PIECE;
use crate::index::rope::coded::Coded;
use crate::index::rope::form::{self, Mark};
use bytes::Bytes;
use format::gem::upstream::Kept;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use store::Seq;
use telemetry::{Event, Job, Op};
use tokio::sync::OwnedMutexGuard;

/// The names of the files in the data folder.
pub(crate) const PIECES: &str = "upstream_pieces";
pub(crate) const FILE: &str = "upstream_file";
/// All pieces are saved again after this number of new pieces.
const MUCH: usize = 16;

/// The saved results. Missing or damaged files, and those of another journal, are left out.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    /// The first pieces of the log.
    pub(crate) pieces: Vec<Coded>,
    /// The state of the upstream's file as of this row of the journal.
    pub(crate) file: Option<(UpstreamFile, Seq)>,
}

/// The header of the file with the pieces.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PiecesHead {
    mark: Mark,
    /// The unit of the rows that the log is made from.
    unit: String,
    /// The encoded length of each piece, and its checksum.
    pieces: Vec<(usize, u32)>,
}

/// The header of the file with the state of the upstream's file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileHead {
    mark: Mark,
    unit: String,
    etag: Option<String>,
    opaque_etags: bool,
    held: BTreeSet<String>,
}

impl Follow {
    /// Starts a background job that saves new results. `file`: the journal no longer contains the state of the
    /// upstream's file.
    pub(crate) fn save(&self, file: bool) {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        followed.unsaved.fetch_or(file, Ordering::Relaxed);
        let pieces = followed.read(origin, |known| known.log.coded().len()).unwrap_or_default();
        // New results that arrive during the write are saved the next time.
        let Ok(turn) = followed.saving.clone().try_lock_owned() else { return };
        if file || is_much(pieces, *turn) {
            let job = self.clone();
            self.remote.remotes.back.spawn(async move { job.save_as_job(turn).await });
        }
    }

    /// Saves the state that the journal does not contain, before the store is closed.
    pub(crate) async fn close(self) {
        let turn = self.index().saving.clone().lock_owned().await;
        if self.index().unsaved.load(Ordering::Relaxed) {
            self.save_as_job(turn).await;
        }
    }

    async fn save_as_job(self, mut written: OwnedMutexGuard<usize>) {
        let mut job = Job::begin(&self.remote.remotes.recorder, "index.keep");
        job.subject.repository = self.remote.repository.record.name.as_str().into();
        job.subject.kind = FILE;
        let done = self.write(*written, &mut job).await;
        match &done {
            Ok(pieces) => *written = *pieces,
            Err(error) => (job.reason, job.detail) = (Some(error.reason()), error.to_string()),
        }
        job.end_as(&done);
    }

    /// Saves the pieces. Returns how many are saved now.
    async fn write(&self, written: usize, event: &mut Event) -> Result<usize> {
        let (origin, id) = (self.remote.repository.origin, self.remote.repository.id);
        let (store, unit) = (&self.remote.remotes.store, rows::unit(&self.remote));
        self.index().unsaved.store(false, Ordering::Relaxed);
        let known = self.index().read(origin, |known| {
            let much = is_much(known.log.coded().len(), written);
            let pieces: Option<Vec<Coded>> = much.then(|| known.log.coded().cloned().collect());
            (known.last, known.file.clone(), pieces)
        });
        let Some((last, file, pieces)) = known else { return Ok(written) };
        let Some(mark) = Mark::of(store, last, event).await? else { return Ok(written) };
        if let Some(kept) = &file.kept {
            let UpstreamFile { etag, opaque_etags, held, .. } = file.clone();
            let head = FileHead { mark: mark.clone(), unit: unit.clone(), etag, opaque_etags, held };
            if let Some(parts) = form::write(&head, kept.write()) {
                store.keep_derived(id, FILE, parts, event).await?;
            }
        }
        let Some(pieces) = pieces else { return Ok(written) };
        let lens = pieces.iter().map(|coded| (coded.deflate.len(), coded.crc)).collect();
        let bytes = pieces.iter().map(|coded| coded.deflate.clone()).collect();
        if let Some(parts) = form::write(&PiecesHead { mark, unit, pieces: lens }, bytes) {
            store.keep_derived(id, PIECES, parts, event).await?;
        }
        Ok(pieces.len())
    }

    /// Reads the saved results.
    pub(crate) async fn saved(&self, event: &mut Event) -> Result<Saved> {
        let (id, store, unit) = (self.remote.repository.id, &self.remote.remotes.store, rows::unit(&self.remote));
        let mut saved = Saved::default();
        if let Some((head, pieces)) = self.context.read_derived(id, PIECES, event, read_pieces).await?
            && head.unit == unit
            && Mark::of(store, head.mark.through, event).await? == Some(head.mark)
        {
            saved.pieces = pieces;
            *event.waited(Op::TurnWait, self.index().saving.lock()).await = saved.pieces.len();
        }
        if let Some((head, kept)) = self.context.read_derived(id, FILE, event, read_file).await?
            && head.unit == unit
            && Mark::of(store, head.mark.through, event).await?.as_ref() == Some(&head.mark)
        {
            let FileHead { mark, etag, opaque_etags, held, .. } = head;
            let file = UpstreamFile { kept: Some(kept), etag, opaque_etags, held, ..UpstreamFile::default() };
            saved.file = Some((file, mark.through));
        }
        Ok(saved)
    }
}

/// Whether the new pieces are worth another write.
fn is_much(pieces: usize, written: usize) -> bool {
    pieces >= written + MUCH || pieces < written || written == 0 && pieces > 0
}

/// Reads the file with the pieces; `None`: it is not valid.
pub(crate) fn read_pieces(bytes: Bytes) -> Option<(PiecesHead, Vec<Coded>)> {
    let (head, mut bytes): (PiecesHead, Bytes) = form::read(bytes)?;
    let piece = |(len, crc): &(usize, u32)| {
        let deflate = (*len <= bytes.len()).then(|| bytes.split_to(*len))?;
        Some(Coded { deflate, crc: *crc, len: PIECE as u64 }).filter(|coded| coded.bytes().is_ok())
    };
    let pieces = head.pieces.iter().map(piece).collect::<Option<_>>()?;
    Some((head, pieces))
}

/// Reads the file with the state of the upstream's file; `None`: it is not valid.
pub(crate) fn read_file(bytes: Bytes) -> Option<(FileHead, Kept)> {
    let (head, bytes) = form::read(bytes)?;
    Some((head, Kept::read(&bytes)?))
}
