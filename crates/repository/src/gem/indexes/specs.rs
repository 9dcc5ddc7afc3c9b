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
    /// While they are made for the first time, the last name that was read.
    at: Option<String>,
    /// Gems that came or changed since they were written.
    unwritten: u64,
    /// In a group: the part of its `/versions` that the versions were read of.
    of: Option<LogEnd>,
}

/// One of the files, as it is sent. It is gzip by itself, not by a coding of the reply.
#[derive(Debug, Clone)]
pub struct Packed {
    /// Its bytes.
    pub pieces: Arc<[Bytes]>,
    /// When it last changed, or later.
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

/// One of the three files, of all their chunks.
pub(crate) fn packed(chunks: &Chunks<3>, file: specs::File, modified: Millis) -> Result<Packed, Error> {
    let (count, chunks) = chunks.file(file as usize);
    let opening = Coded::of(&specs::opening(count))?;
    Ok(Packed { pieces: gzip([&opening].into_iter().chain(chunks)), modified })
}

impl SpecFiles {
    /// Empty files, as of this change.
    pub(crate) fn new(through: Seq, now: Millis) -> Self {
        Self { chunks: Chunks::new(), through, modified: now, at: Some(String::new()), unwritten: 0, of: None }
    }

    /// The last name that was read, while they are made for the first time.
    pub(crate) fn unfinished(&self) -> Option<&str> {
        self.at.as_deref()
    }

    /// The part of a log that the versions were read of, where they were.
    pub(crate) fn read_of(&self) -> Option<&LogEnd> {
        self.of.as_ref()
    }

    /// Notes that the versions were read of this part of a log.
    pub(crate) fn is_read_of(&mut self, end: LogEnd) {
        self.of = Some(end);
    }

    /// Adds gems behind all others, in the order of their names. `at` is the last of them, unless there are no more.
    pub(crate) fn append(&mut self, units: Vec<(String, GemParts)>, at: Option<String>) -> Result<(), Error> {
        self.unwritten += units.len() as u64;
        let mut units = units.into_iter().peekable();
        while units.peek().is_some() {
            self.chunks.append(units.by_ref().take(UNITS).collect())?;
        }
        self.at = at;
        Ok(())
    }

    /// Puts these gems in place of what they were before this change.
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
