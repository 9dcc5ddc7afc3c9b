//! The few things done to files, as a trait, so that a simulated disk can lose what was not synced.
//!
//! SQLite's own files are not among them: SQLite is trusted with those, and [`Disk::point`] marks the moments
//! around its commit.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Where a run can be made to stop: every operation that changes a disk, and the moments around a commit.
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
    /// Giving a file another name.
    Rename,
    /// Opening a folder to sync it.
    OpenFolder,
    /// Syncing a folder's names.
    SyncFolder,
    /// Removing a file.
    Unlink,
    /// Everything is in the transaction, which is not committed.
    BeforeCommit,
    /// The transaction is committed, and no revision is raised.
    AfterCommit,
    /// The revisions are raised, and nobody has been told.
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

/// Size of a file system, and what of it is free for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceBytes {
    /// Its size.
    pub total: u64,
    /// What an ordinary process may still use.
    pub free: u64,
}

/// What the store does to files.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Makes one folder; fine if it exists.
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// Creates a file that does not exist.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file another name, in place of what has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Opens a folder to sync it. Before names in it are changed: a machine without descriptors has then done nothing.
    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn DiskFolder>>;
    /// Removes a name.
    fn unlink(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder with all that is in it.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Opens a file for reading.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Size of a file in bytes; `None`: there is none.
    fn size(&self, path: &Path) -> io::Result<Option<u64>>;
    /// Names in a folder, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Size and free space of the file system that holds `path`.
    fn space(&self, path: &Path) -> io::Result<SpaceBytes>;
    /// A moment at which a run can be made to stop.
    fn point(&self, point: Failpoint) -> io::Result<()>;
}

/// A file that is being written, from its start to its end.
pub trait DiskFile: Send {
    /// Appends all of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes what was written last.
    fn sync(&mut self) -> io::Result<()>;
}

/// A folder that is open.
pub trait DiskFolder {
    /// Makes the names in it last. After an error nobody knows which do.
    fn sync(&self) -> io::Result<()>;
}

/// The machine's disk.
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

    #[expect(clippy::disallowed_methods, reason = "the one place that renames")]
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn DiskFolder>> {
        Ok(Box::new(RealFolder(File::open(path)?)))
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that unlinks")]
    fn unlink(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir_all(path)
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
