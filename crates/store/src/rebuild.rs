//! Makes the truth again from the segments: for when it was lost, damaged, or is to be proved.

use crate::disk::{Disk, RealDisk};
use crate::layout::Layout;
use crate::space::Space;
use crate::unnamed::{Unnamed, unnamed};
use crate::{Catalog, Error, Seq, Sqlite, segments};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use telemetry::Log;

/// What a rebuild made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// The last change that the segments hold, and the truth now.
    pub last: Seq,
    /// Blobs that no row names: what was in the lost truth alone is among them.
    pub unnamed: Unnamed,
}

/// How far something long is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Done so far.
    pub done: u64,
    /// Done at the end.
    pub total: u64,
    /// Of what: `rows`, `blobs`.
    pub of: &'static str,
}

/// Replays every segment of the folder `data` into a new truth and puts it in place of the old one, which stays
/// beside it as `truth.sqlite.old` (or `.old2` and so on). What the old one can still tell beyond the segments is shipped first, so that a
/// rebuild without need loses nothing. Parses no package.
pub fn rebuild(data: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Rebuilt, Error> {
    let layout = Layout::new(data);
    if !layout.segments().is_dir() {
        return Err(Error::NoSegments(data.to_owned()));
    }
    let _lock = layout.lock()?;
    let disk = RealDisk;
    let space = Space::new(Arc::new(disk), data.to_owned(), 0, Log::silent());
    layout.claim(&disk, &space)?;
    save(&disk, &layout, &space)?;
    let segments = segments::list(&disk, &layout)?;
    let end = segments.last().ok_or_else(|| Error::NoSegments(data.to_owned()))?.last;

    let new = with(&layout.truth(), ".new");
    let old = aside(&layout.truth())?;
    remove(&new)?;
    let mut truth = Sqlite::writer(&new)?;
    let mut last = Seq(0);
    for segment in &segments {
        let rows = segment.rows(&segment.read(&disk, &layout)?)?;
        truth.replay(&rows)?;
        last = segment.last;
        progress(Progress { done: last.0, total: end.0, of: "rows" });
    }
    let unnamed = unnamed(&truth, &disk, &layout, progress)?;
    truth.close()?;
    std::fs::File::open(&new).and_then(|file| file.sync_all()).map_err(Error::io("sync", &new))?;

    // The old write-ahead log must never meet the new database: SQLite would play it into that. So the old ones go
    // aside first, the database before its log; a crash between leaves no truth, which `Store::open` tells from an
    // empty one by the segments, and the next rebuild begins anew.
    for suffix in ["", "-wal"] {
        let from = with(&layout.truth(), suffix);
        if disk.size(&from).map_err(Error::io("look at", &from))?.is_some() {
            disk.rename(&from, &with(&old, suffix)).map_err(Error::io("rename", &from))?;
        }
    }
    remove(&with(&layout.truth(), "-shm"))?;
    disk.open_folder(data).and_then(|folder| folder.sync()).map_err(Error::io("sync", data))?;
    disk.rename(&new, &layout.truth()).map_err(Error::io("rename", &new))?;
    disk.open_folder(data).and_then(|folder| folder.sync()).map_err(Error::io("sync", data))?;
    Ok(Rebuilt { last, unnamed })
}

/// Ships what only the old truth holds, as far as it can be read: it may be what is broken.
fn save(disk: &RealDisk, layout: &Layout, space: &Space) -> Result<(), Error> {
    let mut after = segments::reached(&segments::list(disk, layout)?);
    let Ok(mut old) = Sqlite::reader(&layout.truth()) else { return Ok(()) };
    let Ok(last) = old.last() else { return Ok(()) };
    loop {
        match segments::ship(&old, space, layout, after, last) {
            Ok(Some((reached, _))) => after = reached,
            Ok(None) | Err(Error::Sqlite { .. } | Error::Gap { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// A name that is free, so that no truth that was ever replaced is lost by rebuilding again.
fn aside(truth: &Path) -> Result<PathBuf, Error> {
    let mut count = 1;
    loop {
        let name = if count == 1 { ".old".to_owned() } else { format!(".old{count}") };
        let path = with(truth, &name);
        if RealDisk.size(&path).map_err(Error::io("look at", &path))?.is_none() {
            return Ok(path);
        }
        count += 1;
    }
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// A database with what SQLite puts beside it, where they exist.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    for path in ["", "-wal", "-shm"].map(|suffix| with(path, suffix)) {
        if RealDisk.size(&path).map_err(Error::io("look at", &path))?.is_some() {
            RealDisk.unlink(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}
