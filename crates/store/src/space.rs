//! Whether anything may be written: free space above the floor, and no sync has ever failed.

use crate::Error;
use crate::disk::{Disk, RealDisk};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use telemetry::log::Incident;
use telemetry::{Bound, BoundName, Log};

/// Whether the file system of a folder has room above a floor, for what is no packages and can be lost: logs and events. Where nobody
/// can say, it has.
pub fn above_floor(folder: &Path, floor_bytes: u64) -> io::Result<()> {
    match RealDisk.space(folder) {
        Ok(space) if space.free < floor_bytes => {
            Err(io::Error::new(io::ErrorKind::StorageFull, "free space on the disk is below the floor"))
        }
        _ => Ok(()),
    }
}

/// Asked before every write. A failed sync says nothing about which bytes reached the disk, and the kernel may
/// report it only once, so from then on nothing is written until a restart reads the disk anew.
#[derive(Debug)]
pub(crate) struct Space {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    floor_bytes: u64,
    bound: Arc<Bound>,
    poisoned: AtomicBool,
    /// Free space is below the floor.
    low: Incident,
    /// The machine had no room for what was written.
    full: Incident,
    log: Log,
}

/// Why nothing new is written, while what is there is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReadOnly {
    /// A sync failed.
    #[error("a sync of the disk failed, and nothing is written until a restart")]
    Poisoned,
    /// The machine had no room.
    #[error("the disk is full")]
    Full,
    /// Free space is below the floor, which is kept for small changes of settings and tokens.
    #[error("free space on the disk is below `store.free_space_floor_bytes`")]
    Low,
}

/// That there is room again is said once there are so many bytes above the floor: else each write might be news.
const CLEARLY: u64 = 64 << 20;

impl Space {
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: PathBuf, floor_bytes: u64, log: Log) -> Self {
        let bound = Bound::new(BoundName::Disk, "", u64::MAX);
        Self {
            disk,
            folder,
            floor_bytes,
            bound,
            poisoned: AtomicBool::new(false),
            low: Incident::default(),
            full: Incident::default(),
            log,
        }
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
        let figures: [(&str, &dyn std::fmt::Display); 2] =
            [("free_bytes", &space.free), ("floor_bytes", &self.floor_bytes)];
        if space.free < self.floor_bytes {
            self.bound.reject();
            let text = "free space is below the floor: no packages, files of upstreams or events are written";
            self.low.begin(|| self.log.error(text, &figures));
            return Err(Error::DiskNearlyFull { free_bytes: space.free, floor_bytes: self.floor_bytes });
        }
        if space.free - self.floor_bytes >= CLEARLY.min(self.floor_bytes / 16) {
            self.low.end(|| self.log.info("free space is above the floor again: everything is written", &figures));
        }
        Ok(())
    }

    /// Notes what became of a write: where the machine has no room, the log says so, once.
    pub(crate) fn wrote<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        match &result {
            Ok(_) => self.full.end(|| self.log.info("the disk has room again", &[])),
            Err(error) if error.is_disk_full() && !matches!(error, Error::DiskNearlyFull { .. }) => {
                let text = "the disk is full: changes are refused until there is room";
                self.full.begin(|| self.log.error(text, &[("error", error)]));
            }
            Err(_) => {}
        }
        result
    }

    /// Why nothing new is written, if so.
    pub(crate) fn read_only(&self) -> Option<ReadOnly> {
        let why = [
            (self.sound().is_err(), ReadOnly::Poisoned),
            (self.full.is_on(), ReadOnly::Full),
            (self.low.is_on(), ReadOnly::Low),
        ];
        why.into_iter().find(|(is, _)| *is).map(|(_, why)| why)
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
