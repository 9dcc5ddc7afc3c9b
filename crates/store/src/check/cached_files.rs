//! Checks the bytes of cached files of upstreams. A damaged file is harmless, because the next request downloads it again.

use super::problem::{Problem, Report};
use super::sha256;
use crate::blobs::digest::{Digest, hex};
use crate::cache::{SMALL, read_small};
use crate::disk::Disk;
use crate::disk::layout::{Layout, by_digest};
use crate::error::{Error, Result};
use crate::store::progress::Progress;
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest as _, Sha256};

/// The approximate number of files in a sample. They are spread over all digests.
const SAMPLE: usize = 256;
/// The size of the largest file in a sample.
const SAMPLE_MAX_BYTES: u64 = 16 << 20;

/// Reads all files, or a random sample. An unreadable cache is no problem: the next start replaces it.
pub(super) fn check_cached_files(
    disk: &dyn Disk,
    layout: &Layout,
    all: bool,
    report: &mut Report,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    if !matches!(disk.size(&layout.cache()), Ok(Some(_))) {
        return Ok(());
    }
    let Ok((cache, name, files)) = rows(layout) else { return Ok(()) };
    let folder = layout.cached().join(name);
    let step = if all { 1 } else { files.len().div_ceil(SAMPLE).max(1) };
    let mut random = [0; 8];
    // Without a random number the sample is always the same.
    let _ = getrandom::fill(&mut random);
    let first = usize::try_from(u64::from_le_bytes(random) % step as u64).unwrap_or_default();
    report.cached_files = files.len() as u64;
    for CachedRow { digest, size_bytes, path } in files.into_iter().skip(first).step_by(step) {
        // A cache of Daylight 0.1.0 has no small files in its database.
        let small = if size_bytes <= SMALL { read_small(&cache, &digest).ok().flatten() } else { None };
        let file = by_digest(&folder, &digest).file;
        let found = match small {
            Some(bytes) => Some(hex(&Sha256::digest(&bytes))),
            // A file that is missing or truncated is no problem: it is downloaded again.
            None if matches!(disk.size(&file), Ok(Some(size)) if size == size_bytes)
                && (all || size_bytes <= SAMPLE_MAX_BYTES) =>
            {
                Some(disk.open(&file).and_then(sha256).map_err(Error::io("read", &file))?)
            }
            None => None,
        };
        if let Some(found) = found {
            if found != digest.to_string() {
                report.problems.push(Problem::CachedFileDamaged { path, digest, found });
            }
            report.cached_files_read += 1;
        }
        progress(Progress { done: report.cached_files_read, total: report.cached_files, of: "files of upstreams" });
    }
    Ok(())
}

struct CachedRow {
    digest: Digest,
    size_bytes: u64,
    /// One of the paths for which the file is cached.
    path: String,
}

/// The database, the name of the folder with the files, and their rows.
fn rows(layout: &Layout) -> rusqlite::Result<(Connection, String, Vec<CachedRow>)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let cache = Connection::open_with_flags(layout.cache(), flags)?;
    let name = cache.query_row("SELECT name FROM shelf", [], |row| row.get(0))?;
    let mut statement = cache.prepare("SELECT sha256, size, min(path) FROM file GROUP BY sha256")?;
    let row = |row: &rusqlite::Row<'_>| {
        let size_bytes = row.get::<_, i64>(1)?.cast_unsigned();
        Ok(CachedRow { digest: Digest(row.get(0)?), size_bytes, path: row.get(2)? })
    };
    let files = statement.query_map([], row)?.collect::<rusqlite::Result<_>>()?;
    drop(statement);
    Ok((cache, name, files))
}
