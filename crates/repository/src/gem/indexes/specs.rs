//! The older index in memory: chunks of gems, each with its part of the three files.

use crate::error::Error;
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
    /// When they last changed.
    modified: Millis,
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
    /// A date no earlier than its last change.
    pub modified: Millis,
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
pub(crate) fn packed(chunks: &Chunks<3>, file: specs::File, modified: Millis) -> Result<Packed, Error> {
    let (count, chunks) = chunks.file(file as usize);
    let opening = Coded::of(&specs::opening(count))?;
    Ok(Packed { pieces: gzip([&opening].into_iter().chain(chunks)), modified })
}

impl SpecFiles {
    /// Empty files as of this change.
    pub(crate) fn new(through: Seq, now: Millis) -> Self {
        Self { chunks: Chunks::new(), through, modified: now, at: Some(String::new()), unwritten: 0, of: None }
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
    pub(crate) fn append(&mut self, units: Vec<(String, GemParts)>, at: Option<String>) -> Result<(), Error> {
        self.unwritten += units.len() as u64;
        let mut units = units.into_iter().peekable();
        while units.peek().is_some() {
            self.chunks.append(units.by_ref().take(UNITS).collect())?;
        }
        self.at = at;
        Ok(())
    }

    /// Replaces these gems as of this change.
    pub(crate) fn change(
        &mut self,
        changes: BTreeMap<String, GemParts>,
        through: Seq,
        now: Millis,
    ) -> Result<(), Error> {
        self.unwritten += changes.len() as u64;
        if self.chunks.change(changes)? {
            self.modified = self.modified.max(now);
        }
        self.through = through;
        Ok(())
    }

    /// The three files.
    pub(crate) fn files(&self) -> Result<[Packed; 3], Error> {
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
        let (through, modified) = (mark.through, Millis(modified));
        Some((Self { chunks, through, modified, at, unwritten: 0, of }, mark))
    }
}
