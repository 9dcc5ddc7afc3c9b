//! The folder of a backup: how it is recognized, how it is locked, and which files are removed from it.

use super::files::blob_files;
use crate::blobs::digest::Digest;
use crate::disk::layout::{FORM, Layout, MARKER};
use crate::disk::{Disk, RealDisk, regular};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::truth::catalog::JournalReads as _;
use crate::truth::sqlite::Sqlite;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt as _, PermissionsExt};
use std::path::{Path, PathBuf};

/// A backup has this file until it is complete: there may be blobs that no truth names.
const UNFINISHED: &str = "unfinished";
/// Names that a folder may contain and still count as empty.
const IGNORED: [&str; 2] = ["daylight.lock", "lost+found"];

/// Whether one of two folders is in the other.
pub(crate) fn are_nested(one: &Path, other: &Path) -> Result<bool> {
    let (one, other) = (resolved(one)?, resolved(other)?);
    Ok(one.starts_with(&other) || other.starts_with(&one))
}

/// The path without symbolic links. The folder and its parents need not exist yet.
fn resolved(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::io("look at", path))?;
    let existing = path.ancestors().find(|above| above.exists()).unwrap_or(&path);
    let whole = existing.canonicalize().map_err(Error::io("look at", existing))?;
    let rest = path.strip_prefix(existing).unwrap_or_else(|_| Path::new(""));
    Ok(whole.join(rest))
}

/// Locks a backup until the returned file is dropped; `None`: its file system has no locks, like some network file systems.
pub(crate) fn lock_target(layout: &Layout) -> Result<Option<File>> {
    let path = layout.data().join("daylight.lock");
    // A link would lead to a file of somebody else, and opening a FIFO may wait.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().create(true).truncate(false).write(true).custom_flags(flags).open(&path);
    let file = regular(file).map_err(Error::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(layout.data().to_owned())),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Syncs the file system of a folder: one call instead of a sync for each of many files and folders.
pub(crate) fn sync_all(layout: &Layout) -> Result<()> {
    let failed = || Error::io("sync", layout.data());
    let folder = File::open(layout.data()).map_err(failed())?;
    rustix::fs::syncfs(&folder).map_err(|error| failed()(error.into()))
}

/// The destination folder of one backup.
pub(super) struct Target {
    layout: Layout,
    /// Whether an earlier backup was interrupted.
    interrupted: bool,
    _lock: Option<File>,
}

impl Target {
    /// Makes the folder, or opens the earlier backup in it.
    pub(super) fn open(from: &Layout, target: &Path) -> Result<Self> {
        if are_nested(from.data(), target)? {
            return Err(Error::Nested { data: from.data().to_owned(), other: target.to_owned() });
        }
        let layout = Layout::new(target);
        let mut maker = std::fs::DirBuilder::new();
        maker.recursive(true).mode(0o700).create(target).map_err(Error::io("make", target))?;
        let names = RealDisk.list(target).map_err(Error::io("list", target))?;
        if !names.iter().any(|name| name == MARKER)
            && let Some(found) = names.iter().find(|name| !IGNORED.contains(&name.as_str()))
        {
            return Err(Error::NotEmpty { folder: target.to_owned(), found: found.clone() });
        }
        std::fs::set_permissions(target, Permissions::from_mode(0o700)).map_err(Error::io("change", target))?;
        let lock = lock_target(&layout)?;
        let interrupted = names.iter().any(|name| name == UNFINISHED);
        for name in [MARKER, UNFINISHED] {
            let path = target.join(name);
            if !path.exists() {
                let mut file = RealDisk.create(&path).map_err(Error::io("create", &path))?;
                let written = file.write(format!("{FORM}\n").as_bytes()).and_then(|()| file.sync());
                written.map_err(Error::io("write", &path))?;
            }
        }
        let folders = [layout.blobs(), layout.blobs_by_digest(), layout.temporary_blobs(), layout.segments()];
        for folder in folders {
            RealDisk.make_folder(&folder).map_err(Error::io("make", &folder))?;
        }
        let temporary = layout.temporary_blobs();
        for name in RealDisk.list(&temporary).map_err(Error::io("list", &temporary))? {
            let path = temporary.join(name);
            RealDisk.unlink(&path).map_err(Error::io("remove", &path))?;
        }
        RealDisk.open_folder(target).and_then(|folder| folder.sync()).map_err(Error::io("sync", target))?;
        Ok(Self { layout, interrupted, _lock: lock })
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The blobs of the previous backup, which are durable; none in a new folder. An error if that is a backup of another data
    /// folder than the one that `new` was copied from.
    pub(super) fn before(&self, new: &mut Sqlite) -> Result<Vec<(Digest, u64)>> {
        if !self.layout.truth().is_file() {
            return Ok(Vec::new());
        }
        let mut old = Sqlite::copied(&self.layout.truth())?;
        let last = old.last()?;
        let row = |truth: &mut Sqlite| truth.journal_text(Seq(last.0.saturating_sub(1)), 1, usize::MAX);
        if new.last()? < last || row(&mut old)?.first() != row(new)?.first().filter(|(seq, _)| *seq == last) {
            return Err(Error::OtherHistory(self.layout.data().to_owned()));
        }
        super::all_blobs(&mut old)
    }

    /// Removes files that the new truth does not name, and marks the backup as complete.
    pub(super) fn remove_others(
        self,
        wanted: &[(Digest, u64)],
        before: &[(Digest, u64)],
        with_cached: bool,
    ) -> Result<()> {
        let unwanted = |digest: &Digest| wanted.binary_search_by_key(digest, |(wanted, _)| *wanted).is_err();
        let remove = |path: &Path| match RealDisk.unlink(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
            _ => Ok(()),
        };
        for (digest, _) in before.iter().filter(|(digest, _)| unwanted(digest)) {
            remove(&self.layout.blob(digest).file)?;
        }
        if self.interrupted {
            for (digest, path) in blob_files(&RealDisk, &self.layout.blobs_by_digest())? {
                if digest.is_none_or(|digest| unwanted(&digest)) {
                    remove(&path)?;
                }
            }
        }
        if !with_cached && self.layout.cached().is_dir() {
            let folder = self.layout.cached();
            RealDisk.remove_folder(&folder).map_err(Error::io("remove", &folder))?;
            remove(&self.layout.cache())?;
        }
        remove(&self.layout.data().join(UNFINISHED))?;
        sync_all(&self.layout)
    }
}
