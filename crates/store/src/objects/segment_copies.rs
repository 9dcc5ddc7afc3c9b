//! The segments in object storage: copies of those in the folder, from which the journal can be made again.
//!
//! A small segment is deleted there only once a merged one has its rows, and merged ones are never deleted. So the segments of several
//! servers may lie beside each other, and each of them may clear up.

use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::journal::segments::{self, Segment};
use crate::objects::calls::ObjectCalls;
use crate::objects::lost_rows;
use crate::truth::catalog::Catalog;
use crate::writer::Writer;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use telemetry::{Event, Op};

/// The segments in object storage that are known.
#[derive(Debug, Default)]
pub(crate) struct SegmentCopies {
    known: BTreeSet<String>,
}

impl SegmentCopies {
    /// Lists the segments in object storage. An error if they are not of this journal, or reach further: another folder writes
    /// there, or this one was replaced by an earlier state of it. `writer`: puts back what only they have, if it fits.
    pub(crate) async fn look(
        calls: &ObjectCalls,
        truth: &mut dyn Catalog,
        writer: Option<&Writer>,
        event: &mut Event,
    ) -> Result<Self> {
        let listed = event.waited(Op::ObjectList, calls.list(calls.objects.segments())).await?;
        let known: BTreeSet<String> =
            listed.iter().filter_map(|meta| meta.location.filename().map(str::to_owned)).collect();
        let segments: Vec<Segment> = known.iter().filter_map(|name| Segment::parse(name)).collect();
        let Some(newest) = segments.iter().max_by_key(|segment| segment.last) else { return Ok(Self { known }) };
        if let Some(writer) = writer
            && newest.last > truth.last()?
        {
            lost_rows::put_back(calls, &segments, truth, writer, event).await?;
        }
        let ahead = |why: String| Error::ObjectsAhead { url: calls.objects.url.clone(), why };
        let last = truth.last()?;
        if newest.last > last {
            let (theirs, ours) = (newest.last.0, last.0);
            return Err(ahead(format!(
                "its segments reach change `{theirs}`, and the database ends at change `{ours}`"
            )));
        }
        let text = event.waited(Op::ObjectGet, calls.segment(newest)).await?;
        let rows = truth.journal_text(Seq(newest.first.0 - 1), newest.rows_count(), usize::MAX)?;
        match rows.iter().map(|(_, row)| row.as_str()).eq(text.lines()) {
            true => Ok(Self { known }),
            false => Err(ahead(format!("its segment `{}` has other rows than the journal", newest.name()))),
        }
    }

    /// The last segment counts as not copied.
    pub(crate) fn send_last_again(&mut self) {
        self.known.pop_last();
    }

    /// Copies the segments of the folder whose rows object storage lacks, and then deletes there small ones whose rows are in merged ones.
    /// Another node, whose segments are cut elsewhere, may have copied them.
    pub(crate) async fn copy(
        &mut self,
        calls: &ObjectCalls,
        disk: &dyn Disk,
        layout: &Layout,
        event: &mut Event,
    ) -> Result<()> {
        let (ours, mut theirs) = (segments::list(disk, layout)?, self.parsed());
        for segment in &ours {
            let name = segment.name();
            if self.known.contains(&name) || segment.is_covered_by(&theirs) {
                continue;
            }
            let bytes = match segment.bytes(disk, layout) {
                // It was merged meanwhile, and the merged one is copied next.
                Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => continue,
                bytes => bytes?,
            };
            event.waited(Op::ObjectPut, calls.put(calls.objects.segment(&name), bytes.into())).await?;
            self.known.insert(name);
            theirs.push(segment.clone());
        }
        for covered in theirs.iter().filter(|one| !one.is_merged() && theirs.iter().any(|other| other.has_merged(one)))
        {
            let name = covered.name();
            event.waited(Op::ObjectDelete, calls.delete(calls.objects.segment(&name))).await?;
            self.known.remove(&name);
        }
        let copied = theirs.iter().map(|segment| segment.last).max();
        calls.state.copied.fetch_max(copied.unwrap_or_default().0, Ordering::Relaxed);
        Ok(())
    }

    fn parsed(&self) -> Vec<Segment> {
        self.known.iter().filter_map(|name| Segment::parse(name)).collect()
    }
}
