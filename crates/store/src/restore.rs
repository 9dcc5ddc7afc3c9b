//! Makes a data folder from a backup. They share no files, so that neither can damage the other.

use crate::backup::{Blobs, Transfer, all_blobs, are_nested, copy_cached, lock_target, sync_all};
use crate::catalog::JournalReads as _;
use crate::digest::Digest;
use crate::disk::{Disk, RealDisk};
use crate::error::Error;
use crate::layout::Layout;
use crate::progress::Progress;
use crate::record::Seq;
use crate::segments;
use crate::space::Space;
use crate::sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;
use telemetry::{Log, Millis};

/// The contents of a restored folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The number of its last change.
    pub seq: Seq,
    /// The time of that change. `None`: there is no change.
    pub at: Option<Millis>,
    /// The number of its blobs.
    pub blobs: u64,
    /// The sum of their sizes.
    pub size_bytes: u64,
    /// Blobs that the truth names and that are missing in the backup.
    pub missing: Vec<Digest>,
    /// The number of cached files of upstreams.
    pub cached_files: u64,
}

/// Makes the data folder `data`, which is absent or empty, from the backup in `from`. The file `version` is written last, so it
/// becomes a data folder once everything is durable.
pub fn restore(from: &Path, data: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Restored, Error> {
    let (from, to) = (Layout::new(from), Layout::new(data));
    let truth = RealDisk.size(&from.truth()).map_err(Error::io("look at", &from.truth()))?;
    if !from.is_backup() || truth.is_none() {
        return Err(Error::NoBackup(from.data().to_owned()));
    }
    if are_nested(from.data(), data)? {
        return Err(Error::Nested { data: data.to_owned(), other: from.data().to_owned() });
    }
    to.is_free()?;
    let _backup = lock_target(&from)?;
    let _lock = to.lock()?;
    let disk = Arc::new(RealDisk);
    let space = Space::new(disk.clone(), data.to_owned(), 0, Log::silent());
    to.begin_restore(&space)?;
    let folders = [to.blobs(), to.blobs_by_digest(), to.temporary_blobs(), to.segments()];
    for folder in folders {
        disk.make_folder(&folder).map_err(Error::io("make", &folder))?;
    }
    let mut truth = Sqlite::copied(&from.truth())?;
    let seq = truth.last()?;
    let at = truth.journal(Seq(seq.0.saturating_sub(1)), 1)?.first().map(|row| row.at);
    let wanted = all_blobs(&mut truth)?;
    let transfer = Transfer::new(&from, &to, false);
    let Blobs { missing, .. } = transfer.blobs(&wanted, &[], progress)?;
    for segment in segments::list(&*disk, &from)? {
        let [from, to] = [&from, &to].map(|layout| layout.segments().join(segment.name()));
        std::fs::copy(&from, &to).map_err(Error::io("copy", &from))?;
    }
    let cached_files = copy_cached(&from, &to, &transfer, progress)?;
    std::fs::copy(from.truth(), to.truth()).map_err(Error::io("copy", &from.truth()))?;
    sync_all(&to)?;
    to.end_restore(&*disk, &space)?;
    let size_bytes = wanted.iter().map(|(_, size_bytes)| size_bytes).sum();
    Ok(Restored { seq, at, blobs: wanted.len() as u64, size_bytes, missing, cached_files })
}
