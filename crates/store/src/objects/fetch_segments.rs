//! Brings segments back from object storage, so that a rebuild makes the truth of a lost folder again.

use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::journal::segments::{self, Segment, TEMPORARY, TEXT_BYTES};
use crate::objects::Objects;
use crate::objects::calls::ObjectCalls;
use crate::objects::place::{belongs, note};
use crate::store::progress::Progress;
use crate::truth::catalog::JournalReads as _;
use crate::truth::sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;
use telemetry::Log;

/// Adds to the folder `data`, which is made if it does not exist, the segments in object storage with later rows than it has. An error
/// if the rows that both have are not the same. Returns the number of added segments. No server may use the folder.
pub fn fetch_segments(data: &Path, objects: &Objects, progress: &mut dyn FnMut(Progress)) -> Result<u64> {
    let (layout, disk) = (Layout::new(data), Arc::new(RealDisk));
    let _lock = layout.lock()?;
    let space = Space::new(disk.clone(), data.to_owned(), 0, Log::silent());
    layout.claim(&*disk, &space)?;
    belongs(&*disk, &layout, Some(objects))?;
    space.make_folder(&layout.segments())?;
    let calls = ObjectCalls::silent(objects);
    let last = last_here(&layout, &*disk)?;
    let mut wanted = list(&calls)?;
    note(&*disk, &layout, &space, objects)?;
    // One that ends with the last row here tells whether that row is the same.
    wanted.retain(|segment| segment.last >= last);
    let (mut added, total) = (0, wanted.len() as u64);
    for (done, segment) in (1..).zip(wanted) {
        let bytes = bytes(&calls, &segment)?;
        if segment.first <= last {
            same_row(&layout, &segment, bytes.clone(), last, objects)?;
        }
        if segment.last > last {
            space.put(&layout.segments().join(TEMPORARY), &layout.segments().join(segment.name()), &bytes)?;
            added += 1;
        }
        progress(Progress { done, total, of: "segments" });
    }
    Ok(added)
}

/// The number of segments in object storage. An error if it cannot be used. Blocks.
pub fn list_segments(objects: &Objects) -> Result<u64> {
    list(&ObjectCalls::silent(objects)).map(|segments| segments.len() as u64)
}

/// The last row that the folder has.
fn last_here(layout: &Layout, disk: &dyn Disk) -> Result<Seq> {
    let in_segments = segments::last_row(&segments::list(disk, layout)?);
    match layout.truth().is_file() {
        // A damaged database is no reason not to go on: the rebuild needs none.
        true => {
            Ok(Sqlite::reader(&layout.truth()).and_then(|mut truth| truth.last()).unwrap_or_default().max(in_segments))
        }
        false => Ok(in_segments),
    }
}

/// An error unless a fetched segment has the same row of this number as the database of the folder.
fn same_row(layout: &Layout, segment: &Segment, bytes: Vec<u8>, last: Seq, objects: &Objects) -> Result<()> {
    let Ok(mut truth) = Sqlite::reader(&layout.truth()) else { return Ok(()) };
    let ours = truth.journal_text(Seq(last.0 - 1), 1, usize::MAX)?;
    let text = segment.text_of(bytes)?;
    let theirs = text.lines().nth((last.0 - segment.first.0) as usize);
    match ours.first().is_none_or(|(_, ours)| Some(ours.as_str()) == theirs) {
        true => Ok(()),
        false => Err(Error::ObjectsAhead {
            url: objects.url.clone(),
            why: format!("its change `{}` is not the one of the folder", last.0),
        }),
    }
}

/// All segments in object storage, ordered by their rows.
pub(super) fn list(calls: &Arc<ObjectCalls>) -> Result<Vec<Segment>> {
    let of = calls.clone();
    let listed = calls.wait(async move { of.list(of.objects.segments()).await })?;
    let mut all: Vec<Segment> = listed.iter().filter_map(|meta| Segment::parse(meta.location.filename()?)).collect();
    all.sort();
    Ok(all)
}

/// The bytes of a segment, whose hash is checked.
pub(super) fn bytes(calls: &Arc<ObjectCalls>, segment: &Segment) -> Result<Vec<u8>> {
    let (of, key) = (calls.clone(), calls.objects.segment(&segment.name()));
    let got = calls.wait(async move { of.get(key, None, TEXT_BYTES).await })?;
    let bytes = got.map(|piece| piece.bytes.to_vec()).unwrap_or_default();
    segment.text_of(bytes.clone()).map(|_| bytes)
}
