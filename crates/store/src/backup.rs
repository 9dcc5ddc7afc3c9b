//! Copies a data folder, also while a server works on it, into a folder that always is one whole backup: the last, or the one before.
//!
//! The order is what makes it safe. The truth is copied first, beside the one of the backup before. Blobs are only added; when all that
//! the new truth names are durable, it takes the place of the old one. Only then are blobs deleted that it does not name.

mod cached;
mod files;
mod target;

pub(crate) use cached::copy_cached;
pub(crate) use files::{Blobs, Transfer};
pub(crate) use target::{are_nested, lock_target, sync_all};

use crate::catalog::{Catalog, EntryReads as _, JournalReads as _};
use crate::database_files::with_suffix;
use crate::digest::Digest;
use crate::disk::{Disk, RealDisk};
use crate::error::Error;
use crate::layout::Layout;
use crate::progress::Progress;
use crate::record::Seq;
use crate::segments;
use crate::space::Space;
use crate::sqlite::{Sqlite, copy_database};
use std::path::Path;
use std::sync::Arc;
use target::Target;
use telemetry::Log;

/// Blobs that are read from the truth at a time.
const PAGE: usize = 4096;

/// What a backup has now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackedUp {
    /// The last change in it.
    pub seq: Seq,
    /// Its blobs.
    pub blobs: u64,
    /// Their bytes.
    pub size_bytes: u64,
    /// The blobs that the backup before did not have.
    pub new_blobs: u64,
    /// Their bytes.
    pub new_bytes: u64,
    /// Blobs that the truth names and the data folder does not have, so neither has the backup.
    pub missing: Vec<Digest>,
    /// Cached files of upstreams.
    pub cached_files: u64,
}

/// Brings the backup in the folder `target` up to date with the data folder `data`: truth, blobs and segments, and with `with_cached` what
/// is cached of upstreams. Blobs are hard links where both folders are on one file system. Writers do not wait.
pub fn backup(
    data: &Path,
    target: &Path,
    with_cached: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackedUp, Error> {
    let from = Layout::new(data);
    if from.is_backup() {
        return Err(Error::IsBackup(data.to_owned()));
    }
    if RealDisk.size(&from.truth()).map_err(Error::io("look at", &from.truth()))?.is_none() {
        return Err(Error::NoTruth(data.to_owned()));
    }
    if from.is_being_restored() {
        return Err(Error::Unrestored(data.to_owned()));
    }
    let target = Target::open(&from, target)?;
    let to = target.layout();
    // Before the truth is read, so that all blobs that it names stay.
    let _pause = from.pause_collector()?;
    let new = with_suffix(&to.truth(), ".new");
    copy_database(&from.truth(), &new, progress)?;
    let mut truth = Sqlite::copied(&new)?;
    let seq = truth.last()?;
    let before = target.before(&mut truth)?;
    let wanted = all_blobs(&mut truth)?;

    let transfer = Transfer::new(&from, to, true);
    let Blobs { new_blobs, new_bytes, missing } = transfer.blobs(&wanted, &before, progress)?;
    let cached_files = if with_cached { copy_cached(&from, to, &transfer, progress)? } else { 0 };
    sync_all(to)?;
    put(&new, &to.truth())?;
    ship(&mut truth, to, seq)?;
    target.remove_others(&wanted, &before, with_cached)?;
    let size_bytes = wanted.iter().map(|(_, size_bytes)| size_bytes).sum();
    Ok(BackedUp { seq, blobs: wanted.len() as u64, size_bytes, new_blobs, new_bytes, missing, cached_files })
}

/// All blobs of a truth with their sizes, ordered by digest.
pub(crate) fn all_blobs(truth: &mut Sqlite) -> Result<Vec<(Digest, u64)>, Error> {
    let mut all = Vec::new();
    loop {
        let page = truth.blobs(all.last().map(|(last, _)| *last), PAGE)?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// Gives a synced file its name.
pub(crate) fn put(from: &Path, to: &Path) -> Result<(), Error> {
    RealDisk.rename(from, to).map_err(Error::io("rename", from))?;
    let folder = to.parent().unwrap_or(to);
    RealDisk.open_folder(folder).and_then(|folder| folder.sync()).map_err(Error::io("sync", folder))
}

/// Writes segments of the rows that the backup has in none. They are a second copy of the journal, from which a rebuild is possible after a
/// restore. Not the segments of the data folder: those of a busy server are many and small.
fn ship(truth: &mut dyn Catalog, to: &Layout, until: Seq) -> Result<(), Error> {
    let disk = Arc::new(RealDisk);
    let space = Space::new(disk.clone(), to.data().to_owned(), 0, Log::silent());
    let mut after = segments::last_row(&segments::list(&*disk, to)?);
    while let Some(shipped) = segments::ship(truth, &space, to, after, until)? {
        after = shipped.last;
    }
    Ok(())
}
