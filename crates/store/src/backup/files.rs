//! Links or copies blobs from one folder to another, on two threads.

use crate::blobs::digest::Digest;
use crate::blobs::files::{files_in, names};
use crate::disk::layout::{Layout, NestedFile};
use crate::disk::{Disk, RealDisk, irregular, is_irregular};
use crate::error::{Error, Result};
use crate::store::progress::Progress;
use sha2::{Digest as _, Sha256};
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// One thread waits for the disk while the other works.
const THREADS: usize = 2;
/// Blobs that a thread takes at a time.
const CHUNK: usize = 256;
/// Bytes that are copied at a time.
const PIECE: usize = 256 << 10;

/// The source and the destination of a transfer, and whether it may link.
pub(crate) struct Transfer<'a> {
    /// Reads the source.
    source: &'a dyn Disk,
    from: &'a Layout,
    to: &'a Layout,
    /// Files are taken only if they have the size and the digest that they should have.
    verifies: bool,
    /// Hard links are tried. Cleared after the first one that is impossible because the folders are on two file systems.
    link: AtomicBool,
}

/// The results for blobs.
#[derive(Debug, Default)]
pub(crate) struct Blobs {
    pub(crate) new_blobs: u64,
    pub(crate) new_bytes: u64,
    /// Blobs that are missing in the source.
    pub(crate) missing: Vec<Digest>,
    /// Blobs that were not taken, and why.
    pub(crate) refused: Vec<(Digest, String)>,
}

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    New,
    /// The destination already has it.
    Present,
    /// The source does not have it.
    Missing,
    /// What the source has in its place is not taken, for this reason.
    Refused(String),
}

/// A file to transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) path: &'a Path,
    pub(crate) digest: &'a Digest,
    /// `None`: no row has it.
    pub(crate) size_bytes: Option<u64>,
}

impl<'a> Transfer<'a> {
    /// A transfer of the files of a data folder, which become hard links where possible.
    pub(crate) fn linking(from: &'a Layout, to: &'a Layout) -> Self {
        Self { source: &RealDisk, from, to, verifies: false, link: AtomicBool::new(true) }
    }

    /// A transfer of files that others may have written. All are copied, and only if they have the expected bytes.
    pub(crate) fn verifying(source: &'a dyn Disk, from: &'a Layout, to: &'a Layout) -> Self {
        Self { source, from, to, verifies: true, link: AtomicBool::new(false) }
    }

    pub(crate) fn source(&self) -> &'a dyn Disk {
        self.source
    }

    /// Transfers blobs. A file that the destination already has counts only if it is in `durable`: other files are left from an
    /// interrupted backup and may not be on the disk. Both lists are ordered by digest.
    pub(crate) fn blobs(
        &self,
        wanted: &[(Digest, u64)],
        durable: &[(Digest, u64)],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Blobs> {
        let chunks: Vec<_> = wanted.chunks(CHUNK).collect();
        let next = AtomicUsize::new(0);
        let (sender, done) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                let (sender, chunks, next) = (sender.clone(), &chunks, &next);
                scope.spawn(move || {
                    while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // After an error the receiver is gone.
                        if sender.send(self.chunk(chunk, durable).map(|found| (chunk.len(), found))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let (mut all, mut finished) = (Blobs::default(), 0);
            for found in done {
                let (many, found) = found?;
                all.new_blobs += found.new_blobs;
                all.new_bytes += found.new_bytes;
                all.missing.extend(found.missing);
                all.refused.extend(found.refused);
                finished += many as u64;
                progress(Progress { done: finished, total: wanted.len() as u64, of: "blobs" });
            }
            Ok(all)
        })
    }

    fn chunk(&self, chunk: &[(Digest, u64)], durable: &[(Digest, u64)]) -> Result<Blobs> {
        let mut found = Blobs::default();
        for (digest, size_bytes) in chunk {
            let durable = durable.binary_search_by_key(digest, |(durable, _)| *durable).is_ok();
            let (from, to) = (self.from.blob(digest), self.to.blob(digest));
            let wanted = Wanted { path: &from.file, digest, size_bytes: Some(*size_bytes) };
            match self.file(wanted, &to, durable)? {
                Outcome::New => {
                    found.new_blobs += 1;
                    found.new_bytes += size_bytes;
                }
                Outcome::Present => {}
                Outcome::Missing => found.missing.push(*digest),
                Outcome::Refused(why) => found.refused.push((*digest, why)),
            }
        }
        Ok(found)
    }

    /// Transfers one file. `durable`: a file that the destination already has may stay if it has the right size.
    pub(crate) fn file(&self, wanted: Wanted<'_>, to: &NestedFile, durable: bool) -> Result<Outcome> {
        let linking = || self.link.load(Ordering::Relaxed);
        if durable && let Some(there) = look(&to.file)? {
            let Some(source) = look(wanted.path)? else { return Ok(Outcome::Present) };
            // A repaired file has the same size and another inode.
            let replaced = linking() && source.dev() == there.dev() && source.ino() != there.ino();
            if source.len() == there.len() && !replaced {
                return Ok(Outcome::Present);
            }
        }
        // The file gets a temporary name first: the previous backup may need the file in its place. That file is never written
        // to, because it may be a hard link to the file of the data folder.
        let name = to.file.file_name().unwrap_or_default();
        let (temporary, exists) =
            if durable { (self.to.temporary_blobs().join(name), true) } else { (to.file.clone(), false) };
        let placed = self.place(wanted, &temporary, to)?;
        if exists && placed == Outcome::New {
            make_folders(to)?;
            RealDisk.rename(&temporary, &to.file).map_err(Error::io("rename", &temporary))?;
            // Renaming a link to another link of the same file does nothing and leaves both.
            let _ = RealDisk.unlink(&temporary);
        }
        Ok(placed)
    }

    /// Links or copies to a path, replacing any file there.
    fn place(&self, wanted: Wanted<'_>, path: &Path, to: &NestedFile) -> Result<Outcome> {
        let from = wanted.path;
        let mut has_folders = false;
        loop {
            let link = self.link.load(Ordering::Relaxed);
            let placed = if link { linked(from, path) } else { self.copy(wanted, path) };
            let Err(error) = placed else { return Ok(Outcome::New) };
            match error.kind() {
                _ if is_irregular(&error) || differs(&error) => return Ok(Outcome::Refused(error.to_string())),
                ErrorKind::AlreadyExists => RealDisk.unlink(path).map_err(Error::io("remove", path))?,
                ErrorKind::NotFound if self.source.size(from).is_ok_and(|size| size.is_none()) => {
                    return Ok(Outcome::Missing);
                }
                // This also happens if the other thread has just made the folders.
                ErrorKind::NotFound if !has_folders => {
                    make_folders(to)?;
                    has_folders = true;
                }
                // The folders are on two file systems, or this one has no hard links.
                _ if link && is_refusal(&error) => self.link.store(false, Ordering::Relaxed),
                // This file has the maximum number of links.
                ErrorKind::TooManyLinks => match self.copy(wanted, path) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        RealDisk.unlink(path).map_err(Error::io("remove", path))?;
                    }
                    copied => return copied.map(|()| Outcome::New).map_err(Error::io("copy", from)),
                },
                _ => return Err(Error::io(if link { "link" } else { "copy" }, from)(error)),
            }
        }
    }

    /// Copies a file to a path where no file exists. Does not sync.
    fn copy(&self, wanted: Wanted<'_>, to: &Path) -> io::Result<()> {
        let mut source = self.source.open(wanted.path)?;
        let size = source.metadata()?.len();
        if let Some(expected) = wanted.size_bytes.filter(|expected| self.verifies && *expected != size) {
            return Err(Differs(format!("it has {size} bytes in place of {expected}")).into());
        }
        let mut copy = OpenOptions::new().write(true).create_new(true).open(to)?;
        let (mut hash, mut copied) = (Sha256::new(), 0);
        let mut piece = vec![0; PIECE.min(usize::try_from(size).unwrap_or(PIECE) + 1)];
        loop {
            let read = source.read(&mut piece)?;
            if read == 0 {
                break;
            }
            copied += read as u64;
            if self.verifies && copied > size {
                break;
            }
            copy.write_all(&piece[..read])?;
            if self.verifies {
                hash.update(&piece[..read]);
            }
        }
        if self.verifies {
            let found = Digest(hash.finalize().into());
            if copied != size || found != *wanted.digest {
                RealDisk.unlink(to)?;
                return Err(Differs(format!("its bytes have the digest `{found}`")).into());
            }
        }
        Ok(())
    }
}

/// Links a regular file to a path where no file exists.
fn linked(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)?;
    if std::fs::symlink_metadata(to)?.is_file() {
        return Ok(());
    }
    RealDisk.unlink(to)?;
    Err(irregular())
}

/// The file of a backup does not have the size or the digest that the backup names.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Differs(String);

impl From<Differs> for io::Error {
    fn from(differs: Differs) -> Self {
        Self::new(ErrorKind::InvalidData, differs)
    }
}

fn differs(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Differs>())
}

/// Whether hard links between the two folders are impossible.
fn is_refusal(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, Unsupported};
    matches!(error.kind(), CrossesDevices | PermissionDenied | Unsupported)
}

fn look(path: &Path) -> Result<Option<std::fs::Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(about) => Ok(Some(about)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("look at", path)(error)),
    }
}

fn make_folders(to: &NestedFile) -> Result<()> {
    for folder in [&to.outer, &to.inner] {
        RealDisk.make_folder(folder).map_err(Error::io("make", folder))?;
    }
    Ok(())
}

/// All files below a folder of blobs, with the digests in their names.
pub(super) fn blob_files(disk: &dyn Disk, root: &Path) -> Result<Vec<(Option<Digest>, PathBuf)>> {
    let mut files = Vec::new();
    for outer in names(disk, root)? {
        files.extend(files_in(disk, &root.join(outer))?);
    }
    Ok(files)
}
