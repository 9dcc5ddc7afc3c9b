//! Operations on files, as a trait, so that tests can use a simulated disk that loses what was not synced.
//!
//! SQLite accesses its own files directly. [`Disk::point`] marks the moments around its commits.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
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
    /// Opens a file for reading.
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
        File::open(path)
    }

    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        match std::fs::metadata(path) {
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
