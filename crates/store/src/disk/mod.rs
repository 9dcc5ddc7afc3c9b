//! Operations on files, as a trait, so that tests can use a simulated disk that loses what was not synced.
//!
//! SQLite accesses its own files directly. [`Disk::point`] marks the moments around its commits.

pub(crate) mod cluster;
pub(crate) mod confined;
pub(crate) mod database_files;
pub(crate) mod derived;
#[cfg(any(test, feature = "fault"))]
pub mod fault;
pub(crate) mod layout;
mod network_file_system;
pub(crate) mod node;
pub(crate) mod objects_place;
mod opened_by;
mod reserve;
pub(crate) mod space;

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A point at which a test can stop a run: every operation that changes a disk, and the moments around a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failpoint {
    /// Making a folder.
    MakeFolder,
    /// Creating a file.
    Create,
    /// Writing to a file.
    Write,
    /// Syncing a file's bytes.
    SyncFile,
    /// Renaming a file.
    Rename,
    /// Opening a folder to sync it.
    OpenFolder,
    /// Syncing a folder's names.
    SyncFolder,
    /// Removing a file.
    Unlink,
    /// All changes are in the transaction, which is not yet committed.
    BeforeCommit,
    /// The transaction is committed, and no revision is raised yet.
    AfterCommit,
    /// The revisions are raised, and no batch is acknowledged yet.
    BeforeAcknowledgement,
}

impl Failpoint {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::MakeFolder,
        Self::Create,
        Self::Write,
        Self::SyncFile,
        Self::Rename,
        Self::OpenFolder,
        Self::SyncFolder,
        Self::Unlink,
        Self::BeforeCommit,
        Self::AfterCommit,
        Self::BeforeAcknowledgement,
    ];
}

/// The size of a file system and its free space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceBytes {
    /// Its size.
    pub total: u64,
    /// The space that an ordinary process may still use.
    pub free: u64,
}

/// The operations of the store on files.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Makes one folder. No error if it exists.
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// Creates a file that does not exist.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Renames a file. Replaces an existing file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Opens a folder to sync it. Open it before changing names in it: if there are no descriptors left, nothing has been changed
    /// yet.
    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn DiskFolder>>;
    /// Removes a file.
    fn unlink(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder with all files in it.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder. `false`: it is not empty, or does not exist.
    fn remove_empty_folder(&self, path: &Path) -> io::Result<bool>;
    /// Opens a regular file for reading. A symbolic link, a device or a FIFO in its place is an error ([`is_irregular`]).
    fn open(&self, path: &Path) -> io::Result<File>;
    /// The size of a file in bytes; `None`: it does not exist.
    fn size(&self, path: &Path) -> io::Result<Option<u64>>;
    /// The names in a folder, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// The size and the free space of the file system of `path`.
    fn space(&self, path: &Path) -> io::Result<SpaceBytes>;
    /// Marks a point at which a test can stop a run.
    fn point(&self, point: Failpoint) -> io::Result<()>;
}

/// A file that is written sequentially.
pub trait DiskFile: Send {
    /// Appends all of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes the written bytes durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// An open folder.
pub trait DiskFolder {
    /// Makes the names in it durable. After an error it is unknown which of them are.
    fn sync(&self) -> io::Result<()>;
}

/// The disk of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        match std::fs::create_dir(path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(RealFile(OpenOptions::new().create_new(true).write(true).open(path)?)))
    }

    #[expect(clippy::disallowed_methods, reason = "the only code that renames")]
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn DiskFolder>> {
        Ok(Box::new(RealFolder(File::open(path)?)))
    }

    #[expect(clippy::disallowed_methods, reason = "the only code that unlinks")]
    fn unlink(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir_all(path)
    }

    fn remove_empty_folder(&self, path: &Path) -> io::Result<bool> {
        use io::ErrorKind::{DirectoryNotEmpty, NotADirectory, NotFound};
        match std::fs::remove_dir(path) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), DirectoryNotEmpty | NotADirectory | NotFound) => Ok(false),
            Err(e) => Err(e),
        }
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        // Without `NONBLOCK`, opening a FIFO waits for a writer.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        regular(OpenOptions::new().read(true).custom_flags(flags).open(path))
    }

    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        match std::fs::symlink_metadata(path) {
            Ok(about) => Ok(Some(about.len())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(path)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn space(&self, path: &Path) -> io::Result<SpaceBytes> {
        let about = rustix::fs::statvfs(path)?;
        let bytes = |blocks: u64| blocks.saturating_mul(about.f_frsize);
        Ok(SpaceBytes { total: bytes(about.f_blocks), free: bytes(about.f_bavail) })
    }

    fn point(&self, _: Failpoint) -> io::Result<()> {
        Ok(())
    }
}

/// Something that is not a regular file is in the place of one, or a symbolic link is on the way to it.
#[derive(Debug, thiserror::Error)]
#[error("it is not a regular file, or a symbolic link is on the way to it")]
struct Irregular;

pub(crate) fn irregular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, Irregular)
}

/// Whether an error says that something is not a regular file.
pub fn is_irregular(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Irregular>())
}

/// Whether a symbolic link was not followed.
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// An opened file, if it is a regular one. The file was opened without following a link.
pub(crate) fn regular(opened: io::Result<File>) -> io::Result<File> {
    let file = opened.map_err(|error| if is_loop(&error) { irregular() } else { error })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

struct RealFolder(File);

impl DiskFolder for RealFolder {
    fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}
