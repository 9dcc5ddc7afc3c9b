//! Opens the truth, which must have every change of the segments and of the log of recent rows.

use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::journal::rebuild::{replay_recent, replay_segments};
use crate::journal::recent_rows::logged;
use crate::journal::record::Seq;
use crate::journal::segments::{self, Segment};
use crate::truth::catalog::JournalReads as _;
use crate::truth::sqlite::{Sqlite, rows_to_fill};
use telemetry::{Log, Tick};

/// The truth, and the segments of the folder.
pub(super) struct Opened {
    pub(super) truth: Sqlite,
    pub(super) segments: Vec<Segment>,
}

/// `is_copy`: a database has every change, so changes that the truth has lost are no loss. They are taken from the files of the folder as far
/// as possible, which may have changes that a database lost.
pub(super) fn open_truth(
    disk: &dyn Disk,
    vfs: Option<&str>,
    layout: &Layout,
    space: &Space,
    log: &Log,
    is_copy: bool,
) -> Result<Opened> {
    space.make_folder(&layout.segments())?;
    // The last process may have been killed between the rename of a segment and the sync of the folder.
    space.sync_folder(&layout.segments())?;
    let segments = segments::list(disk, layout)?;
    let recent = logged(disk, layout)?;
    let reached = recent.last().map(|(seq, _)| *seq).max(Some(segments::last_row(&segments))).unwrap_or_default();
    if reached > Seq(0) && !layout.truth().exists() && !is_copy {
        return Err(Error::SegmentsAhead { segments: reached, truth: Seq(0) });
    }
    let (rows, began) = (rows_to_fill(&layout.truth()), Tick::now());
    if let Some(Seq(rows)) = rows {
        log.info("migrating the database to the current schema: this may take minutes", &[("rows", &rows)]);
    }
    let mut truth = Sqlite::writer_by(vfs, &layout.truth())?;
    if rows.is_some() {
        let took_ms = Tick::now().since(began) / 1_000_000;
        log.info("the database has the current schema", &[("took_ms", &took_ms)]);
    }
    // SQLite syncs the contents of its files. Their names in the folder are synced here.
    let folder = RealDisk.open_folder(layout.data());
    folder.and_then(|folder| folder.sync()).map_err(Error::io("sync", layout.data()))?;
    let last = truth.last()?;
    if reached > last && !is_copy {
        return Err(Error::SegmentsAhead { segments: reached, truth: last });
    }
    if reached > last {
        match replay_segments(&mut truth, disk, layout, &segments, &mut |_| ()) {
            // The database has the rows that are missing between two segments.
            Ok(()) | Err(Error::Gap { .. }) => replay_recent(&mut truth, recent)?,
            Err(error) => return Err(error),
        }
        let figures: [(&str, &dyn std::fmt::Display); 2] = [("first", &(last.0 + 1)), ("last", &truth.last()?.0)];
        log.info("the copy of the truth was filled from the segments", &figures);
    }
    Ok(Opened { truth, segments })
}
