//! The tree of the data folder, and what must be so before anything in it is touched.
//!
//! ```text
//! DATA/
//!   daylight.lock    held by the one process that works on the folder
//!   version          the form of all this: `1`
//!   truth.sqlite     who has what, and the journal (with -wal and -shm while it is open)
//!   truth.sqlite.old the truth that a `rebuild` replaced (then .old2 and so on)
//!   cache.sqlite     what upstreams said; may be deleted at any time
//!   cached/NAME/ab/cd/  files of upstreams, named like blobs; NAME is in cache.sqlite, and what has another goes at the next
//!                    start. Not synced: what is not what its row says is fetched again. May be deleted at any time
//!   blobs/
//!     sha256/ab/cd/  bytes, each file named by its whole SHA-256 in hexadecimal
//!     tmp/           bytes that are arriving; emptied at start
//!   segments/        the journal as files, a second behind at most: FIRST-LAST-HASH.jsonl, where FIRST and LAST
//!                    are numbers of 20 digits and HASH the first 16 digits of the file's SHA-256
//!   indexes/ID/      what large indexes of the repository of this number are put together from, each file with its
//!                    SHA-256 in front: derived, never believed when wrong, may be deleted at any time
//!   events/          recorded events; not the store's
//! ```

use crate::disk::Disk;
use crate::space::Space;
use crate::{Digest, Error, RepositoryId};
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The form of the folder that this version writes, and the newest that it reads.
pub const FORM: u32 = 1;

/// What an empty folder may hold: what is made before the version is, and what a new file system has.
const HARMLESS: [&str; 4] = ["daylight.lock", "version.new", "events", "lost+found"];

/// Where everything is.
#[derive(Debug, Clone)]
pub struct Layout {
    data: PathBuf,
}

impl Layout {
    /// The tree under `data`.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into() }
    }

    /// The folder itself.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The truth database.
    pub fn truth(&self) -> PathBuf {
        self.data.join("truth.sqlite")
    }

    /// The cache database.
    pub fn cache(&self) -> PathBuf {
        self.data.join("cache.sqlite")
    }

    /// Files of upstreams.
    pub fn cached(&self) -> PathBuf {
        self.data.join("cached")
    }

    /// The journal as files.
    pub fn segments(&self) -> PathBuf {
        self.data.join("segments")
    }

    /// Recorded events.
    pub fn events(&self) -> PathBuf {
        self.data.join("events")
    }

    /// The two folders above a derived file, outer first, and the file.
    pub(crate) fn derived(&self, repository: RepositoryId, name: &str) -> (PathBuf, PathBuf, PathBuf) {
        let outer = self.data.join("indexes");
        let inner = outer.join(repository.0.to_string());
        let file = inner.join(name);
        (outer, inner, file)
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.data.join("blobs")
    }

    pub(crate) fn blobs_by_digest(&self) -> PathBuf {
        self.blobs().join("sha256")
    }

    pub(crate) fn arriving(&self) -> PathBuf {
        self.blobs().join("tmp")
    }

    /// The two folders above a blob, outer first, and the blob.
    pub(crate) fn blob(&self, digest: &Digest) -> (PathBuf, PathBuf, PathBuf) {
        by_digest(&self.blobs_by_digest(), digest)
    }

    fn version(&self) -> PathBuf {
        self.data.join("version")
    }

    /// Makes the folder where it does not exist, and takes it for this process until the file is dropped.
    pub(crate) fn lock(&self) -> Result<File, Error> {
        // A folder that we make is for its owner alone: what is private in a repository is private on the machine.
        let mut maker = std::fs::DirBuilder::new();
        maker.recursive(true).mode(0o700).create(&self.data).map_err(Error::io("make", &self.data))?;
        let statfs = rustix::fs::statfs(&self.data).map_err(|e| Error::io("look at", &self.data)(e.into()))?;
        if let Some(kind) = network_file_system(statfs.f_type as u32) {
            return Err(Error::Network { data: self.data.clone(), kind });
        }
        let path = self.data.join("daylight.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Error::Locked(self.data.clone())),
            Err(TryLockError::Error(e)) => Err(Error::io("lock", &path)(e)),
        }
    }

    /// Reads the form of the folder, or writes it into an empty one.
    pub(crate) fn claim(&self, disk: &dyn Disk, space: &Space) -> Result<(), Error> {
        let path = self.version();
        let name = path.file_name().unwrap_or_default();
        let found = disk.list(&self.data).map_err(Error::io("list", &self.data))?;
        if found.iter().any(|file| file.as_str() == name) {
            let text = disk.open(&path).and_then(std::io::read_to_string).map_err(Error::io("read", &path))?;
            return match text.trim().parse::<u32>() {
                Ok(FORM) => Ok(()),
                _ => Err(Error::TooNew { data: self.data.clone(), found: text.trim().to_owned(), known: FORM }),
            };
        }
        if let Some(found) = found.into_iter().find(|file| !HARMLESS.contains(&file.as_str())) {
            return Err(Error::Foreign { data: self.data.clone(), found });
        }
        space.put(&self.data.join("version.new"), &path, format!("{FORM}\n").as_bytes())
    }
}

/// The two folders above the file of a digest, outer first, and the file.
pub(crate) fn by_digest(root: &Path, digest: &Digest) -> (PathBuf, PathBuf, PathBuf) {
    let name = digest.to_string();
    let outer = root.join(&name[..2]);
    let inner = outer.join(&name[2..4]);
    let file = inner.join(name);
    (outer, inner, file)
}

/// Its name, where the magic number of a file system (statfs(2)) is that of a network's. 9p and FUSE are let through:
/// virtual machines and containers have their local disks behind them.
fn network_file_system(magic: u32) -> Option<&'static str> {
    match magic {
        0x6969 => Some("NFS"),
        0x517b => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0xfe53_4d42 => Some("SMB2"),
        0x00c3_6400 => Some("Ceph"),
        0x5346_414f => Some("AFS"),
        0x0bd0_0bd0 => Some("Lustre"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    fn folder() -> (tempfile::TempDir, Layout) {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        (folder, layout)
    }

    fn claim(layout: &Layout) -> Result<(), Error> {
        let space = Space::new(std::sync::Arc::new(RealDisk), layout.data().to_owned(), 0, telemetry::Log::silent());
        layout.claim(&RealDisk, &space)
    }

    #[test]
    fn an_empty_folder_is_claimed_once_and_known_again() {
        let (folder, layout) = folder();
        claim(&layout).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("version")).unwrap(), "1\n");
        claim(&layout).unwrap();
    }

    #[test]
    fn a_folder_that_is_made_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, _) = folder();
        let inner = folder.path().join("inner");
        let _lock = Layout::new(&inner).lock().unwrap();
        assert_eq!(std::fs::metadata(&inner).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a file that is not ours")]
    fn a_newer_folder_and_one_that_is_not_ours_are_refused_with_a_hint() {
        let (folder, layout) = folder();
        std::fs::write(folder.path().join("holiday.jpg"), "").unwrap();
        let foreign = claim(&layout).unwrap_err();
        assert!(matches!(&foreign, Error::Foreign { found, .. } if found == "holiday.jpg"));
        std::fs::write(folder.path().join("version"), "2\n").unwrap();
        let newer = claim(&layout).unwrap_err();
        assert!(matches!(&newer, Error::TooNew { found, .. } if found == "2"));
        assert!(foreign.hint().is_some() && newer.hint().is_some());
    }

    #[test]
    fn a_folder_is_held_by_one_at_a_time_and_the_error_names_it() {
        let (folder, layout) = folder();
        let held = layout.lock().unwrap();
        let error = layout.lock().unwrap_err();
        assert!(error.to_string().contains(&folder.path().display().to_string()));
        assert!(error.hint().unwrap().contains("another daylight is running on it"));
        drop(held);
        layout.lock().unwrap();
    }

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        assert_eq!(network_file_system(0x6969), Some("NFS"));
        assert_eq!(network_file_system(0xef53), None, "ext4");
        assert_eq!(network_file_system(0x0102_1997), None, "9p");
    }
}
