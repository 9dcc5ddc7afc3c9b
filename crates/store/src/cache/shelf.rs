//! The folder with the files of upstreams: written without waiting for the disk, and believed only while it can be known
//! that the machine still has them.

use crate::blobs::{Writing, hashes};
use crate::disk::Disk;
use crate::layout::by_digest;
use crate::{Digest, Error};
use bytes::Bytes;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the files are.
#[derive(Debug)]
pub(crate) struct Shelf {
    disk: Arc<dyn Disk>,
    /// Holds a folder for each database that there was.
    outside: PathBuf,
    /// That of this database.
    folder: PathBuf,
    /// Which life of the machine this is. What was written in another may not have reached the disk.
    pub(super) boot: i64,
    next: u64,
}

impl Shelf {
    pub(crate) fn new(disk: Arc<dyn Disk>, outside: PathBuf, boot: i64) -> Self {
        Self { disk, folder: outside.clone(), outside, boot, next: 0 }
    }

    /// From now on the files are those of the database that has this name.
    pub(super) fn turn_to(&mut self, name: String) -> Result<(), Error> {
        self.folder = self.outside.join(name);
        for folder in [&self.outside, &self.folder] {
            self.disk.make_folder(folder).map_err(Error::io("make", folder))?;
        }
        Ok(())
    }

    /// Removes the files of databases that are gone, on a thread that nobody waits for.
    pub(super) fn sweep(&self) -> Result<(), Error> {
        let names = self.disk.list(&self.outside).map_err(Error::io("list", &self.outside))?;
        let old: Vec<_> =
            names.into_iter().map(|name| self.outside.join(name)).filter(|path| *path != self.folder).collect();
        if old.is_empty() {
            return Ok(());
        }
        let disk = self.disk.clone();
        // What cannot be removed now is tried again at the next start.
        let sweep = move || old.iter().for_each(|path| drop(disk.remove_folder(path)));
        std::thread::Builder::new().name("cached-sweep".into()).spawn(sweep).map(drop).map_err(Error::thread)
    }

    /// Gives bytes that have arrived in a file their place.
    pub(super) fn place(&self, digest: &Digest, arrived: Writing) -> Result<(), Error> {
        arrived.place(&self.made(digest)?)
    }

    /// Writes bytes to their place: whole under another name first, as others may read what is there.
    pub(super) fn write(&mut self, digest: &Digest, bytes: &[u8]) -> Result<(), Error> {
        let path = self.made(digest)?;
        self.next += 1;
        let arriving = path.with_extension(self.next.to_string());
        let written = self.disk.create(&arriving).and_then(|mut file| file.write(bytes));
        let placed = written.and_then(|()| self.disk.rename(&arriving, &path)).map_err(Error::io("write", &arriving));
        if placed.is_err() {
            let _ = self.disk.unlink(&arriving);
        }
        placed
    }

    #[cfg(test)]
    pub(super) fn path(&self, digest: &Digest) -> PathBuf {
        by_digest(&self.folder, digest).2
    }

    fn made(&self, digest: &Digest) -> Result<PathBuf, Error> {
        let (outer, inner, path) = by_digest(&self.folder, digest);
        for folder in [&outer, &inner] {
            self.disk.make_folder(folder).map_err(Error::io("make", folder))?;
        }
        Ok(path)
    }

    /// The file of a digest, if it has the right size.
    pub(super) fn open(&self, digest: &Digest, size_bytes: u64) -> Result<Option<File>, Error> {
        let (_, _, path) = by_digest(&self.folder, digest);
        let file = match self.disk.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(Error::io("open", &path))?,
        };
        let size = file.metadata().map_err(Error::io("look at", &path))?.len();
        Ok((size == size_bytes).then_some(file))
    }

    /// Removes the file of a digest.
    pub(super) fn remove(&self, digest: &Digest) -> Result<(), Error> {
        let (_, _, path) = by_digest(&self.folder, digest);
        match self.disk.unlink(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
            _ => Ok(()),
        }
    }
}

/// Whether a file has these bytes. Reads it whole.
pub(crate) fn sound(file: &mut File, digest: &Digest) -> bool {
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

/// All of a small file.
pub(super) fn read(mut file: File, size_bytes: u64) -> Option<Bytes> {
    let mut bytes = Vec::with_capacity(usize::try_from(size_bytes).ok()?);
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes.into())
}

/// Which life of the machine this is: the kernel draws a number at each start. A machine that has none has always begun
/// anew.
pub(crate) fn boot() -> i64 {
    let drawn = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| {
        let mut random = vec![0; 16];
        let _ = getrandom::fill(&mut random);
        random
    });
    let digest = hashes(&drawn).sha256.0;
    i64::from_be_bytes(std::array::from_fn(|at| digest[at]))
}
