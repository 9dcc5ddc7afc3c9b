//! Copies the cached files of upstreams. They may change meanwhile: a file that does not match its row is downloaded again.

use super::files::{Outcome, Transfer, Wanted, blob_files};
use crate::blobs::files::names;
use crate::disk::database_files::with_suffix;
use crate::disk::layout::{Layout, by_digest};
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::store::progress::Progress;
use crate::truth::sqlite::{WITHOUT_LOCKS, copy_database};
use rusqlite::{Connection, OpenFlags};
use std::collections::HashSet;
use std::path::Path;

/// Copies the cache database, which has the small files, and the other files, removes other files from the backup, and returns the number of files.
pub(crate) fn copy_cached(
    from: &Layout,
    to: &Layout,
    transfer: &Transfer<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64> {
    let disk = transfer.source();
    if disk.size(&from.cache()).map_err(Error::io("look at", &from.cache()))?.is_none() {
        return Ok(0);
    }
    let new = with_suffix(&to.cache(), ".new");
    if from.is_backup() {
        // Nothing writes to this database, and its file system may have no locks.
        super::copy_file(disk, &from.cache(), &new)?;
    } else {
        copy_database(&from.cache(), &new, &mut |_| ())?;
    }
    let (source, copy) = (from.cached(), to.cached());
    RealDisk.make_folder(&copy).map_err(Error::io("make", &copy))?;
    let mut kept = small_files(&new);
    let now = names(disk, &source)?;
    for name in &now {
        let (source, copy) = (source.join(name), copy.join(name));
        RealDisk.make_folder(&copy).map_err(Error::io("make", &copy))?;
        let files = blob_files(disk, &source)?;
        let mut present = HashSet::new();
        for (done, (digest, path)) in files.iter().enumerate() {
            let Some(digest) = digest else { continue };
            let wanted = Wanted { path, digest, size_bytes: None };
            match transfer.file(wanted, &by_digest(&copy, digest), true)? {
                Outcome::New | Outcome::Present => drop(present.insert(*digest)),
                // A file that is evicted meanwhile is missing, which is harmless, and a damaged one is downloaded again.
                Outcome::Missing | Outcome::Refused(_) => {}
            }
            progress(Progress { done: done as u64 + 1, total: files.len() as u64, of: "cached" });
        }
        for (digest, path) in blob_files(&RealDisk, &copy)? {
            if digest.is_none_or(|digest| !present.contains(&digest)) {
                RealDisk.unlink(&path).map_err(Error::io("remove", &path))?;
            }
        }
        kept += present.len() as u64;
    }
    for name in names(&RealDisk, &copy)?.iter().filter(|name| !now.contains(name)) {
        let folder = copy.join(name);
        RealDisk.remove_folder(&folder).map_err(Error::io("remove", &folder))?;
    }
    super::put(&new, &to.cache())?;
    Ok(kept)
}

/// How many small files a cache database has. 0 for one of Daylight 0.1.0, and for one that cannot be read, which the next start
/// replaces.
fn small_files(cache: &Path) -> u64 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let count = |database: Connection| database.query_row("SELECT count(*) FROM small", [], |row| row.get::<_, i64>(0));
    Connection::open_with_flags_and_vfs(cache, flags, WITHOUT_LOCKS).and_then(count).map_or(0, i64::cast_unsigned)
}
