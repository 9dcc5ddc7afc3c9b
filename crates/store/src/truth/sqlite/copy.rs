//! Copies a database in its state at one moment, also while other processes write to it.

use super::connection::Sqlite;
use super::schema;
use crate::disk::database_files::remove_database;
use crate::error::{Error, Result};
use crate::store::progress::Progress;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// The file operations of SQLite without its locks, which network file systems may not have. No other process uses a copy.
pub(crate) const WITHOUT_LOCKS: &str = "unix-none";
/// Pages that are copied between two syncs: 1 MB. With a single sync at the end, every sync of a server on the same disk would
/// wait for it.
const PAGES: i32 = 256;
/// The offset of the bytes that declare whether readers and writers need a write-ahead log: 2, or 1 for none.
const VERSIONS_AT: u64 = 18;

impl Sqlite {
    /// Opens a copy that [`copy_database`] made. No process writes to it, so no lock is taken and no other file is made.
    pub(crate) fn copied(path: &Path) -> Result<Self> {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        // With this flag no folder on the way may be a link either, and the user may have named a folder by one.
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        let path = folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name));
        let opened = Connection::open_with_flags_and_vfs(&path, flags, WITHOUT_LOCKS);
        let opened = opened.map_err(Error::sqlite("open the copy of the truth"))?;
        schema::refuse_newer(&opened, &path)?;
        Ok(Self::with(opened))
    }
}

/// Copies a database to a path where no file exists, as one synced file. Writers of the database do not wait.
pub(crate) fn copy_database(from: &Path, to: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    let failed = Error::sqlite("copy a database");
    remove_database(to)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(&failed)?;
    // The transaction fixes the moment: without it, a write by another process would restart the copy.
    let begin = "PRAGMA busy_timeout = 5000; BEGIN; SELECT count(*) FROM sqlite_schema;";
    source.execute_batch(begin).map_err(&failed)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags_and_vfs(to, flags, WITHOUT_LOCKS).map_err(&failed)?;
    // An interrupted copy is made again, so it needs no journal. It is synced below.
    let pragmas = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;";
    copy.execute_batch(pragmas).map_err(&failed)?;
    let written = File::open(to).map_err(Error::io("open", to))?;
    let backup = Backup::new(&source, &mut copy).map_err(&failed)?;
    loop {
        let step = backup.step(PAGES).map_err(&failed)?;
        let pages = backup.progress();
        let total = u64::try_from(pages.pagecount).unwrap_or_default();
        let done = total.saturating_sub(u64::try_from(pages.remaining).unwrap_or_default());
        progress(Progress { done, total, of: "pages" });
        written.sync_data().map_err(Error::io("sync", to))?;
        if step == StepResult::Done {
            break;
        }
    }
    drop(backup);
    copy.close().map_err(|(_, error)| failed(error))?;
    without_log(to).map_err(Error::io("write", to))
}

/// Marks the copy as readable without a write-ahead log, which would be another file, and syncs it. A writer enables the log
/// again.
fn without_log(path: &Path) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut versions = [0; 2];
    file.seek(SeekFrom::Start(VERSIONS_AT))?;
    file.read_exact(&mut versions)?;
    if versions == [2, 2] {
        file.seek(SeekFrom::Start(VERSIONS_AT))?;
        file.write_all(&[1, 1])?;
    }
    file.sync_all()
}
