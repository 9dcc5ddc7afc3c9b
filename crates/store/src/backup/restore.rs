//! Makes a data folder from a backup. They share no files, so that neither can damage the other.

use crate::backup::{
    Blobs, Elsewhere, Transfer, all_blobs, are_nested, copy_cached, copy_file, lock_target, note_objects, sync_all,
};
use crate::blobs::digest::Digest;
use crate::disk::confined::Confined;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::disk::{Disk, RealDisk, is_irregular};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::journal::segments;
use crate::store::progress::Progress;
use crate::truth::catalog::JournalReads as _;
use crate::truth::sqlite::{Sqlite, refuse_newer_copy};
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
    /// The blobs that are only in object storage, and so not in the backup.
    pub elsewhere: Option<Elsewhere>,
    /// Files of the backup that were not taken, each with the reason: they are not regular files, or do not have the size and the
    /// digest that the backup names.
    pub refused: Vec<String>,
    /// The number of cached files of upstreams.
    pub cached_files: u64,
}

/// Makes the data folder `data`, which is absent or empty, from the backup in `from`. The file `version` is written last, so it
/// becomes a data folder once everything is durable.
///
/// Others may have written the backup. Nothing outside its folder is read, and only regular files that have the size and the digest
/// that the backup names are taken. The databases are opened after they are copied.
pub fn restore(from: &Path, data: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Restored> {
    let (from, to) = (Layout::new(from), Layout::new(data));
    if !from.is_backup() {
        return Err(Error::NoBackup(from.data().to_owned()));
    }
    let source = Confined::open(from.data()).map_err(Error::io("open", from.data()))?;
    if source.size(&from.truth()).map_err(Error::io("look at", &from.truth()))?.is_none() {
        return Err(Error::NoBackup(from.data().to_owned()));
    }
    let copy = source.open(&from.truth()).map_err(Error::io("open", &from.truth()))?;
    refuse_newer_copy(copy, &from.truth())?;
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
    copy_file(&source, &from.truth(), &to.truth())?;
    let mut truth = Sqlite::copied(&to.truth())?;
    let seq = truth.last()?;
    let at = truth.dated_journal(Seq(seq.0.saturating_sub(1)), 1)?.first().map(|row| row.at);
    let wanted = all_blobs(&mut truth)?;
    drop(truth);
    let transfer = Transfer::verifying(&source, &from, &to);
    let Blobs { mut missing, refused, .. } = transfer.blobs(&wanted, &[], progress)?;
    let elsewhere = Elsewhere::of(&source, &from, &mut missing)?;
    if let Some(Elsewhere { url, .. }) = &elsewhere {
        note_objects(&to, url)?;
    }
    let refused = refused.into_iter().map(|(digest, why)| format!("the blob `{digest}` was not restored: {why}"));
    let mut refused: Vec<String> = refused.collect();
    for segment in segments::list(&source, &from)? {
        match segment.bytes(&source, &from) {
            Ok(bytes) => {
                let path = to.segments().join(segment.name());
                let written = disk.create(&path).and_then(|mut file| file.write(&bytes));
                written.map_err(Error::io("write", &path))?;
            }
            Err(Error::Io { source, .. }) if is_irregular(&source) => {
                refused.push(format!("the segment `{}` was not restored: {source}", segment.name()));
            }
            Err(Error::Segment { name, why }) => refused.push(format!("the segment `{name}` was not restored: {why}")),
            Err(error) => return Err(error),
        }
    }
    let cached_files = copy_cached(&from, &to, &transfer, progress)?;
    sync_all(&to)?;
    to.end_restore(&*disk, &space)?;
    let size_bytes = wanted.iter().map(|(_, size_bytes)| size_bytes).sum();
    Ok(Restored { seq, at, blobs: wanted.len() as u64, size_bytes, missing, elsewhere, refused, cached_files })
}
