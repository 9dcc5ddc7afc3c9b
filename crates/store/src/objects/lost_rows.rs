//! Puts changes back that only segments in object storage have: the machine was lost, and so were the last changes of the database, as it
//! failed over to a standby that lacked them.

use crate::error::Result;
use crate::journal::record::Seq;
use crate::journal::segments::Segment;
use crate::objects::calls::ObjectCalls;
use crate::truth::catalog::Catalog;
use crate::writer::Writer;
use crate::writer::committer::Committer;
use telemetry::{Event, Op};

/// Adds the rows of these segments that follow the last one of the truth, as far as they have no gap. Nothing is added unless a segment has
/// that last row, too: only then the rows behind it are of the same history. Without any row nothing is known of that.
pub(crate) async fn put_back(
    calls: &ObjectCalls,
    segments: &[Segment],
    truth: &mut dyn Catalog,
    writer: &Writer,
    event: &mut Event,
) -> Result<()> {
    // Another node may have copied rows that this one has not taken in yet.
    writer.run(Op::Commit, event, Committer::follow).await?;
    let mut last = truth.last()?;
    let is_ahead = segments.iter().any(|segment| segment.last > last);
    if last == Seq(0) || !is_ahead || !has_row(calls, segments, last, truth, event).await? {
        return Ok(());
    }
    while let Some(next) = segments.iter().find(|segment| segment.first.0 <= last.0 + 1 && segment.last > last) {
        let mut rows = next.rows(&event.waited(Op::ObjectGet, calls.segment(next)).await?)?;
        rows.retain(|row| row.seq > last);
        calls.state.puts_back(Seq(last.0 + 1), next.last);
        writer.run(Op::DatabaseAppend, event, move |committer| committer.put_back(&rows)).await?;
        let reached = truth.last()?;
        // Another process may have added rows, the same or others.
        let is_same = reached == next.last || has_row(calls, segments, reached, truth, event).await?;
        if reached <= last || !is_same {
            return Ok(());
        }
        last = reached;
    }
    Ok(())
}

/// Whether a segment has the same row of this number as the truth.
async fn has_row(
    calls: &ObjectCalls,
    segments: &[Segment],
    seq: Seq,
    truth: &mut dyn Catalog,
    event: &mut Event,
) -> Result<bool> {
    let Some(of) = segments.iter().find(|segment| (segment.first..=segment.last).contains(&seq)) else {
        return Ok(false);
    };
    let text = event.waited(Op::ObjectGet, calls.segment(of)).await?;
    let ours = truth.journal_text(Seq(seq.0 - 1), 1, usize::MAX)?.into_iter().next();
    Ok(ours.is_some_and(|(found, row)| found == seq && text.lines().nth((seq.0 - of.first.0) as usize) == Some(&row)))
}
