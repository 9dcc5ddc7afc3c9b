//! `/names`: every gem that has a version to offer, in byte order. It changes only when a name comes or goes.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::from_rows;
use crate::gem::hosted::Hosted;
use crate::gem::versions::{PAGE, touched};
use crate::index::document::Index;
use crate::index::incremental_index::{IncrementalIndex, IndexSource};
use crate::index::rope::PIECE;
use crate::index::rope::chunks::{ChunkPart, Chunks};
use crate::index::rope::chunks::{UNITS, Written};
use crate::index::rope::coded::{Coded, gzip};
use crate::index::rope::form::{self, Mark};
use crate::index::rope::sums::Sums;
use crate::repository::Repository;
use crate::visible;
use bytes::Bytes;
use format::gem::{self, versions::Op as What};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Lane, Seq};
use telemetry::{Event, Millis};
use tokio::sync::Mutex;

/// The names, and up to where they were looked at.
#[derive(Debug)]
pub(crate) struct Names {
    chunks: Chunks<1>,
    through: Seq,
    /// The file, until a name comes or goes.
    whole: Option<Index>,
    /// Names.
    unwritten: u64,
}

/// What the file in the data folder says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    mark: Mark,
    chunks: Vec<Written>,
}

/// `/names`.
pub(crate) async fn names(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Found, Error> {
    if hosted.by_rows() {
        return from_rows::names(hosted, now, event).await;
    }
    let mut turn = hosted.repository.shared.names.clone().lock_owned().await;
    if let Some(index) = turn.current(hosted, now) {
        return Ok(Found::Index(index));
    }
    let stamp = hosted.stamp()?;
    turn = hosted.found(turn, event).await?;
    if turn.made.is_none() {
        turn.replace(begin(hosted, event).await?);
    }
    loop {
        let made = turn.made.as_ref().ok_or(Error::GivenUp)?;
        let (touched, through, last) = touched(hosted, made.through, event).await?;
        let mut changes = BTreeMap::new();
        for (name, what) in touched {
            let made = turn.made.as_ref().ok_or(Error::GivenUp)?;
            let offered = match what {
                What::Push if made.chunks.holds(&name) => continue,
                What::Push => true,
                What::Yank => {
                    let unit = hosted.store.unit(hosted.repository.id, &name, Lane::Index, event).await?;
                    visible(&unit.entries, hosted.repository.view(now)).next().is_some()
                }
            };
            let part = if offered { part(&name) } else { ChunkPart::default() };
            changes.insert(name, [part]);
        }
        let made = turn.made.as_mut().ok_or(Error::GivenUp)?;
        if changes.is_empty() {
            made.through = through;
        } else {
            (turn, ()) = hosted.work(turn, event, move |made| made.change(changes, through)).await?;
        }
        if last {
            break;
        }
    }
    let made = turn.made.as_ref().ok_or(Error::GivenUp)?;
    let index = match &made.whole {
        Some(index) => index.clone(),
        None => {
            let index;
            (turn, index) = hosted.work(turn, event, Names::index).await?;
            index
        }
    };
    Ok(Found::Index(hosted.settle(turn, stamp, index)))
}

fn part(name: &str) -> ChunkPart {
    ChunkPart { bytes: gem::names::line(name).into(), count: 1 }
}

/// All names there are. What happens meanwhile is looked at again.
async fn begin(hosted: Hosted<'_>, event: &mut Event) -> Result<Names, Error> {
    let through = hosted.store.last();
    let mut made = Names { chunks: Chunks::new(), through, whole: None, unwritten: 0 };
    let mut after = String::new();
    loop {
        let names = hosted.store.units(hosted.repository.id, &after, PAGE, event).await?;
        let Some(last) = names.last() else { return Ok(made) };
        after.clone_from(last);
        let add = move |(): &mut ()| {
            made.unwritten += names.len() as u64;
            for names in names.chunks(UNITS) {
                made.chunks.append(names.iter().map(|name| (name.clone(), [part(name)])).collect())?;
            }
            Ok::<_, Error>(made)
        };
        let ops = (telemetry::Op::WorkWait, telemetry::Op::IndexRender);
        made = hosted.context.workers.run(Lane::Index, ops, event, add).await??;
    }
}

impl Names {
    fn change(&mut self, changes: BTreeMap<String, [ChunkPart; 1]>, through: Seq) -> Result<(), Error> {
        self.unwritten += changes.len() as u64;
        if self.chunks.change(changes)? {
            self.whole = None;
        }
        self.through = through;
        Ok(())
    }

    fn index(&mut self) -> Result<Index, Error> {
        let (count, coded) = self.chunks.file(0);
        let opening = Bytes::from_static(gem::names::opening(count).as_bytes());
        let mut pieces = vec![opening.clone()];
        for coded in &coded {
            pieces.push(coded.bytes()?.into());
        }
        if pieces.iter().map(Bytes::len).sum::<usize>() <= PIECE {
            pieces = vec![pieces.concat().into()];
        }
        let mut sums = Sums::default();
        pieces.iter().for_each(|piece| sums.add(piece));
        let opening = Coded::of(&opening)?;
        let gzip = (pieces.len() > 1).then(|| gzip([&opening].into_iter().chain(coded)));
        let index = sums.index(pieces.into(), gzip);
        self.whole = Some(index.clone());
        Ok(index)
    }
}

impl IndexSource for Names {
    const FILE: &'static str = "names";
    const MUCH: u64 = 10_000;
    type Whole = Index;

    fn slot(repository: &Repository) -> &Arc<Mutex<IncrementalIndex<Self>>> {
        &repository.shared.names
    }

    fn through(&self) -> Seq {
        self.through
    }

    fn weight(&self) -> u64 {
        let whole = self.whole.as_ref().map_or(0, |whole| whole.pieces.iter().map(Bytes::len).sum());
        self.chunks.weight() + whole as u64
    }

    fn unwritten(&mut self) -> &mut u64 {
        &mut self.unwritten
    }

    fn write(&self, mark: Mark) -> Option<Vec<Bytes>> {
        let (chunks, body) = self.chunks.parts();
        form::write(&Head { mark, chunks }, body)
    }

    fn read(bytes: Bytes) -> Option<(Self, Mark)> {
        let (Head { mark, chunks }, body) = form::read(bytes)?;
        let chunks = Chunks::read(chunks, body)?;
        Some((Self { chunks, through: mark.through, whole: None, unwritten: 0 }, mark))
    }
}
