//! The files that are kept of upstreams: whether their bytes are those that arrived. What is damaged is fetched again when it is read
//! next, so it is told and no loss.

use super::{Problem, Report, sha256};
use crate::disk::Disk;
use crate::layout::{Layout, by_digest};
use crate::rebuild::Progress;
use crate::{Digest, Error};
use rusqlite::{Connection, OpenFlags};

/// Where not all are read: so many of them, about, wherever they lie in the order of their digests.
const SAMPLE: usize = 256;
/// Where not all are read, none of more bytes than this is.
const SAMPLE_MAX_BYTES: u64 = 16 << 20;

/// Reads all of them, or a sample that is another each time. A cache that cannot be read is made anew at the next start, and no problem.
pub(super) fn kept(
    disk: &dyn Disk,
    layout: &Layout,
    all: bool,
    report: &mut Report,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Error> {
    if !layout.cache().is_file() {
        return Ok(());
    }
    let Ok((name, files)) = rows(layout) else { return Ok(()) };
    let folder = layout.cached().join(name);
    let step = if all { 1 } else { files.len().div_ceil(SAMPLE).max(1) };
    let mut drawn = [0; 8];
    // Without a random number it is the first sample each time.
    let _ = getrandom::fill(&mut drawn);
    let first = usize::try_from(u64::from_le_bytes(drawn) % step as u64).unwrap_or_default();
    report.kept = files.len() as u64;
    for (digest, size, path) in files.into_iter().skip(first).step_by(step) {
        let (_, _, file) = by_digest(&folder, &digest);
        // What is not there, or is cut, is not believed: it is fetched again.
        let there = disk.size(&file).map_err(Error::io("look at", &file))? == Some(size);
        if there && (all || size <= SAMPLE_MAX_BYTES) {
            let found = disk.open(&file).and_then(sha256).map_err(Error::io("read", &file))?;
            if found != digest.to_string() {
                report.problems.push(Problem::KeptDamaged { path, digest, found });
            }
            report.kept_read += 1;
        }
        progress(Progress { done: report.kept_read, total: report.kept, of: "files of upstreams" });
    }
    Ok(())
}

/// The digest of a file, its size in bytes, and a path that it is kept for.
type Kept = (Digest, u64, String);

/// The folder of the files, and each of them.
fn rows(layout: &Layout) -> rusqlite::Result<(String, Vec<Kept>)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let cache = Connection::open_with_flags(layout.cache(), flags)?;
    let name = cache.query_row("SELECT name FROM shelf", [], |row| row.get(0))?;
    let mut statement = cache.prepare("SELECT sha256, size, min(path) FROM file GROUP BY sha256")?;
    let row = |row: &rusqlite::Row<'_>| {
        Ok((Digest(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned(), row.get::<_, String>(2)?))
    };
    let files = statement.query_map([], row)?.collect::<rusqlite::Result<_>>()?;
    Ok((name, files))
}
