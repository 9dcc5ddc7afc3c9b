//! The layout of the data folder, and the checks before any file in it is changed.
//!
//! ```text
//! DATA/
//!   daylight.lock    held by the one process that works on the folder
//!   collecting.lock  exclusive while blobs are deleted, shared by backups, which need all blobs
//!   version          the version of this layout: `1`
//!   opened-by        the version of the program that opened the folder last, for messages of earlier ones; may be deleted at any time
//!   backed-up        written at the end of each backup, so its time is that of the last one; holds the last change in the backup
//!   reserve          bytes that are set aside for changes and a start on a full disk; may be deleted at any time
//!   node             the identity of this folder: 128 random bits, written once and in no backup
//!   cluster          the id of the cluster whose database has the changes of this folder, if it belongs to one; in no backup
//!   objects          the place in object storage that has the blobs of this folder, if one has them: `s3://BUCKET/PREFIX`. The folder
//!                    `blobs` then has only some of them
//!   truth.sqlite     the truth: current state, journal and notes (with -wal and -shm while it is open)
//!   truth.sqlite.old the truth that a `rebuild` replaced, or that was given up for another history (then .old2 and so on)
//!   given-up-FIRST-LAST-HASH.jsonl  changes of a history that was given up for another one, and given-up-segment-NAME: segments with
//!                    such changes. Nothing reads them
//!   cache.sqlite     facts about upstreams, and their files of at most 64 KiB; may be deleted at any time
//!   cached/NAME/ab/cd/  other files of upstreams, named like blobs. cache.sqlite holds NAME, and the next start removes folders of
//!                    other names. Not synced: a file that does not match its row is fetched again. May be deleted at any time
//!   blobs/
//!     sha256/ab/cd/  blobs, each file named by its whole SHA-256 in hexadecimal
//!     tmp/           blobs that are being written; emptied at start
//!   segments/        the journal as files, at most a second behind: FIRST-LAST-HASH.jsonl, where FIRST and LAST
//!                    are numbers of 20 digits and HASH the first 16 digits of the file's SHA-256. Many small ones become a
//!                    FIRST-LAST-HASH.jsonl.gz, and are removed after that is synced. And FIRST.recent: rows
//!                    that may be in no segment yet, from FIRST on, each with the start of its SHA-256 in front
//!   indexes/ID/      pieces of large indexes of the repository with this number, each file with its SHA-256 in front:
//!                    derived, ignored when damaged, may be deleted at any time
//!   events/          recorded events; the store does not use it. May be deleted while no process works on the folder
//!   events/last-words.json  while a server runs: what it does, each second. It is there at a start if the run before did not end in order
//!   acme/            the account at an authority for certificates, and its certificate; the store does not use it. In no backup
//!   rehearsal/       while an upgrade is rehearsed: a copy of the truth. May be deleted at any time
//!   restoring        while a backup is restored into the folder, which has no `version` until that is done
//!
//! BACKUP/            truth.sqlite (one file, no log beside it), blobs/, segments/ and daylight.lock as above
//!   backup           makes it a backup; holds the version of the layout
//!   objects          as above, if the folder has one: the backup then lacks blobs that were only in object storage
//!   unfinished       until the backup is complete: there may be blobs that the truth does not name
//!   cache.sqlite, cached/  with `--with-cached`
//! ```

use crate::blobs::digest::Digest;
use crate::disk::network_file_system::network_file_system;
use crate::disk::space::Space;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::journal::record::{RepositoryId, Seq};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The version of the layout that this program writes, and the newest that it can read.
pub const FORM: u32 = 1;

/// Names that a folder may contain and still count as empty: files that are made before `version`, a certificate that moved here from another
/// folder, and those of a new file system.
const IGNORED: [&str; 6] = ["daylight.lock", "collecting.lock", "version.new", "events", "acme", "lost+found"];

/// A file that only a backup has.
pub(crate) const MARKER: &str = "backup";
/// A file that a folder has while a backup is restored into it.
const RESTORING: &str = "restoring";

/// The paths in a data folder.
#[derive(Debug, Clone)]
pub struct Layout {
    data: PathBuf,
}

/// No blob is deleted while this exists.
#[derive(Debug)]
pub struct CollectorPause {
    _file: File,
}

/// A file two folders below a root.
#[derive(Debug)]
pub(crate) struct NestedFile {
    /// The folder in the root.
    pub(crate) outer: PathBuf,
    /// The folder inside `outer`.
    pub(crate) inner: PathBuf,
    pub(crate) file: PathBuf,
}

impl Layout {
    /// The paths under `data`.
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

    /// The error where the folder has no truth.
    pub(crate) fn no_truth(&self) -> Error {
        Error::NoTruth { data: self.data.clone(), has_segments: self.segments().is_dir() }
    }

    /// The identity of the folder.
    pub(crate) fn node(&self) -> PathBuf {
        self.data.join("node")
    }

    /// The id of the cluster that the folder belongs to.
    pub(crate) fn cluster(&self) -> PathBuf {
        self.data.join("cluster")
    }

    /// The cache database.
    pub fn cache(&self) -> PathBuf {
        self.data.join("cache.sqlite")
    }

    /// The folder of cached files of upstreams.
    pub fn cached(&self) -> PathBuf {
        self.data.join("cached")
    }

    /// The folder of segments: the journal as files.
    pub fn segments(&self) -> PathBuf {
        self.data.join("segments")
    }

    /// The folder of recorded events.
    pub fn events(&self) -> PathBuf {
        self.data.join("events")
    }

    /// The folder with the account at an authority for certificates (ACME), and its certificate.
    pub fn acme(&self) -> PathBuf {
        self.data.join("acme")
    }

    /// The file in which a server says each second what it does. The next start reads it if the run did not end in order.
    pub fn last_words(&self) -> PathBuf {
        self.events().join("last-words.json")
    }

    /// The folder with a folder of derived files for each repository.
    pub(crate) fn all_derived(&self) -> PathBuf {
        self.data.join("indexes")
    }

    /// A derived file of a repository.
    pub(crate) fn derived(&self, repository: RepositoryId, name: &str) -> NestedFile {
        let outer = self.all_derived();
        let inner = outer.join(repository.0.to_string());
        let file = inner.join(name);
        NestedFile { outer, inner, file }
    }

    /// The folder of a running upgrade rehearsal.
    pub fn rehearsal(&self) -> PathBuf {
        self.data.join("rehearsal")
    }

    /// The file with the place in object storage that has the blobs of this folder.
    pub(crate) fn objects(&self) -> PathBuf {
        self.data.join("objects")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.data.join("blobs")
    }

    pub(crate) fn blobs_by_digest(&self) -> PathBuf {
        self.blobs().join("sha256")
    }

    pub(crate) fn temporary_blobs(&self) -> PathBuf {
        self.blobs().join("tmp")
    }

    /// The file of a blob.
    pub(crate) fn blob(&self, digest: &Digest) -> NestedFile {
        by_digest(&self.blobs_by_digest(), digest)
    }

    fn version(&self) -> PathBuf {
        self.data.join("version")
    }

    /// Makes the folder if it does not exist, and locks it for this process until the returned file is dropped.
    pub(crate) fn lock(&self) -> Result<File> {
        // Only the owner may read the folder: private repositories are private on the machine too.
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

    /// An error unless the folder is absent or empty.
    pub(crate) fn is_free(&self) -> Result<()> {
        let names = match std::fs::exists(&self.data) {
            Ok(false) => return Ok(()),
            _ => RealDisk.list(&self.data).map_err(Error::io("list", &self.data))?,
        };
        if names.iter().any(|name| name == RESTORING) {
            return Err(Error::Unrestored(self.data.clone()));
        }
        match names.into_iter().find(|name| !["daylight.lock", "lost+found"].contains(&name.as_str())) {
            Some(found) => Err(Error::NotEmpty { folder: self.data.clone(), found }),
            None => Ok(()),
        }
    }

    /// Whether the folder is a backup and not a data folder.
    pub(crate) fn is_backup(&self) -> bool {
        self.data.join(MARKER).is_file()
    }

    /// Whether a restore into the folder is running or was interrupted.
    pub(crate) fn is_being_restored(&self) -> bool {
        self.data.join(RESTORING).exists()
    }

    /// Marks the folder as incomplete.
    pub(crate) fn begin_restore(&self, space: &Space) -> Result<()> {
        space.put(&self.data.join("version.new"), &self.data.join(RESTORING), b"")
    }

    /// Marks the folder as complete, which makes it a data folder.
    pub(crate) fn end_restore(&self, disk: &dyn Disk, space: &Space) -> Result<()> {
        let restoring = self.data.join(RESTORING);
        disk.unlink(&restoring).map_err(Error::io("remove", &restoring))?;
        self.claim_as_new(space)
    }

    fn claim_as_new(&self, space: &Space) -> Result<()> {
        space.put(&self.data.join("version.new"), &self.version(), format!("{FORM}\n").as_bytes())
    }

    /// Keeps all blobs from being deleted until the returned value is dropped, even by another process that serves the folder. A
    /// backup calls it before it reads the truth. Waits some milliseconds if blobs are being deleted.
    pub fn pause_collector(&self) -> Result<CollectorPause> {
        let (path, file) = self.collecting_lock()?;
        file.lock_shared().map_err(Error::io("lock", &path))?;
        Ok(CollectorPause { _file: file })
    }

    fn backed_up(&self) -> PathBuf {
        self.data.join("backed-up")
    }

    /// Notes that a backup with all changes through `seq` is complete.
    pub(crate) fn note_backup(&self, seq: Seq) -> io::Result<()> {
        // Nothing is lost with the file, so it is not synced.
        let _ = RealDisk.unlink(&self.backed_up());
        RealDisk.create(&self.backed_up())?.write(format!("{}\n", seq.0).as_bytes())
    }

    /// When the last backup ended, in seconds since 1970; 0 if none is known.
    pub(crate) fn last_backup_seconds(&self) -> u64 {
        let written = std::fs::metadata(self.backed_up()).and_then(|file| file.modified());
        let since = written.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_secs())
    }

    /// The lock for deleting blobs; `None`: a backup needs them to stay.
    pub(crate) fn try_collect(&self) -> Result<Option<File>> {
        let (path, file) = self.collecting_lock()?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(Error::io("lock", &path)(e)),
        }
    }

    fn collecting_lock(&self) -> Result<(PathBuf, File)> {
        let path = self.data.join("collecting.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        Ok((path.clone(), file.map_err(Error::io("open", &path))?))
    }

    /// Checks the version of the folder, or writes it into an empty folder.
    pub(crate) fn claim(&self, disk: &dyn Disk, space: &Space) -> Result<()> {
        let path = self.version();
        let name = path.file_name().unwrap_or_default();
        let found = disk.list(&self.data).map_err(Error::io("list", &self.data))?;
        if found.iter().any(|file| file.as_str() == name) {
            let text = disk.open(&path).and_then(std::io::read_to_string).map_err(Error::io("read", &path))?;
            return match text.trim().parse::<u32>() {
                Ok(FORM) => Ok(()),
                _ => Err(self.too_new("layout", text.trim().to_owned(), FORM)),
            };
        }
        if found.iter().any(|file| file == MARKER) {
            return Err(Error::IsBackup(self.data.clone()));
        }
        if found.iter().any(|file| file == RESTORING) {
            return Err(Error::Unrestored(self.data.clone()));
        }
        if let Some(found) = found.into_iter().find(|file| !IGNORED.contains(&file.as_str())) {
            return Err(Error::Foreign { data: self.data.clone(), found });
        }
        self.claim_as_new(space)
    }
}

/// The file of a digest under `root`.
pub(crate) fn by_digest(root: &Path, digest: &Digest) -> NestedFile {
    let name = digest.to_string();
    let outer = root.join(&name[..2]);
    let inner = outer.join(&name[2..4]);
    let file = inner.join(name);
    NestedFile { outer, inner, file }
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

    fn claim(layout: &Layout) -> Result<()> {
        let space = Space::new(std::sync::Arc::new(RealDisk), layout.data().to_owned(), 0, telemetry::Log::silent());
        layout.claim(&RealDisk, &space)
    }

    #[test]
    fn an_empty_folder_is_claimed_once_and_recognized_again() {
        let (folder, layout) = folder();
        claim(&layout).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("version")).unwrap(), "1\n");
        claim(&layout).unwrap();
    }

    #[test]
    fn a_new_folder_is_readable_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, _) = folder();
        let inner = folder.path().join("inner");
        let _lock = Layout::new(&inner).lock().unwrap();
        assert_eq!(std::fs::metadata(&inner).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "not a file of Daylight")]
    fn a_newer_folder_and_a_foreign_one_are_refused_with_a_hint() {
        let (folder, layout) = folder();
        std::fs::write(folder.path().join("holiday.jpg"), "").unwrap();
        let foreign = claim(&layout).unwrap_err();
        assert!(matches!(&foreign, Error::Foreign { found, .. } if found == "holiday.jpg"));
        std::fs::write(folder.path().join("version"), "2\n").unwrap();
        let newer = claim(&layout).unwrap_err();
        assert!(matches!(&newer, Error::TooNew { found, .. } if found == "2"));
        assert!(newer.to_string().starts_with("a later version of daylight wrote the folder `"), "{newer}");
        assert!(foreign.hint().is_some() && newer.hint().is_some());
    }

    #[test]
    fn nothing_is_collected_while_somebody_needs_the_blobs() {
        let (_folder, layout) = folder();
        let pauses = [layout.pause_collector().unwrap(), layout.pause_collector().unwrap()];
        assert!(layout.try_collect().unwrap().is_none());
        drop(pauses);
        assert!(layout.try_collect().unwrap().is_some());
    }

    #[test]
    fn a_folder_is_locked_by_one_at_a_time_and_the_error_names_it() {
        let (folder, layout) = folder();
        let held = layout.lock().unwrap();
        let error = layout.lock().unwrap_err();
        assert!(error.to_string().contains(&folder.path().display().to_string()));
        assert!(!error.hint().unwrap().contains("uses"), "the error says it");
        drop(held);
        layout.lock().unwrap();
    }
}
