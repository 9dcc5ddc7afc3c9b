//! Decides whether anything may be written: the free space is above the floor, and no sync has ever failed.

use crate::disk::reserve::Reserve;
use crate::disk::{Disk, Failpoint, RealDisk};
use crate::error::{Error, Result};
use crate::journal::clock_doubt::ClockDoubt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use telemetry::log::Incident;
use telemetry::{Bound, BoundName, Log};

/// An error if the free space of a folder's file system is below a floor. Used for logs and events, which may be lost. No error
/// if the free space is unknown.
pub fn above_floor(folder: &Path, floor_bytes: u64) -> io::Result<()> {
    match RealDisk.space(folder) {
        // What the reserve released is for changes that free space.
        Ok(space) if space.free < floor_bytes.max(RESERVE_MAX_BYTES + LEAST_BYTES) => {
            Err(io::Error::new(io::ErrorKind::StorageFull, "free space on the disk is below the floor"))
        }
        _ => Ok(()),
    }
}

/// The reserve is a quarter of the floor within these limits: enough for some hundred small changes.
const RESERVE_MIN_BYTES: u64 = 1 << 20;
const RESERVE_MAX_BYTES: u64 = 4 << 20;
/// Without a floor, too, no content is written with less free space.
const LEAST_BYTES: u64 = 64 << 10;
/// A start makes files of this size together, if the databases were closed.
const START_BYTES: u64 = 256 << 10;

/// Every write checks this first. A failed sync says nothing about which bytes reached the disk, and the kernel may report it
/// only once. So after a failed sync nothing is written until a restart reads the disk again.
#[derive(Debug)]
pub(crate) struct Space {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    floor_bytes: u64,
    reserve: Reserve,
    bound: Arc<Bound>,
    /// When it was last measured.
    free_bytes: AtomicU64,
    poisoned: AtomicBool,
    /// Free space is below the floor.
    low: Incident,
    /// The disk was full at the last write.
    full: Incident,
    log: Log,
}

/// The reason why nothing, or no content, is written. Everything can still be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReadOnly {
    /// A sync failed.
    #[error("a sync of the disk failed, and nothing is written until a restart")]
    Poisoned,
    /// The clock and the journal disagree.
    #[error("{0}, and nothing is written until `daylight repair clock` decides which is right")]
    Clock(ClockDoubt),
    /// The database that orders the changes cannot be used.
    #[error("PostgreSQL cannot be used, and changes are accepted again once it can")]
    Database,
    /// The database has another history, or is no database of this folder.
    #[error(
        "the database has another history than this server, and nothing is written until somebody decides which counts"
    )]
    Parted,
    /// The disk was full.
    #[error("the disk is full")]
    Full,
    /// Free space is below the floor, or almost none is left. The remaining space is reserved for changes that free space, and for
    /// those of settings and tokens.
    #[error("free space on the disk is below `store.free_space_floor_bytes`, or almost none is left")]
    Low,
    /// Object storage cannot be used. Changes without new bytes are made.
    #[error("object storage cannot be used, and nothing is uploaded until it can")]
    Objects,
}

/// The log reports that there is space again once this many bytes above the floor are free. Otherwise it could report that at each
/// write.
const HYSTERESIS_BYTES: u64 = 64 << 20;

impl Space {
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: PathBuf, floor_bytes: u64, log: Log) -> Self {
        let bound = Bound::new(BoundName::Disk, "", u64::MAX);
        let reserve = Reserve::new(disk.clone(), folder.join("reserve"), 0);
        Self {
            disk,
            folder,
            floor_bytes,
            reserve,
            bound,
            free_bytes: AtomicU64::new(0),
            poisoned: AtomicBool::new(false),
            low: Incident::default(),
            full: Incident::default(),
            log,
        }
    }

    /// The same with a reserve for changes on a full disk.
    pub(crate) fn with_reserve(mut self) -> Self {
        let size_bytes = (self.floor_bytes / 4).clamp(RESERVE_MIN_BYTES, RESERVE_MAX_BYTES);
        self.reserve = Reserve::new(self.disk.clone(), self.folder.join("reserve"), size_bytes);
        self
    }

    /// Frees the reserve if there is no room for the files that a start makes. Returns whether there is still none.
    pub(crate) fn make_room(&self) -> bool {
        let is_cramped = || self.disk.space(&self.folder).is_ok_and(|space| space.free < START_BYTES);
        if !is_cramped() {
            return false;
        }
        self.use_reserve();
        is_cramped()
    }

    pub(crate) fn bound(&self) -> Arc<Bound> {
        self.bound.clone()
    }

    /// Measures the free space. An error if no content may be written.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_sound()?;
        let space = self.disk.space(&self.folder).map_err(Error::io("look at", &self.folder))?;
        self.free_bytes.store(space.free, Ordering::Relaxed);
        self.bound.set_capacity(space.total.saturating_sub(self.floor_bytes));
        self.bound.observe(space.total.saturating_sub(space.free));
        // Content does not use the space of a reserve that was released.
        let missing_bytes = self.reserve.missing_bytes();
        let floor_bytes = self.floor_bytes.max(LEAST_BYTES).saturating_add(missing_bytes);
        let figures: [(&str, &dyn std::fmt::Display); 2] = [("free_bytes", &space.free), ("floor_bytes", &floor_bytes)];
        if space.free < floor_bytes {
            self.bound.reject();
            let text = "free space is below the floor: no packages, files of upstreams or events are written";
            self.low.begin(|| self.log.error(text, &figures));
            return Err(Error::DiskNearlyFull { free_bytes: space.free, floor_bytes });
        }
        if space.free - floor_bytes >= HYSTERESIS_BYTES.min(self.floor_bytes / 16) {
            self.low.end(|| self.log.info("free space is above the floor again: everything is written", &figures));
            // Without the reserve everything works until the disk is full. The next check tries again.
            let _ = self.reserve.make();
        }
        Ok(())
    }

    /// Free bytes when the space was last measured.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.free_bytes.load(Ordering::Relaxed)
    }

    /// The floor.
    pub(crate) fn floor_bytes(&self) -> u64 {
        self.floor_bytes
    }

    /// Whether free space is below the floor, as of the last check.
    pub(crate) fn is_low(&self) -> bool {
        self.low.is_on() || self.full.is_on()
    }

    /// Frees the reserved bytes. Returns whether that made space.
    pub(crate) fn use_reserve(&self) -> bool {
        self.reserve.release()
    }

    /// Returns the result of a write. If the disk is full, logs that once.
    pub(crate) fn wrote<T>(&self, result: Result<T>) -> Result<T> {
        match &result {
            Ok(_) => self.full.end(|| self.log.info("the disk has free space again", &[])),
            Err(error) if error.is_disk_full() && !matches!(error, Error::DiskNearlyFull { .. }) => {
                let text = "the disk is full: changes are refused until there is free space";
                self.full.begin(|| self.log.error(text, &[("error", error)]));
            }
            Err(_) => {}
        }
        result
    }

    /// Why nothing is written, if the store is read-only.
    pub(crate) fn read_only(&self) -> Option<ReadOnly> {
        let why = [
            (self.check_sound().is_err(), ReadOnly::Poisoned),
            (self.full.is_on(), ReadOnly::Full),
            (self.low.is_on(), ReadOnly::Low),
        ];
        why.into_iter().find(|(is, _)| *is).map(|(_, why)| why)
    }

    /// An error if a sync has failed: nothing may be written then.
    pub(crate) fn check_sound(&self) -> Result<()> {
        if self.poisoned.load(Ordering::Acquire) { Err(Error::Poisoned) } else { Ok(()) }
    }

    /// Returns the result of a sync or a commit. After a failed one, nothing is written any more.
    pub(crate) fn synced<T, E: std::fmt::Display>(&self, result: Result<T, E>) -> Result<T, E> {
        if let Err(error) = &result {
            self.poisoned.store(true, Ordering::Release);
            self.log.error("a sync failed: nothing is written until a restart", &[("error", error)]);
        }
        result
    }

    /// Marks a point at which a test can stop a run.
    pub(crate) fn point(&self, point: Failpoint) -> io::Result<()> {
        self.disk.point(point)
    }

    /// Writes a whole file durably: writes and syncs `temporary`, renames it to `path` in the same folder, and syncs the folder.
    pub(crate) fn put(&self, temporary: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
        self.check_sound()?;
        if self.disk.size(temporary).map_err(Error::io("look at", temporary))?.is_some() {
            self.disk.unlink(temporary).map_err(Error::io("remove", temporary))?;
        }
        let mut file = self.disk.create(temporary).map_err(Error::io("create", temporary))?;
        file.write(bytes).map_err(Error::io("write", temporary))?;
        self.synced(file.sync()).map_err(Error::io("sync", temporary))?;
        self.rename(temporary, path)
    }

    /// Renames a file durably.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let folder = to.parent().unwrap_or(to);
        let open = self.disk.open_folder(folder).map_err(Error::io("open", folder))?;
        self.disk.rename(from, to).map_err(Error::io("rename", from))?;
        self.synced(open.sync()).map_err(Error::io("sync", folder))
    }

    /// Removes a file durably.
    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        self.disk.unlink(path).map_err(Error::io("remove", path))?;
        self.sync_folder(path.parent().unwrap_or(path))
    }

    /// Makes the names in a folder durable. If the folder cannot be opened, nothing was synced and no state is unknown.
    pub(crate) fn sync_folder(&self, folder: &Path) -> Result<()> {
        let open = self.disk.open_folder(folder).map_err(Error::io("open", folder))?;
        self.synced(open.sync()).map_err(Error::io("sync", folder))
    }

    /// Makes a folder durably.
    pub(crate) fn make_folder(&self, folder: &Path) -> Result<()> {
        self.disk.make_folder(folder).map_err(Error::io("make", folder))?;
        self.sync_folder(folder.parent().unwrap_or(folder))
    }
}
