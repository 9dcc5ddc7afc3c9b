//! Copies a data folder, also while a server uses it, into a folder that is a complete backup at any time: the new one or the
//! previous one.
//!
//! The order of the steps ensures that. The truth is copied first, beside that of the previous backup. Blobs are only added. Once
//! all blobs that the new truth names are durable, it replaces the old truth. Only then are other blobs deleted.

mod cached;
mod files;
pub(crate) mod rehearse;
pub(crate) mod restore;
mod target;

pub(crate) use cached::copy_cached;
pub(crate) use files::{Blobs, Transfer};
pub(crate) use target::{are_nested, lock_target, sync_all};

use crate::blobs::digest::Digest;
use crate::disk::database_files::with_suffix;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::journal::segments;
use crate::store::progress::Progress;
use crate::truth::catalog::{Catalog, EntryReads as _, JournalReads as _};
use crate::truth::sqlite::{Sqlite, copy_database};
use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use target::Target;
use telemetry::Log;

/// The number of blobs that are read from the truth at a time.
const PAGE: usize = 4096;

/// The contents of a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackedUp {
    /// The number of its last change.
    pub seq: Seq,
    /// The number of its blobs.
    pub blobs: u64,
    /// The sum of their sizes.
    pub size_bytes: u64,
    /// The number of blobs that the previous backup did not have.
    pub new_blobs: u64,
    /// The sum of their sizes.
    pub new_bytes: u64,
    /// Blobs that the truth names and that are missing in the data folder, and so in the backup.
    pub missing: Vec<Digest>,
    /// The blobs that are only in object storage, and so not in the backup.
    pub elsewhere: Option<Elsewhere>,
    /// The number of cached files of upstreams.
    pub cached_files: u64,
}

/// Blobs that are in object storage and not in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The place.
    pub url: String,
    /// Their number.
    pub blobs: u64,
}

impl Elsewhere {
    /// The missing blobs of a folder that names a place in object storage; they are missing no more.
    pub(crate) fn of(disk: &dyn Disk, layout: &Layout, missing: &mut Vec<Digest>) -> Result<Option<Self>> {
        let Some(url) = layout.objects_url(disk)? else { return Ok(None) };
        Ok(Some(Self { url, blobs: std::mem::take(missing).len() as u64 }))
    }
}

/// Brings the backup in the folder `target` up to date with the data folder `data`: truth, blobs and segments, and with
/// `with_cached` the cached files of upstreams. Blobs are hard links where both folders are on one file system. Writers do not
/// wait.
pub fn backup(data: &Path, target: &Path, with_cached: bool, progress: &mut dyn FnMut(Progress)) -> Result<BackedUp> {
    let from = Layout::new(data);
    if from.is_backup() {
        return Err(Error::IsBackup(data.to_owned()));
    }
    if RealDisk.size(&from.truth()).map_err(Error::io("look at", &from.truth()))?.is_none() {
        return Err(from.no_truth());
    }
    if from.is_being_restored() {
        return Err(Error::Unrestored(data.to_owned()));
    }
    // An earlier version of the program could miss blobs that a later one names.
    drop(Sqlite::reader(&from.truth())?);
    let target = Target::open(&from, target)?;
    let to = target.layout();
    // The collector is paused before the truth is read, so that all blobs that it names stay.
    let _pause = from.pause_collector()?;
    let new = with_suffix(&to.truth(), ".new");
    copy_database(&from.truth(), &new, progress)?;
    let mut truth = Sqlite::copied(&new)?;
    let seq = truth.last()?;
    let before = target.before(&mut truth)?;
    let wanted = all_blobs(&mut truth)?;

    let transfer = Transfer::linking(&from, to);
    let Blobs { new_blobs, new_bytes, mut missing, refused } = transfer.blobs(&wanted, &before, progress)?;
    let elsewhere = Elsewhere::of(&RealDisk, &from, &mut missing)?;
    missing.extend(refused.into_iter().map(|(digest, _)| digest));
    if let Some(Elsewhere { url, .. }) = &elsewhere {
        note_objects(to, url)?;
    }
    let cached_files = if with_cached { copy_cached(&from, to, &transfer, progress)? } else { 0 };
    sync_all(to)?;
    put(&new, &to.truth())?;
    ship(&mut truth, to, seq)?;
    target.remove_others(&wanted, &before, with_cached)?;
    // Used for metrics only: if only the server may write to the folder, the backup succeeds without it.
    let _ = from.note_backup(seq);
    let size_bytes = wanted.iter().map(|(_, size_bytes)| size_bytes).sum();
    Ok(BackedUp { seq, blobs: wanted.len() as u64, size_bytes, new_blobs, new_bytes, missing, elsewhere, cached_files })
}

/// All blobs of a truth with their sizes, ordered by digest.
pub(crate) fn all_blobs(truth: &mut Sqlite) -> Result<Vec<(Digest, u64)>> {
    let mut all = Vec::new();
    loop {
        let page = truth.blobs(all.last().map(|(last, _)| *last), PAGE)?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// Writes into a folder which place in object storage has its blobs.
pub(crate) fn note_objects(to: &Layout, url: &str) -> Result<()> {
    let space = Space::new(Arc::new(RealDisk), to.data().to_owned(), 0, Log::silent());
    space.put(&to.data().join("objects.new"), &to.objects(), format!("{url}\n").as_bytes())
}

/// Copies a regular file to a path where no file exists. Does not sync.
pub(crate) fn copy_file(source: &dyn Disk, from: &Path, to: &Path) -> Result<()> {
    let mut file = source.open(from).map_err(Error::io("open", from))?;
    let copy = OpenOptions::new().write(true).create_new(true).open(to);
    copy.and_then(|mut copy| std::io::copy(&mut file, &mut copy)).map(drop).map_err(Error::io("copy", from))
}

/// Renames a synced file to its final name.
pub(crate) fn put(from: &Path, to: &Path) -> Result<()> {
    RealDisk.rename(from, to).map_err(Error::io("rename", from))?;
    let folder = to.parent().unwrap_or(to);
    RealDisk.open_folder(folder).and_then(|folder| folder.sync()).map_err(Error::io("sync", folder))
}

/// Writes segments with the rows that no segment of the backup has. They are a second copy of the journal, which allows a rebuild
/// after a restore. The segments of the data folder are not copied: those of a busy server are many and small.
fn ship(truth: &mut dyn Catalog, to: &Layout, until: Seq) -> Result<()> {
    let disk = Arc::new(RealDisk);
    let space = Space::new(disk.clone(), to.data().to_owned(), 0, Log::silent());
    let mut after = segments::last_row(&segments::list(&*disk, to)?);
    while let Some(shipped) = segments::ship(truth, &space, to, after, until)? {
        after = shipped.last;
    }
    Ok(())
}
