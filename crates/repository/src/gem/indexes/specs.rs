//! The older index in memory: chunks of gems, each with its part of the three files.

use crate::content::Freshness;
use crate::error::Result;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::chunks::{ChunkPart, Chunks, UNITS, Written};
use crate::index::rope::coded::{Coded, gzip};
use crate::index::rope::form::{self, Mark};
use crate::index::rope::log_end::LogEnd;
use bytes::Bytes;
use format::gem::specs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Seq;
use telemetry::Millis;

/// The parts of one gem, one for each of the three files.
pub(crate) type GemParts = [ChunkPart; 3];

/// The three files as of a change.
#[derive(Debug)]
pub(crate) struct SpecFiles {
    chunks: Chunks<3>,
    through: Seq,
    /// A whole second: when they last changed, or a little later. See [`crate::gem::indexes::last_modified`].
    modified: Millis,
    /// Whether they were read from the data folder and have not changed since: an earlier process may have sent their date.
    is_read: bool,
    /// During the first rendering: the last gem that was read.
    at: Option<String>,
    /// The number of changed gems since the last write to the data folder.
    unwritten: u64,
    /// In a group: the position in its `/versions` up to which versions were read.
    of: Option<LogEnd>,
}

/// One of the files in the form that is sent. It is a gzip file; the reply has no content coding.
#[derive(Debug, Clone)]
pub struct Packed {
    /// Its bytes.
    pub pieces: Arc<[Bytes]>,
    /// When it last changed, in whole seconds. No other bytes are ever sent with this date. `None`: there is no such date yet.
    pub modified: Option<Millis>,
    /// Whether the upstreams' indexes that it was made from could be confirmed.
    pub freshness: Option<Freshness>,
    /// When a policy shows other versions.
    pub fresh_until: Option<Millis>,
}

/// The state of the file in the data folder.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    mark: Mark,
    modified: i64,
    at: Option<String>,
    chunks: Vec<Written>,
    #[serde(default)]
    of: Option<LogEnd>,
}

/// One of the three files, joined from all chunks.
pub(crate) fn packed(chunks: &Chunks<3>, file: specs::File, modified: Millis) -> Result<Packed> {
    let (count, chunks) = chunks.file(file as usize);
    let opening = Coded::of(&specs::opening(count))?;
    let pieces = gzip([&opening].into_iter().chain(chunks));
    Ok(Packed { pieces, modified: Some(modified), freshness: None, fresh_until: None })
}

impl SpecFiles {
    /// Empty files as of this change, with this date.
    pub(crate) fn new(through: Seq, modified: Millis) -> Self {
        let (chunks, at) = (Chunks::new(), Some(String::new()));
        Self { chunks, through, modified, is_read: false, at, unwritten: 0, of: None }
    }

    /// During the first rendering: the last gem that was read.
    pub(crate) fn unfinished(&self) -> Option<&str> {
        self.at.as_deref()
    }

    /// The position in a log up to which versions were read.
    pub(crate) fn read_of(&self) -> Option<&LogEnd> {
        self.of.as_ref()
    }

    /// Sets the position in a log up to which versions were read.
    pub(crate) fn is_read_of(&mut self, end: LogEnd) {
        self.of = Some(end);
    }

    /// Appends gems, which sort after all present ones. `at` is the last of them; `None`: there are no more.
    pub(crate) fn append(&mut self, units: Vec<(String, GemParts)>, at: Option<String>) -> Result<()> {
        self.unwritten += units.len() as u64;
        let mut units = units.into_iter().peekable();
        while units.peek().is_some() {
            self.chunks.append(units.by_ref().take(UNITS).collect())?;
        }
        self.at = at;
        Ok(())
    }

    /// Replaces these gems as of this change. `date` becomes the date of the files, if they change.
    pub(crate) fn change(&mut self, changes: BTreeMap<String, GemParts>, through: Seq, date: Millis) -> Result<()> {
        self.unwritten += changes.len() as u64;
        if self.chunks.change(changes)? {
            let earliest = self.modified.0 + if self.is_read { 1_000 } else { 0 };
            (self.modified, self.is_read) = (Millis(date.0.max(earliest)), false);
        }
        self.through = through;
        Ok(())
    }

    /// The three files.
    pub(crate) fn files(&self) -> Result<[Packed; 3]> {
        let file = |file| packed(&self.chunks, file, self.modified);
        Ok([file(specs::File::Released)?, file(specs::File::Latest)?, file(specs::File::Prerelease)?])
    }
}

impl IndexSource for SpecFiles {
    const FILE: &'static str = "specs";
    const MUCH: u64 = 10_000;
    type Whole = [Packed; 3];

    fn through(&self) -> Seq {
        self.through
    }

    fn weight(&self) -> u64 {
        self.chunks.weight()
    }

    fn unwritten(&mut self) -> &mut u64 {
        &mut self.unwritten
    }

    fn write(&self, mark: Mark) -> Option<Vec<Bytes>> {
        let (chunks, body) = self.chunks.parts();
        form::write(&Head { mark, modified: self.modified.0, at: self.at.clone(), chunks, of: self.of.clone() }, body)
    }

    fn read(bytes: Bytes) -> Option<(Self, Mark)> {
        let (Head { mark, modified, at, chunks, of }, body) = form::read(bytes)?;
        let chunks = Chunks::read(chunks, body)?;
        // Earlier versions kept the millisecond, and sent the second that ends it.
        let (through, modified) = (mark.through, Millis(modified.saturating_add(999).div_euclid(1_000) * 1_000));
        Some((Self { chunks, through, modified, is_read: true, at, unwritten: 0, of }, mark))
    }
}
