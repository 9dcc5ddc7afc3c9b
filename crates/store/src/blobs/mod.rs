//! Blobs: bytes named by their SHA-256.
//!
//! A blob is written under a temporary name, synced, renamed, and its folder is synced. So a row never points at bytes that are not on
//! disk.

pub(crate) mod deletion;
pub(crate) mod digest;
pub(crate) mod files;
pub(crate) mod holds;
pub(crate) mod life;
pub(crate) mod missing;
pub(crate) mod next_looks;
pub(crate) mod orphans;
pub(crate) mod staged;

use crate::blobs::digest::{Digest, Hashes, Hashing, MoreDigests};
use crate::blobs::holds::{Hold, Holds};
use crate::disk::derived;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::disk::{Disk, DiskFile};
use crate::error::{Error, Result};
use crate::journal::record::RepositoryId;
use crate::objects::local_copies::LocalCopies;
use bytes::Bytes;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use telemetry::lock;

/// The folder of blobs. Its functions block on the disk, so only threads of the store call them.
#[derive(Debug)]
pub(crate) struct Blobs {
    disk: Arc<dyn Disk>,
    layout: Layout,
    space: Arc<Space>,
    /// Folders whose names are synced. A folder may exist and be unsynced, because another thread has just made it.
    synced_folders: Mutex<HashSet<PathBuf>>,
    /// Locked for reading while a blob is renamed into its folder, and for writing while a folder is removed. Otherwise a folder
    /// could be removed and made again between a rename and the sync of the folder, and the new one would stay unsynced.
    placing: RwLock<()>,
    next: AtomicU64,
    /// The blobs that uploads in progress rely on.
    holds: Holds,
    /// The blobs on the disk, where object storage has all of them.
    local: Option<Arc<LocalCopies>>,
    /// Locked while a derived file is written, so that only one is written at a time.
    writing_derived: Mutex<()>,
}

impl Blobs {
    /// Makes the folders, and removes temporary files of an earlier process.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        layout: Layout,
        space: Arc<Space>,
        local: Option<Arc<LocalCopies>>,
    ) -> Result<Self> {
        let blobs = Self {
            disk,
            layout,
            space,
            synced_folders: Mutex::default(),
            placing: RwLock::default(),
            next: AtomicU64::new(0),
            holds: Holds::default(),
            local,
            writing_derived: Mutex::default(),
        };
        for folder in [blobs.layout.blobs(), blobs.layout.blobs_by_digest(), blobs.layout.temporary_blobs()] {
            blobs.make_synced_folder(&folder)?;
        }
        let temporary = blobs.layout.temporary_blobs();
        for name in blobs.disk.list(&temporary).map_err(Error::io("list", &temporary))? {
            let path = temporary.join(name);
            blobs.disk.unlink(&path).map_err(Error::io("remove", &path))?;
        }
        Ok(blobs)
    }

    /// Creates a temporary file for bytes whose digest is not known yet. `more`: which digests they get besides SHA-256 and SHA-1.
    pub(crate) fn stage(self: &Arc<Self>, more: MoreDigests) -> Result<TemporaryBlob> {
        self.space.check()?;
        let path = self.layout.temporary_blobs().join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let file = self.disk.create(&path).map_err(Error::io("create", &path))?;
        Ok(TemporaryBlob { blobs: self.clone(), path: Some(path), file, hashing: Hashing::new(more) })
    }

    /// Holds a blob that an entry names, so that another entry can name it. `None`: it is not on disk. It is held before it is looked
    /// for, so the collector cannot delete it in between.
    pub(crate) fn hold_published(&self, hashes: Hashes) -> Result<Option<KeptBlob>> {
        self.space.check()?;
        let (hold, path) = (self.holds.hold(hashes.sha256), self.layout.blob(&hashes.sha256).file);
        let size_bytes = self.disk.size(&path).map_err(Error::io("look at", &path))?;
        Ok((size_bytes == Some(hashes.size_bytes)).then_some(KeptBlob { hashes, hold }))
    }

    /// Opens a blob. Also returns its size.
    pub(crate) fn open_blob(&self, digest: &Digest) -> Result<(File, u64)> {
        let path = self.layout.blob(digest).file;
        let file = self.disk.open(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::BlobMissing(*digest),
            _ => Error::io("open", &path)(e),
        });
        if let Some(local) = &self.local {
            match &file {
                Ok(_) => local.used(digest),
                Err(_) => local.missed(),
            }
        }
        let file = file?;
        let size_bytes = file.metadata().map_err(Error::io("look at", &path))?.len();
        Ok((file, size_bytes))
    }

    /// Reads a whole blob into memory.
    pub(crate) fn read_blob(&self, digest: &Digest) -> Result<Bytes> {
        let (mut file, size_bytes) = self.open_blob(digest)?;
        let path = self.layout.blob(digest).file;
        let mut bytes = Vec::with_capacity(usize::try_from(size_bytes).unwrap_or_default());
        file.read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
        Ok(bytes.into())
    }

    /// Opens the file of [`TemporaryBlob::path`] for reading.
    pub(crate) fn open_staged(&self, path: &Path) -> Result<File> {
        self.disk.open(path).map_err(Error::io("open", path))
    }

    /// The blobs that uploads in progress rely on.
    pub(crate) fn holds(&self) -> &Holds {
        &self.holds
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Removes the file of a blob unless it is held, and returns its size. `None`: it stays, or was already gone.
    pub(crate) fn remove(&self, digest: &Digest) -> Result<Option<u64>> {
        self.space.check_sound()?;
        let path = self.layout.blob(digest).file;
        let Some(size_bytes) = self.disk.size(&path).map_err(Error::io("look at", &path))? else {
            self.local.iter().for_each(|local| local.removed(digest));
            return Ok(None);
        };
        match self.holds.unless_held(digest, || self.disk.unlink(&path)) {
            Some(removed) => {
                removed.map_err(Error::io("remove", &path))?;
                self.local.iter().for_each(|local| local.removed(digest));
                Ok(Some(size_bytes))
            }
            None => Ok(None),
        }
    }

    /// Removes a folder of blobs if it is empty. If a blob is being renamed into any folder at that moment, nothing is removed.
    pub(crate) fn remove_empty_folder(&self, folder: &Path) -> Result<()> {
        let _alone = match self.placing.try_write() {
            Ok(alone) => alone,
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Poisoned(alone)) => alone.into_inner(),
        };
        lock(&self.synced_folders).remove(folder);
        self.disk.remove_empty_folder(folder).map(drop).map_err(Error::io("remove", folder))
    }

    pub(crate) fn keep_derived(&self, repository: RepositoryId, name: &str, parts: &[Bytes]) -> Result<()> {
        let _turn = lock(&self.writing_derived);
        derived::keep(&*self.disk, &self.space, &self.layout.derived(repository, name), parts)
    }

    pub(crate) fn derived(&self, repository: RepositoryId, name: &str) -> std::io::Result<Option<Bytes>> {
        derived::read(&*self.disk, &self.layout.derived(repository, name))
    }

    pub(crate) fn forget_derived(&self, repository: RepositoryId, name: &str) -> Result<()> {
        let _turn = lock(&self.writing_derived);
        let path = self.layout.derived(repository, name).file;
        self.disk.unlink(&path).map_err(Error::io("remove", &path))
    }

    /// Makes a folder and syncs its name, once per process.
    fn make_synced_folder(&self, folder: &Path) -> Result<()> {
        if lock(&self.synced_folders).contains(folder) {
            return Ok(());
        }
        self.space.make_folder(folder)?;
        lock(&self.synced_folders).insert(folder.to_owned());
        Ok(())
    }
}

/// Bytes that are durable under their digest.
#[derive(Debug)]
pub struct KeptBlob {
    /// All digests of the bytes.
    pub hashes: Hashes,
    /// Keeps the blob from being deleted. It belongs to the batch that publishes the bytes.
    pub hold: Hold,
}

/// A blob that is being written to a temporary file. Dropping it removes the file.
pub(crate) struct TemporaryBlob {
    blobs: Arc<Blobs>,
    /// `None` once the file has its final name.
    path: Option<PathBuf>,
    file: Box<dyn DiskFile>,
    hashing: Hashing,
}

impl TemporaryBlob {
    pub(crate) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or_else(|| Path::new(""))
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.hashing.size_bytes
    }

    /// The SHA-256 of the bytes so far.
    pub(crate) fn sha256(&self) -> Digest {
        self.hashing.sha256()
    }

    /// All digests of the bytes so far.
    pub(crate) fn hashes(&self) -> Hashes {
        self.hashing.clone().finish()
    }

    /// Renames the file without a sync: a crash may lose it.
    pub(crate) fn place(mut self, path: &Path) -> Result<()> {
        let temporary = self.path.take().ok_or(Error::GivenUp)?;
        let placed = self.blobs.disk.rename(&temporary, path).map_err(Error::io("rename", &temporary));
        if placed.is_err() {
            self.path = Some(temporary);
        }
        placed
    }

    /// Appends bytes and hashes them in the same pass. The free space is checked each time, because an upload may be larger than the
    /// space that was free at its start.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.blobs.space.check()?;
        let written = self.file.write(bytes).map_err(Error::io("write", self.path()));
        self.blobs.space.wrote(written)?;
        self.hashing.update(bytes);
        Ok(())
    }

    /// Makes the bytes durable under their digest. If the blob exists already, the new file with the same bytes replaces it: that
    /// costs nothing, repairs a damaged file, and does not rely on another thread's sync.
    ///
    /// The blob is held before it is renamed, so that the collector never deletes a blob that a batch is about to name.
    pub(crate) fn keep(mut self) -> Result<KeptBlob> {
        let blobs = self.blobs.clone();
        blobs.space.check_sound()?;
        let Some(path) = self.path.clone() else { return Err(Error::GivenUp) };
        blobs.space.synced(self.file.sync()).map_err(Error::io("sync", &path))?;
        let hashes = self.hashing.clone().finish();
        let hold = blobs.holds.hold(hashes.sha256);
        let place = blobs.layout.blob(&hashes.sha256);
        let _placing = blobs.placing.read().unwrap_or_else(PoisonError::into_inner);
        blobs.make_synced_folder(&place.outer)?;
        blobs.make_synced_folder(&place.inner)?;
        blobs.space.rename(&path, &place.file)?;
        self.path = None;
        blobs.local.iter().for_each(|local| local.placed(hashes.sha256, hashes.size_bytes));
        Ok(KeptBlob { hashes, hold })
    }
}

impl Drop for TemporaryBlob {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            // If it cannot be removed now, the next start removes it.
            let _ = self.blobs.disk.unlink(&path);
        }
    }
}

impl std::fmt::Debug for TemporaryBlob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemporaryBlob").field("path", &self.path).finish_non_exhaustive()
    }
}
