//! `/versions` in memory: a log of lines, which may begin with a summary.

use crate::error::Result;
use crate::index::document::Index;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::PIECE;
use crate::index::rope::form::{self, Mark};
use crate::index::rope::log::Log;
use crate::record::IndexBase;
use bytes::Bytes;
use format::gem;
use serde::{Deserialize, Serialize};
use store::Seq;
use telemetry::Millis;

/// The lines up to a change.
#[derive(Debug)]
pub(crate) struct VersionLog {
    log: Log,
    through: Seq,
    /// The compaction that it begins with; `None`: only the header.
    base: Option<IndexBase>,
    /// The number of bytes that were added since the last write to the data folder.
    unwritten: u64,
}

/// The state of the file in the data folder.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    mark: Mark,
    base: Option<IndexBase>,
    pieces: Vec<usize>,
}

/// The last change in the summary of a log. Each compaction includes more than the one before.
fn begun(base: Option<IndexBase>) -> Option<Seq> {
    base.map(|base| base.through)
}

impl VersionLog {
    /// A log with nothing but the header, for a repository that was created at this moment.
    pub(crate) fn empty(created: Millis) -> Result<Self> {
        let mut log = Log::default();
        log.add(gem::versions::header(created.seconds()).as_bytes())?;
        Ok(Self { log, through: Seq(0), base: None, unwritten: 0 })
    }

    /// A log that begins with the summary of all lines up to `base`.
    pub(crate) fn beginning(base: IndexBase, sum: gem::versions::Sum) -> Result<Self> {
        let mut log = Log::default();
        log.add(&gem::versions::render(base.created.seconds(), sum.lines()))?;
        let unwritten = if log.len() < PIECE { 0 } else { log.len() as u64 };
        Ok(Self { log, through: base.through, base: Some(base), unwritten })
    }

    /// Whether its summary includes less than `base`.
    pub(crate) fn begins_before(&self, base: Option<IndexBase>) -> bool {
        begun(self.base) < begun(base)
    }

    /// Whether its summary includes less than that of `other`.
    pub(crate) fn is_older_than(&self, other: &Self) -> bool {
        self.begins_before(other.base)
    }

    /// Whether adding this number of bytes takes long.
    pub(crate) fn seals(&self, bytes: usize) -> bool {
        self.log.seals(bytes)
    }

    /// The present index.
    pub(crate) fn index(&mut self) -> Result<Index> {
        self.log.index()
    }

    /// Adds the lines of later changes.
    pub(crate) fn add(&mut self, lines: &[(Seq, String)]) -> Result<()> {
        let text = gem::versions::lines(lines.iter().map(|(_, line)| line));
        self.log.add(&text)?;
        self.through = lines.last().map_or(self.through, |(seq, _)| *seq);
        // An index of one piece is read faster from the database.
        self.unwritten = if self.log.len() < PIECE { 0 } else { self.unwritten + text.len() as u64 };
        Ok(())
    }
}

impl IndexSource for VersionLog {
    const FILE: &'static str = "versions";
    const MUCH: u64 = 1 << 20;
    type Whole = Index;

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
