//! Makes the truth again from the segments: after it was lost or damaged, or to prove that this works.

use crate::catalog::Catalog;
use crate::database_files::{free_name, remove_database, with_suffix};
use crate::disk::{Disk, RealDisk};
use crate::error::Error;
use crate::layout::Layout;
use crate::orphans::{Orphans, find_orphans};
use crate::progress::Progress;
use crate::record::Seq;
use crate::segments;
use crate::space::Space;
use crate::sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;
use telemetry::Log;

/// The result of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// The last change in the segments, and now in the truth.
    pub last: Seq,
    /// Blobs that no row refers to. Those that only the lost truth referred to are among them.
    pub orphans: Orphans,
}

/// Replays every segment of the folder `data` into a new truth and puts it in place of the old one, which is kept as
/// `truth.sqlite.old` (or `.old2` and so on). Rows of the old truth that are in no segment are shipped first, so that an unnecessary
/// rebuild loses nothing. Parses no package.
pub fn rebuild(data: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Rebuilt, Error> {
    let layout = Layout::new(data);
    if !layout.segments().is_dir() {
        return Err(Error::NoSegments(data.to_owned()));
    }
    let _lock = layout.lock()?;
    let disk = RealDisk;
    let space = Space::new(Arc::new(disk), data.to_owned(), 0, Log::silent());
    layout.claim(&disk, &space)?;
    ship_rest(&disk, &layout, &space)?;
    let segments = segments::list(&disk, &layout)?;
    let end = segments.last().ok_or_else(|| Error::NoSegments(data.to_owned()))?.last;

    let new = with_suffix(&layout.truth(), ".new");
    let old = free_name(&layout.truth())?;
    remove_database(&new)?;
    let mut truth: Box<dyn Catalog> = Box::new(Sqlite::writer(&new)?);
    let mut last = Seq(0);
    for segment in &segments {
        let rows = segment.rows(&segment.read(&disk, &layout)?)?;
        truth.replay(&rows)?;
        last = segment.last;
        progress(Progress { done: last.0, total: end.0, of: "rows" });
    }
    let orphans = find_orphans(&mut *truth, &disk, &layout, progress)?;
    truth.close()?;
    std::fs::File::open(&new).and_then(|file| file.sync_all()).map_err(Error::io("sync", &new))?;

    // The old write-ahead log must never stand beside the new database: SQLite would replay it into that. So the old files are
    // renamed first, the database before its log. A crash in between leaves no truth. `Store::open` tells that from an empty folder
    // by the segments, and the next rebuild starts over.
    for suffix in ["", "-wal"] {
        let from = with_suffix(&layout.truth(), suffix);
        if disk.size(&from).map_err(Error::io("look at", &from))?.is_some() {
            disk.rename(&from, &with_suffix(&old, suffix)).map_err(Error::io("rename", &from))?;
        }
    }
    remove_database(&with_suffix(&layout.truth(), "-shm"))?;
    disk.open_folder(data).and_then(|folder| folder.sync()).map_err(Error::io("sync", data))?;
    disk.rename(&new, &layout.truth()).map_err(Error::io("rename", &new))?;
    disk.open_folder(data).and_then(|folder| folder.sync()).map_err(Error::io("sync", data))?;
    Ok(Rebuilt { last, orphans })
}

/// Ships the rows that only the old truth has, as far as they can be read. The old truth may be damaged.
fn ship_rest(disk: &RealDisk, layout: &Layout, space: &Space) -> Result<(), Error> {
    let mut after = segments::last_row(&segments::list(disk, layout)?);
    let Ok(mut old) = Sqlite::reader(&layout.truth()) else { return Ok(()) };
    let old: &mut dyn Catalog = &mut old;
    let Ok(last) = old.last() else { return Ok(()) };
    loop {
        match segments::ship(old, space, layout, after, last) {
            Ok(Some(shipped)) => after = shipped.last,
            Ok(None) | Err(Error::Sqlite { .. } | Error::Gap { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
