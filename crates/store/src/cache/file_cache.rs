//! The folder with the cached files of upstreams. They are written without a sync, so after a restart of the machine they are
//! verified before they are used.

use crate::blobs::TemporaryBlob;
use crate::blobs::digest::{Digest, Hashes};
use crate::disk::Disk;
use crate::disk::layout::by_digest;
use crate::error::{Error, Result};
use bytes::Bytes;
use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// The files, named by their digests.
#[derive(Debug)]
pub(crate) struct FileCache {
    disk: Arc<dyn Disk>,
    /// It contains one folder for each cache database that ever existed here.
    root: PathBuf,
    /// The folder of the current database.
    folder: PathBuf,
    /// The current boot of the machine. A file that was written in an earlier boot may not have reached the disk.
    pub(super) boot: i64,
    next: u64,
    /// The folders for files that this process has made, by the first bytes of their digests.
    made: HashSet<[u8; 2]>,
}

impl FileCache {
    pub(crate) fn new(disk: Arc<dyn Disk>, root: PathBuf, boot: i64) -> Self {
        Self { disk, folder: root.clone(), root, boot, next: 0, made: HashSet::new() }
    }

    /// Uses the folder of this name from now on.
    pub(super) fn use_folder(&mut self, name: String) -> Result<()> {
        self.folder = self.root.join(name);
        self.made.clear();
        for folder in [&self.root, &self.folder] {
            self.disk.make_folder(folder).map_err(Error::io("make", folder))?;
        }
        Ok(())
    }

    /// Removes the folders of databases that no longer exist, on a thread of its own.
    pub(super) fn remove_old_folders(&self) -> Result<()> {
        let names = self.disk.list(&self.root).map_err(Error::io("list", &self.root))?;
        let old: Vec<_> =
            names.into_iter().map(|name| self.root.join(name)).filter(|path| *path != self.folder).collect();
        if old.is_empty() {
            return Ok(());
        }
        let disk = self.disk.clone();
        // The next start tries again to remove what cannot be removed now.
        let sweep = move || old.iter().for_each(|path| drop(disk.remove_folder(path)));
        std::thread::Builder::new().name("cached-sweep".into()).spawn(sweep).map(drop).map_err(Error::thread)
    }

    /// Moves a temporary file to its final path.
    pub(super) fn place(&mut self, digest: &Digest, file: TemporaryBlob) -> Result<()> {
        let placed = self.path_in_folder(digest).and_then(|path| file.place(&path));
        self.made_unless(placed.is_err(), digest);
        placed
    }

    /// Writes a file. It gets a temporary name first, because readers may have the current file open.
    pub(super) fn write(&mut self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        let path = self.path_in_folder(digest)?;
        self.next += 1;
        let temporary = path.with_extension(self.next.to_string());
        let written = self.disk.create(&temporary).and_then(|mut file| file.write(bytes));
        let placed = written.and_then(|()| self.disk.rename(&temporary, &path)).map_err(Error::io("write", &temporary));
        if placed.is_err() {
            let _ = self.disk.unlink(&temporary);
        }
        self.made_unless(placed.is_err(), digest);
        placed
    }

    #[cfg(test)]
    pub(super) fn path(&self, digest: &Digest) -> PathBuf {
        by_digest(&self.folder, digest).file
    }

    /// The path of a file. Makes its folders, once.
    fn path_in_folder(&self, digest: &Digest) -> Result<PathBuf> {
        let place = by_digest(&self.folder, digest);
        if !self.made.contains(&[digest.0[0], digest.0[1]]) {
            for folder in [&place.outer, &place.inner] {
                self.disk.make_folder(folder).map_err(Error::io("make", folder))?;
            }
        }
        Ok(place.file)
    }

    /// Records that the folders of a file are there, or that they may have been removed.
    fn made_unless(&mut self, failed: bool, digest: &Digest) {
        let folder = [digest.0[0], digest.0[1]];
        if failed {
            self.made.remove(&folder);
        } else {
            self.made.insert(folder);
        }
    }

    /// Opens a file, if it exists and has the right size.
    pub(super) fn open(&self, digest: &Digest, size_bytes: u64) -> Result<Option<File>> {
        let path = by_digest(&self.folder, digest).file;
        let file = match self.disk.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(Error::io("open", &path))?,
        };
        let size = file.metadata().map_err(Error::io("look at", &path))?.len();
        Ok((size == size_bytes).then_some(file))
    }

    /// Removes a file, if it exists.
    pub(super) fn remove(&self, digest: &Digest) -> Result<()> {
        let path = by_digest(&self.folder, digest).file;
        match self.disk.unlink(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
            _ => Ok(()),
        }
    }
}

/// Whether the bytes of a file have this digest. Reads the whole file.
pub(crate) fn has_digest(file: &mut File, digest: &Digest) -> bool {
    let mut hashing = sha2::Sha256::default();
    let mut piece = vec![0; 128 << 10];
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => sha2::Digest::update(&mut hashing, &piece[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    let found: [u8; 32] = sha2::Digest::finalize(hashing).into();
    found == digest.0
}

/// Reads a small file.
pub(super) fn read(mut file: File, size_bytes: u64) -> Option<Bytes> {
    let mut bytes = Vec::with_capacity(usize::try_from(size_bytes).ok()?);
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes.into())
}

/// Identifies the current boot of the machine, by the random number that the kernel generates at each boot. On a machine without
/// one, each start of the process counts as a boot.
pub(crate) fn boot_id() -> i64 {
    let drawn = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| {
        let mut random = vec![0; 16];
        let _ = getrandom::fill(&mut random);
        random
    });
    let digest = Hashes::of(&drawn).sha256.0;
    i64::from_be_bytes(std::array::from_fn(|at| digest[at]))
}
