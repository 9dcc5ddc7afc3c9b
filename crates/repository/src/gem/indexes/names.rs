//! `/names` in memory: chunks of names in byte order.

use crate::error::Result;
use crate::index::document::Index;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::PIECE;
use crate::index::rope::chunks::{ChunkPart, Chunks, UNITS, Written};
use crate::index::rope::coded::{Coded, gzip};
use crate::index::rope::form::{self, Mark};
use crate::index::rope::log_end::LogEnd;
use crate::index::rope::sums::Sums;
use bytes::Bytes;
use format::gem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use store::Seq;

/// The names as of a change.
#[derive(Debug)]
pub(crate) struct NameList {
    chunks: Chunks<1>,
    through: Seq,
    /// The rendered file; `None` after a name has appeared or disappeared.
    whole: Option<Index>,
    /// The number of changed names since the last write to the data folder.
    unwritten: u64,
    /// In a group: the position in its `/versions` up to which names were read.
    of: Option<LogEnd>,
}

/// The state of the file in the data folder.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    mark: Mark,
    chunks: Vec<Written>,
    #[serde(default)]
    of: Option<LogEnd>,
}

fn part(name: &str) -> ChunkPart {
    ChunkPart { bytes: gem::names::line(name).into(), count: 1 }
}

impl NameList {
    /// An empty list as of this change.
    pub(crate) fn new(through: Seq) -> Self {
        Self { chunks: Chunks::new(), through, whole: None, unwritten: 0, of: None }
    }

    /// Appends names, which sort after all present ones.
    pub(crate) fn append(&mut self, names: &[String]) -> Result<()> {
        self.unwritten += names.len() as u64;
        for names in names.chunks(UNITS) {
            self.chunks.append(names.iter().map(|name| (name.clone(), [part(name)])).collect())?;
        }
        Ok(())
    }

    /// The position in a log up to which names were read.
    pub(crate) fn read_of(&self) -> Option<&LogEnd> {
        self.of.as_ref()
    }

    /// Sets the position in a log up to which names were read.
    pub(crate) fn is_read_of(&mut self, end: LogEnd) {
        self.of = Some(end);
    }

    /// Whether it contains this name.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.chunks.holds(name)
    }

    /// The file, if it is rendered.
    pub(crate) fn whole(&self) -> Option<&Index> {
        self.whole.as_ref()
    }

    /// Records that no name appeared or disappeared up to this change.
    pub(crate) fn skip(&mut self, through: Seq) {
        self.through = through;
    }

    /// Adds the names that have a published version as of this change, and removes the others.
    pub(crate) fn change(&mut self, changes: BTreeMap<String, bool>, through: Seq) -> Result<()> {
        self.unwritten += changes.len() as u64;
        let parts = |name: &str, offered| [if offered { part(name) } else { ChunkPart::default() }];
        let changes = changes.into_iter().map(|(name, offered)| (parts(&name, offered), name));
        let changes: BTreeMap<_, _> = changes.map(|(parts, name)| (name, parts)).collect();
        if self.chunks.change(changes)? {
            self.whole = None;
        }
        self.through = through;
        Ok(())
    }

    /// Renders the file.
    pub(crate) fn index(&mut self) -> Result<Index> {
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

impl IndexSource for NameList {
    const FILE: &'static str = "names";
    const MUCH: u64 = 10_000;
    type Whole = Index;

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
        form::write(&Head { mark, chunks, of: self.of.clone() }, body)
    }

    fn read(bytes: Bytes) -> Option<(Self, Mark)> {
        let (Head { mark, chunks, of }, body) = form::read(bytes)?;
        let chunks = Chunks::read(chunks, body)?;
        Some((Self { chunks, through: mark.through, whole: None, unwritten: 0, of }, mark))
    }
}
