//! `/versions`: a line for each change, rendered at the change. The file only grows. After a compaction it begins with
//! a summary of the lines before.

use crate::error::Result;
use crate::gem::hosted::Hosted;
use crate::gem::indexes::versions::VersionLog;
use crate::index::document::Index;
use crate::index::incremental_index::IndexSource;
use crate::record::IndexBase;
use format::gem;
use std::collections::BTreeMap;
use store::{Lane, Seq};
use telemetry::{Event, Millis, Op};

/// Number of lines that one read of the store returns.
pub(crate) const PAGE: usize = 10_000;

/// `/versions` of a hosted repository.
pub(crate) async fn versions(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Index> {
    let base = hosted.repository.record.index_base;
    let mut turn = event.waited(Op::TurnWait, hosted.indexes.versions.clone().lock_owned()).await;
    // This request may have read older settings than those of the log. It never gets a log that is older than its
    // settings.
    let older = |log: &VersionLog| log.begins_before(base);
    if turn.source().is_some_and(older) {
        turn.clear();
    }
    if let Some(index) = turn.current(hosted.store, now) {
        return Ok(index);
    }
    let stamp = hosted.stamp();
    turn = hosted.context.read_index(turn, event).await?;
    if turn.source().is_none_or(older) {
        turn.replace(begin(hosted, base, event).await?);
    }
    loop {
        let after = turn.made()?.through();
        let lines = hosted.store.lines(hosted.repository.id, after, PAGE, event).await?;
        let last = lines.len() < PAGE;
        let bytes = lines.iter().map(|(_, line)| line.len() + 1).sum();
        let log = turn.made_mut()?;
        if log.seals(bytes) {
            (turn, ()) = hosted.context.change_index(turn, event, move |log| log.add(&lines)).await?;
        } else {
            event.time(Op::IndexExtend, || log.add(&lines))?;
        }
        if last {
            break;
        }
    }
    let log = turn.made_mut()?;
    let index = event.time(Op::IndexExtend, || log.index())?;
    Ok(hosted.context.settle_index(turn, stamp, index))
}

/// The log at its first use.
pub(crate) async fn begin(hosted: Hosted<'_>, base: Option<IndexBase>, event: &mut Event) -> Result<VersionLog> {
    let Some(base) = base else {
        return VersionLog::empty(hosted.repository.record.created);
    };
    let (mut sum, mut after) = (gem::versions::Sum::default(), Seq(0));
    loop {
        let lines = hosted.store.lines(hosted.repository.id, after, PAGE, event).await?;
        after = lines.last().map_or(after, |(seq, _)| *seq);
        let done = lines.len() < PAGE || after >= base.through;
        let add = move |(): &mut ()| {
            lines.iter().filter(|(seq, _)| *seq <= base.through).for_each(|(_, line)| sum.add(line));
            sum
        };
        sum = hosted.context.workers.run(Lane::Index, Op::IndexRender, event, add).await?;
        if done {
            break;
        }
    }
    let make = move |(): &mut ()| VersionLog::beginning(base, sum);
    hosted.context.workers.run(Lane::Index, Op::IndexRender, event, make).await?
}

/// The gems that consecutive changes affect.
pub(crate) struct Touched {
    /// By name: whether the last of these changes published or withdrew a version.
    pub(crate) gems: BTreeMap<String, gem::versions::Op>,
    /// The number of the last change.
    pub(crate) through: Seq,
    /// Whether there are no more.
    pub(crate) last: bool,
}

/// The gems that the next changes after `after` affect.
pub(crate) async fn touched(hosted: Hosted<'_>, after: Seq, event: &mut Event) -> Result<Touched> {
    let lines = hosted.store.lines(hosted.repository.id, after, PAGE, event).await?;
    let through = lines.last().map_or(after, |(seq, _)| *seq);
    let subjects = lines.iter().filter_map(|(_, line)| gem::versions::subject(line));
    let gems = subjects.map(|(name, op)| (name.to_owned(), op)).collect();
    Ok(Touched { gems, through, last: lines.len() < PAGE })
}
