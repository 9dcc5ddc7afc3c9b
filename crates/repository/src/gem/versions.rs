//! `/versions`: every change so far, a line each, as it was rendered when it was made. A file that only grows; where it
//! was begun anew, it begins with what the lines up to then come to, which they tell for ever.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::from_rows;
use crate::gem::hosted::Hosted;
use crate::index::document::Index;
use crate::index::incremental_index::{IncrementalIndex, IndexSource};
use crate::index::rope::PIECE;
use crate::index::rope::form::{self, Mark};
use crate::index::rope::log::Log;
use crate::repository::Repository;
use bytes::Bytes;
use format::gem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{IndexBase, Lane, Seq};
use telemetry::{Event, Millis, Op};
use tokio::sync::Mutex;

/// Lines asked of the store at once.
pub(crate) const PAGE: usize = 10_000;

/// The file, and up to where it goes.
#[derive(Debug)]
pub(crate) struct Lines {
    log: Log,
    through: Seq,
    base: Option<IndexBase>,
    /// Bytes.
    unwritten: u64,
}

/// What the file in the data folder says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    mark: Mark,
    base: Option<IndexBase>,
    pieces: Vec<usize>,
}

/// `/versions`.
pub(crate) async fn versions(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Found, Error> {
    if hosted.by_rows() {
        return from_rows::versions(hosted, now, event).await;
    }
    let base = hosted.repository.record.index_base;
    let mut turn = hosted.repository.shared.versions.clone().lock_owned().await;
    // Whoever asks may know less than what stands here, and never gets less than he knows.
    let older = |lines: &Lines| begun(lines.base) < begun(base);
    if turn.made.as_ref().is_some_and(older) {
        turn.clear();
    }
    if let Some(index) = turn.current(hosted, now) {
        return Ok(Found::Index(index));
    }
    let stamp = hosted.stamp()?;
    turn = hosted.found(turn, event).await?;
    if turn.made.as_ref().is_none_or(older) {
        turn.replace(begin(hosted, base, event).await?);
    }
    loop {
        let after = turn.made.as_ref().map_or(Seq(0), |lines| lines.through);
        let lines = hosted.store.lines(hosted.repository.id, after, PAGE, event).await?;
        let last = lines.len() < PAGE;
        let bytes = lines.iter().map(|(_, line)| line.len() + 1).sum();
        let made = turn.made.as_mut().ok_or(Error::GivenUp)?;
        if made.log.seals(bytes) {
            (turn, ()) = hosted.work(turn, event, move |made| made.add(&lines)).await?;
        } else {
            event.time(Op::IndexExtend, || made.add(&lines))?;
        }
        if last {
            break;
        }
    }
    let made = turn.made.as_mut().ok_or(Error::GivenUp)?;
    let index = event.time(Op::IndexExtend, || made.log.index())?;
    Ok(Found::Index(hosted.settle(turn, stamp, index)))
}

/// The file as it begins.
pub(crate) async fn begin(hosted: Hosted<'_>, base: Option<IndexBase>, event: &mut Event) -> Result<Lines, Error> {
    let Some(base) = base else {
        let mut log = Log::default();
        log.add(gem::versions::header(hosted.repository.record.created.seconds()).as_bytes())?;
        return Ok(Lines { log, through: Seq(0), base: None, unwritten: 0 });
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
        sum = hosted.context.workers.run(Lane::Index, (Op::WorkWait, Op::IndexRender), event, add).await?;
        if done {
            break;
        }
    }
    let make = move |(): &mut ()| {
        let mut log = Log::default();
        log.add(&gem::versions::render(base.created.seconds(), sum.lines()))?;
        let unwritten = if log.len() < PIECE { 0 } else { log.len() as u64 };
        Ok(Lines { log, through: base.through, base: Some(base), unwritten })
    };
    hosted.context.workers.run(Lane::Index, (Op::WorkWait, Op::IndexRender), event, make).await?
}

/// Up to where what a file begins with goes; each is begun after the one before.
fn begun(base: Option<IndexBase>) -> Option<Seq> {
    base.map(|base| base.through)
}

/// Names of gems that changed after `after`, and what happened to each last; up to which change, and whether to the end.
pub(crate) async fn touched(
    hosted: Hosted<'_>,
    after: Seq,
    event: &mut Event,
) -> Result<(BTreeMap<String, gem::versions::Op>, Seq, bool), Error> {
    let lines = hosted.store.lines(hosted.repository.id, after, PAGE, event).await?;
    let through = lines.last().map_or(after, |(seq, _)| *seq);
    let subjects = lines.iter().filter_map(|(_, line)| gem::versions::subject(line));
    Ok((subjects.map(|(name, op)| (name.to_owned(), op)).collect(), through, lines.len() < PAGE))
}

impl Lines {
    pub(crate) fn is_older_than(&self, other: &Self) -> bool {
        begun(self.base) < begun(other.base)
    }

    fn add(&mut self, lines: &[(Seq, String)]) -> Result<(), Error> {
        let text = gem::versions::lines(lines.iter().map(|(_, line)| line));
        self.log.add(&text)?;
        self.through = lines.last().map_or(self.through, |(seq, _)| *seq);
        // What is one piece is quicker read from the truth.
        self.unwritten = if self.log.len() < PIECE { 0 } else { self.unwritten + text.len() as u64 };
        Ok(())
    }
}

impl IndexSource for Lines {
    const FILE: &'static str = "versions";
    const MUCH: u64 = 1 << 20;
    type Whole = Index;

    fn slot(repository: &Repository) -> &Arc<Mutex<IncrementalIndex<Self>>> {
        &repository.shared.versions
    }

    fn through(&self) -> Seq {
        self.through
    }

    fn weight(&self) -> u64 {
        self.log.weight()
    }

    fn unwritten(&mut self) -> &mut u64 {
        &mut self.unwritten
    }

    fn write(&self, mark: Mark) -> Option<Vec<Bytes>> {
        let (pieces, body) = self.log.parts();
        form::write(&Head { mark, base: self.base, pieces }, body)
    }

    fn read(bytes: Bytes) -> Option<(Self, Mark)> {
        let (Head { mark, base, pieces }, body) = form::read(bytes)?;
        let log = Log::read(&pieces, body)?;
        Some((Self { log, through: mark.through, base, unwritten: 0 }, mark))
    }
}
