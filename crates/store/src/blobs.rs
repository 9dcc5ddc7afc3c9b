//! Bytes by their SHA-256: written once under a temporary name, synced, renamed, and the folder synced, so that a
//! row never points at bytes that are not on disk.

use crate::derived;
use crate::disk::{Disk, DiskFile};
use crate::layout::Layout;
use crate::pool::lock;
use crate::space::Space;
use crate::{Digest, Error, Hashes, RepositoryId};
use bytes::Bytes;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The folder of blobs. Its functions wait for the disk: threads of the store call them.
#[derive(Debug)]
pub(crate) struct Blobs {
    disk: Arc<dyn Disk>,
    layout: Layout,
    space: Arc<Space>,
    /// Folders whose names are known to last. One that merely exists may be another's that is not synced yet.
    lasting: Mutex<HashSet<PathBuf>>,
    next: AtomicU64,
    /// Held by the one that writes a derived file.
    deriving: Mutex<()>,
}

impl Blobs {
    /// Makes the folders, and removes what was arriving when the last process ended.
    pub(crate) fn open(disk: Arc<dyn Disk>, layout: Layout, space: Arc<Space>) -> Result<Self, Error> {
        let blobs = Self {
            disk,
            layout,
            space,
            lasting: Mutex::default(),
            next: AtomicU64::new(0),
            deriving: Mutex::default(),
        };
        for folder in [blobs.layout.blobs(), blobs.layout.blobs_by_digest(), blobs.layout.arriving()] {
            blobs.make_lasting(&folder)?;
        }
        let arriving = blobs.layout.arriving();
        for name in blobs.disk.list(&arriving).map_err(Error::io("list", &arriving))? {
            let path = arriving.join(name);
            blobs.disk.unlink(&path).map_err(Error::io("remove", &path))?;
        }
        Ok(blobs)
    }

    /// Begins to take bytes whose digest is not known yet.
    pub(crate) fn stage(self: &Arc<Self>) -> Result<Writing, Error> {
        self.space.check()?;
        let path = self.layout.arriving().join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let file = self.disk.create(&path).map_err(Error::io("create", &path))?;
        Ok(Writing { blobs: self.clone(), path: Some(path), file, hashing: Hashing::default() })
    }

    /// The bytes of `digest`, and how many.
    pub(crate) fn open_blob(&self, digest: &Digest) -> Result<(File, u64), Error> {
        let (_, _, path) = self.layout.blob(digest);
        let file = self.disk.open(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::BlobMissing(*digest),
            _ => Error::io("open", &path)(e),
        })?;
        let size_bytes = file.metadata().map_err(Error::io("look at", &path))?.len();
        Ok((file, size_bytes))
    }

    /// The bytes of `digest`, in memory.
    pub(crate) fn read_blob(&self, digest: &Digest) -> Result<Bytes, Error> {
        let (mut file, size_bytes) = self.open_blob(digest)?;
        let (_, _, path) = self.layout.blob(digest);
        let mut bytes = Vec::with_capacity(usize::try_from(size_bytes).unwrap_or_default());
        file.read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
        Ok(bytes.into())
    }

    /// Opens a file of [`Writing::path`] for reading.
    pub(crate) fn open_staged(&self, path: &Path) -> Result<File, Error> {
        self.disk.open(path).map_err(Error::io("open", path))
    }

    pub(crate) fn keep_derived(&self, repository: RepositoryId, name: &str, parts: &[Bytes]) -> Result<(), Error> {
        let _turn = lock(&self.deriving);
        derived::keep(&*self.disk, &self.space, &self.layout, (repository, name), parts)
    }

    pub(crate) fn derived(&self, repository: RepositoryId, name: &str) -> Option<Bytes> {
        derived::read(&*self.disk, &self.layout, (repository, name))
    }

    /// Makes a folder and syncs its name, once per process.
    fn make_lasting(&self, folder: &Path) -> Result<(), Error> {
        if lock(&self.lasting).contains(folder) {
            return Ok(());
        }
        self.space.make_folder(folder)?;
        lock(&self.lasting).insert(folder.to_owned());
        Ok(())
    }
}

/// Bytes that are arriving. Dropping it removes them.
pub(crate) struct Writing {
    blobs: Arc<Blobs>,
    /// `None` once it has its name.
    path: Option<PathBuf>,
    file: Box<dyn DiskFile>,
    hashing: Hashing,
}

impl Writing {
    pub(crate) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or_else(|| Path::new(""))
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.hashing.size_bytes
    }

    pub(crate) fn sha256(&self) -> Digest {
        Digest(self.hashing.sha256.clone().finalize().into())
    }

    /// All digests of what is there so far.
    pub(crate) fn hashes(&self) -> Hashes {
        self.hashing.clone().finish()
    }

    /// Gives the bytes another name, which may not last: nothing is synced.
    pub(crate) fn place(mut self, path: &Path) -> Result<(), Error> {
        let arriving = self.path.take().ok_or(Error::GivenUp)?;
        let placed = self.blobs.disk.rename(&arriving, path).map_err(Error::io("rename", &arriving));
        if placed.is_err() {
            self.path = Some(arriving);
        }
        placed
    }

    /// Appends, and computes all digests in the same pass. An upload may be larger than the room there was at its start.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.blobs.space.check()?;
        let written = self.file.write(bytes).map_err(Error::io("write", self.path()));
        self.blobs.space.wrote(written)?;
        self.hashing.update(bytes);
        Ok(())
    }

    /// Makes the bytes last under their digest. Where the blob exists its name moves to these bytes, which are the
    /// same: that costs nothing, heals a damaged file, and needs no trust in what another has synced.
    pub(crate) fn keep(mut self) -> Result<Hashes, Error> {
        let blobs = self.blobs.clone();
        blobs.space.sound()?;
        let Some(path) = self.path.clone() else { return Err(Error::GivenUp) };
        blobs.space.synced(self.file.sync()).map_err(Error::io("sync", &path))?;
        let hashes = std::mem::take(&mut self.hashing).finish();
        let (outer, inner, blob) = blobs.layout.blob(&hashes.sha256);
        blobs.make_lasting(&outer)?;
        blobs.make_lasting(&inner)?;
        blobs.space.rename(&path, &blob)?;
        self.path = None;
        Ok(hashes)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            // What stays behind is removed at the next start.
            let _ = self.blobs.disk.unlink(&path);
        }
    }
}

impl std::fmt::Debug for Writing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writing").field("path", &self.path).finish_non_exhaustive()
    }
}

#[derive(Clone, Default)]
struct Hashing {
    sha256: Sha256,
    sha512: Sha512,
    sha1: Sha1,
    md5: Md5,
    size_bytes: u64,
}

impl Hashing {
    fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.sha512.update(bytes);
        self.sha1.update(bytes);
        self.md5.update(bytes);
        self.size_bytes += bytes.len() as u64;
    }

    fn finish(self) -> Hashes {
        Hashes {
            sha256: Digest(self.sha256.finalize().into()),
            sha512: hex(&self.sha512.finalize()),
            sha1: hex(&self.sha1.finalize()),
            md5: hex(&self.md5.finalize()),
            size_bytes: self.size_bytes,
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// All digests of bytes at hand.
pub(crate) fn hashes(bytes: &[u8]) -> Hashes {
    let mut hashing = Hashing::default();
    hashing.update(bytes);
    hashing.finish()
}
