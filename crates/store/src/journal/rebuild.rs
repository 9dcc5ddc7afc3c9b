//! Rebuilds the truth from the segments and the log of recent rows: after it was lost or damaged, or to prove that this works.

use crate::blobs::orphans::{Orphans, find_orphans};
use crate::disk::database_files::{free_name, remove_database, with_suffix};
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::journal::recent_rows::{self, logged};
use crate::journal::record::Seq;
use crate::journal::segments::{self, Segment};
use crate::store::progress::Progress;
use crate::truth::catalog::Catalog;
use crate::truth::sqlite::Sqlite;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use telemetry::Log;

/// The result of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// The last change in the segments or in the log of recent rows, and now in the truth.
    pub last: Seq,
    /// Blobs that no row refers to. They include blobs that only the lost truth referred to.
    pub orphans: Orphans,
    /// The new path of the replaced truth, if there was one.
    pub replaced: Option<PathBuf>,
}

/// Replays every segment of the folder `data`, and then the log of recent rows, into a new truth. The new truth replaces the old one,
/// which is kept as `truth.sqlite.old` (or `.old2` and so on). Rows of the old truth that are in no segment are shipped first, so that
/// an unnecessary rebuild loses nothing. Parses no package.
pub fn rebuild(data: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Rebuilt> {
    let layout = Layout::new(data);
    if !layout.segments().is_dir() {
        return Err(Error::NoSegments(data.to_owned()));
    }
    rebuild_on(Arc::new(RealDisk), &layout, progress)
}

/// [`rebuild`] on any disk. The truth itself is always on the real one, because SQLite accesses its own files.
pub(crate) fn rebuild_on(disk: Arc<dyn Disk>, layout: &Layout, progress: &mut dyn FnMut(Progress)) -> Result<Rebuilt> {
    let data = layout.data();
    let _lock = layout.lock()?;
    let space = Space::new(disk.clone(), data.to_owned(), 0, Log::silent());
    let disk = &*disk;
    layout.claim(disk, &space)?;
    ship_rest(disk, layout, &space)?;
    let segments = segments::list(disk, layout)?;
    let recent = logged(disk, layout)?;
    let end = recent.last().map(|(seq, _)| *seq).max(segments.last().map(|segment| segment.last));
    let end = end.ok_or_else(|| Error::NoSegments(data.to_owned()))?;

    let new = with_suffix(&layout.truth(), ".new");
    let old = free_name(&layout.truth())?;
    remove_database(&new)?;
    let mut truth: Box<dyn Catalog> = Box::new(Sqlite::writer(&new)?);
    let mut count = |last: Seq| progress(Progress { done: last.0, total: end.0, of: "rows" });
    replay_segments(&mut *truth, disk, layout, &segments, &mut count)?;
    let shipped = truth.last()?;
    replay_recent(&mut *truth, recent)?;
    let last = truth.last()?;
    if last > shipped {
        count(last);
    }
    let orphans = find_orphans(&mut *truth, disk, layout, progress)?;
    truth.close()?;
    std::fs::File::open(&new).and_then(|file| file.sync_all()).map_err(Error::io("sync", &new))?;

    // The old write-ahead log must never be beside the new database: SQLite would replay it. So the old files are renamed first,
    // the database before its log. After a crash in between there is no truth. The segments then distinguish the folder from an
    // empty one, and the next rebuild starts over.
    let replaced = layout.truth().exists().then(|| old.clone());
    for suffix in ["", "-wal"] {
        let from = with_suffix(&layout.truth(), suffix);
        if RealDisk.size(&from).map_err(Error::io("look at", &from))?.is_some() {
            RealDisk.rename(&from, &with_suffix(&old, suffix)).map_err(Error::io("rename", &from))?;
        }
    }
    remove_database(&with_suffix(&layout.truth(), "-shm"))?;
    RealDisk.open_folder(data).and_then(|folder| folder.sync()).map_err(Error::io("sync", data))?;
    RealDisk.rename(&new, &layout.truth()).map_err(Error::io("rename", &new))?;
    RealDisk.open_folder(data).and_then(|folder| folder.sync()).map_err(Error::io("sync", data))?;
    if last < end {
        recent_rows::put_aside(disk, layout, last)?;
    }
    Ok(Rebuilt { last, orphans, replaced })
}

/// Replays the rows of segments after the last one of the truth, each segment in a transaction of its own.
pub(crate) fn replay_segments(
    truth: &mut dyn Catalog,
    disk: &dyn Disk,
    layout: &Layout,
    segments: &[Segment],
    progress: &mut dyn FnMut(Seq),
) -> Result<()> {
    for segment in segments {
        let last = truth.last()?;
        if segment.last > last {
            let rows = segment.rows(&segment.read(disk, layout)?)?;
            let known = rows.partition_point(|row| row.seq <= last);
            truth.replay(&rows[known..])?;
            progress(segment.last);
        }
    }
    Ok(())
}

/// Replays the logged rows that follow the last one of the truth. A gap is caused by rows that could not be logged, for example because the
/// disk was full. Nothing after it can be replayed.
pub(crate) fn replay_recent(truth: &mut dyn Catalog, recent: Vec<(Seq, String)>) -> Result<()> {
    let last = truth.last()?;
    let rest = recent.into_iter().filter(|(seq, _)| *seq > last);
    let rest = rest.zip(last.0 + 1..).take_while(|((seq, _), next)| seq.0 == *next);
    let rows = rest.map(|((seq, row), _)| serde_json::from_str(&row).map_err(Error::row(seq)));
    truth.replay(&rows.collect::<Result<Vec<_>, _>>()?)
}

/// Ships the rows that only the old truth has, as far as they can be read. The old truth may be damaged.
fn ship_rest(disk: &dyn Disk, layout: &Layout, space: &Space) -> Result<()> {
    let mut after = segments::last_row(&segments::list(disk, layout)?);
    let mut old = match Sqlite::reader(&layout.truth()) {
        Ok(old) => old,
        Err(error @ Error::TooNew { .. }) => return Err(error),
        Err(_) => return Ok(()),
    };
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
