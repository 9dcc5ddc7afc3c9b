//! Whether anything may be written: free space above the floor, and no sync has ever failed.

use crate::Error;
use crate::disk::Disk;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use telemetry::{Bound, BoundName, Log};

/// Asked before every write. A failed sync says nothing about which bytes reached the disk, and the kernel may
/// report it only once, so from then on nothing is written until a restart reads the disk anew.
#[derive(Debug)]
pub(crate) struct Space {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    floor_bytes: u64,
    bound: Arc<Bound>,
    poisoned: AtomicBool,
    log: Log,
}

impl Space {
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: PathBuf, floor_bytes: u64, log: Log) -> Self {
        let bound = Bound::new(BoundName::Disk, "", u64::MAX);
        Self { disk, folder, floor_bytes, bound, poisoned: AtomicBool::new(false), log }
    }

    pub(crate) fn bound(&self) -> Arc<Bound> {
        self.bound.clone()
    }

    /// Measures; an error where new content must not be written.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.sound()?;
        let space = self.disk.space(&self.folder).map_err(Error::io("look at", &self.folder))?;
        self.bound.set_capacity(space.total.saturating_sub(self.floor_bytes));
        self.bound.observe(space.total.saturating_sub(space.free));
        if space.free < self.floor_bytes {
            self.bound.reject();
            return Err(Error::DiskNearlyFull { free_bytes: space.free, floor_bytes: self.floor_bytes });
        }
        Ok(())
    }

    /// An error where nothing at all may be written.
    pub(crate) fn sound(&self) -> Result<(), Error> {
        if self.poisoned.load(Ordering::Acquire) { Err(Error::Poisoned) } else { Ok(()) }
    }

    /// Passes the result of a sync or a commit on; nothing is written after a failed one.
    pub(crate) fn synced<T, E: std::fmt::Display>(&self, result: Result<T, E>) -> Result<T, E> {
        if let Err(error) = &result {
            self.poisoned.store(true, Ordering::Release);
            self.log.error("a sync failed: nothing is written until a restart", &[("error", error)]);
        }
        result
    }

    /// A whole file, durably: written as `temporary`, synced, renamed to `path` in the same folder, which is synced.
    pub(crate) fn put(&self, temporary: &Path, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        self.sound()?;
        if self.disk.size(temporary).map_err(Error::io("look at", temporary))?.is_some() {
            self.disk.unlink(temporary).map_err(Error::io("remove", temporary))?;
        }
        let mut file = self.disk.create(temporary).map_err(Error::io("create", temporary))?;
        file.write(bytes).map_err(Error::io("write", temporary))?;
        self.synced(file.sync()).map_err(Error::io("sync", temporary))?;
        self.rename(temporary, path)
    }

    /// Gives a file another name, which lasts.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let folder = to.parent().unwrap_or(to);
        let open = self.disk.open_folder(folder).map_err(Error::io("open", folder))?;
        self.disk.rename(from, to).map_err(Error::io("rename", from))?;
        self.synced(open.sync()).map_err(Error::io("sync", folder))
    }

    /// Makes names in a folder last. One that cannot be opened was not synced, and nothing is in doubt.
    pub(crate) fn sync_folder(&self, folder: &Path) -> Result<(), Error> {
        let open = self.disk.open_folder(folder).map_err(Error::io("open", folder))?;
        self.synced(open.sync()).map_err(Error::io("sync", folder))
    }

    /// Makes a folder, and its name last.
    pub(crate) fn make_folder(&self, folder: &Path) -> Result<(), Error> {
        self.disk.make_folder(folder).map_err(Error::io("make", folder))?;
        self.sync_folder(folder.parent().unwrap_or(folder))
    }
}
