//! A large index of a repository. One task at a time brings it up to date, and all readers share it.
//!
//! A task that finds the index out of date takes the turn, reads the changes since the last update, and adds them. The
//! index itself moves with the turn: if the client leaves, finished work is kept and the next task continues.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::index::rope::form::Mark;
use bytes::Bytes;
use std::sync::Arc;
use store::{Lane, RepositoryId, Seq, Stamp, Store};
use telemetry::{Bound, Event, Job, Millis, Miss, Op};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The data that an index is made from.
pub(crate) trait IndexSource: Sized + Send + 'static {
    /// The name of its file in the data folder.
    const FILE: &'static str;
    /// When this much was added since the last write, the file is written again.
    const MUCH: u64;
    /// The finished index.
    type Whole: Clone + Send + 'static;

    /// The number of the last change that it contains.
    fn through(&self) -> Seq;
    /// Its approximate size in memory, in bytes.
    fn weight(&self) -> u64;
    /// How much was added since the file was written, in a unit of its own; 0 for data that is faster to make than to
    /// read.
    fn unwritten(&mut self) -> &mut u64;
    /// The content of the file.
    fn write(&self, mark: Mark) -> Option<Vec<Bytes>>;
    /// Reads the file; `None`: the content is not valid.
    fn read(bytes: Bytes) -> Option<(Self, Mark)>;
}

/// An index of one repository.
#[derive(Debug)]
pub(crate) struct IncrementalIndex<T: IndexSource> {
    repository: RepositoryId,
    /// The data; `None` before the first use.
    source: Option<T>,
    /// The finished index, with the stamp that it is valid for.
    ready: Option<(Stamp, T::Whole)>,
    /// The bound of memory that all large indexes share.
    memory: Arc<Bound>,
    /// The bytes of it that this index takes.
    taken: u64,
    /// Whether it did not fit into the bound when it was last made.
    refused: bool,
    /// Whether the file in the data folder was read.
    looked: bool,
    /// Whether a job is going to write the file.
    writing: bool,
}

/// An index that several tasks share.
pub(crate) type SharedIndex<T> = Arc<Mutex<IncrementalIndex<T>>>;

/// The turn of the task that brings an index up to date.
pub(crate) type Turn<T> = OwnedMutexGuard<IncrementalIndex<T>>;

impl<T: IndexSource> IncrementalIndex<T> {
    /// An empty index whose bytes will count in `memory`.
    pub(crate) fn new(repository: RepositoryId, memory: &Arc<Bound>) -> SharedIndex<T> {
        let (memory, source, ready) = (memory.clone(), None, None);
        Arc::new(Mutex::new(Self {
            repository,
            source,
            ready,
            memory,
            taken: 0,
            refused: false,
            looked: false,
            writing: false,
        }))
    }

    /// The index, if nothing has changed since it was made.
    pub(crate) fn current(&self, store: &Store, now: Millis) -> Option<T::Whole> {
        let counts = self.memory.cache();
        let miss = match &self.ready {
            Some((stamp, whole)) if store.revisions().holds(stamp, now) => {
                counts.hit();
                return Some(whole.clone());
            }
            Some(_) => Miss::Stale,
            None if self.refused => Miss::Refused,
            None => Miss::Absent,
        };
        counts.miss(miss);
        None
    }

    /// The stamp that the index is valid for.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        self.ready.as_ref().map(|(stamp, _)| *stamp)
    }

    /// The data, if the index was used before.
    pub(crate) fn source(&self) -> Option<&T> {
        self.source.as_ref()
    }

    /// The data, for the task that has just made it.
    pub(crate) fn made(&self) -> Result<&T> {
        self.source.as_ref().ok_or(Error::GivenUp)
    }

    /// The same, mutable.
    pub(crate) fn made_mut(&mut self) -> Result<&mut T> {
        self.source.as_mut().ok_or(Error::GivenUp)
    }

    /// Drops the data.
    pub(crate) fn clear(&mut self) {
        if self.ready.take().is_some() {
            self.memory.cache().leave();
        }
        self.source = None;
        self.memory.give(std::mem::take(&mut self.taken));
    }

    /// Replaces the data.
    pub(crate) fn replace(&mut self, source: T) {
        self.clear();
        (self.source, self.looked) = (Some(source), true);
    }

    /// Stores the finished index if it fits into the bound. Otherwise each reader makes it again.
    fn settle(&mut self, stamp: Stamp, whole: &T::Whole) {
        let weight = self.source.as_ref().map_or(0, T::weight);
        self.refused = weight > self.taken && self.memory.take(weight - self.taken).is_err();
        if self.refused {
            self.memory.cache().evict(u64::from(self.ready.is_some()));
            self.clear();
            self.looked = false;
        } else {
            self.memory.give(self.taken.saturating_sub(weight));
            self.memory.cache().insert();
            if self.ready.is_none() {
                self.memory.cache().enter();
            }
            (self.taken, self.ready) = (weight, Some((stamp, whole.clone())));
        }
    }
}

impl<T: IndexSource> Drop for IncrementalIndex<T> {
    fn drop(&mut self) {
        if self.ready.is_some() {
            self.memory.cache().leave();
        }
        self.memory.give(self.taken);
    }
}

impl Context {
    /// Takes the turn. If the index was not used before, it is read from the data folder, provided that the file
    /// matches the database.
    pub(crate) async fn read_index<T: IndexSource>(&self, mut turn: Turn<T>, event: &mut Event) -> Result<Turn<T>> {
        if turn.source.is_some() || turn.looked {
            return Ok(turn);
        }
        turn.looked = true;
        let read = self.read_derived(turn.repository, T::FILE, event, T::read).await?;
        let Some((source, mark)) = read else { return Ok(turn) };
        if source.through() == mark.through && Mark::of(&self.store, mark.through, event).await? == Some(mark) {
            turn.source = Some(source);
        }
        Ok(turn)
    }

    /// Changes the data on a thread that may block. Data that cannot be decoded is dropped, and the next attempt makes it
    /// from rows.
    pub(crate) async fn change_index<T: IndexSource, R: Send + 'static>(
        &self,
        mut turn: Turn<T>,
        event: &mut Event,
        change: impl FnOnce(&mut T) -> Result<R> + Send + 'static,
    ) -> Result<(Turn<T>, R)> {
        let log = self.recorder.log();
        let change = move |(): &mut ()| match change(turn.made_mut()?) {
            Ok(done) => Ok((turn, done)),
            Err(error) => {
                if matches!(error, Error::Undecodable) {
                    let fields: [(&str, &dyn std::fmt::Display); 2] =
                        [("index", &T::FILE), ("repository", &turn.repository.0)];
                    log.error("an index in memory is damaged and is made again", &fields);
                    turn.clear();
                }
                Err(error)
            }
        };
        self.workers.run(Lane::Index, Op::IndexRender, event, change).await?
    }

    /// Ends the turn with the finished index. If much was added since the file was written, a job writes it again.
    pub(crate) fn settle_index<T: IndexSource>(&self, mut turn: Turn<T>, stamp: Stamp, whole: T::Whole) -> T::Whole {
        let much = turn.source.as_mut().is_some_and(|source| *source.unwritten() >= T::MUCH);
        turn.settle(stamp, &whole);
        if much && !turn.writing && turn.source.is_some() {
            turn.writing = true;
            let (context, index) = (self.clone(), Turn::mutex(&turn).clone());
            self.back.spawn(async move { context.keep_index(index).await });
        }
        whole
    }

    /// Writes the file if anything was added since the last write.
    pub(crate) async fn keep_index<T: IndexSource>(&self, index: SharedIndex<T>) {
        let mut turn = index.lock_owned().await;
        turn.writing = false;
        if turn.source.as_mut().is_none_or(|source| *source.unwritten() == 0) {
            return;
        }
        let mut job = Job::begin(&self.recorder, "index.keep");
        job.subject.kind = T::FILE;
        let done = self.write_index(turn, &mut job).await;
        if let Err(error) = &done {
            (job.reason, job.detail) = (Some(error.reason()), error.to_string());
        }
        job.end_as(&done);
    }

    async fn write_index<T: IndexSource>(&self, mut turn: Turn<T>, event: &mut Event) -> Result<()> {
        let Some(through) = turn.source.as_ref().map(T::through) else { return Ok(()) };
        let Some(mark) = Mark::of(&self.store, through, event).await? else { return Ok(()) };
        let id = turn.repository;
        let write = move |(): &mut ()| {
            let source = turn.source.as_mut()?;
            *source.unwritten() = 0;
            source.write(mark)
        };
        let parts = self.workers.run(Lane::Index, Op::IndexRender, event, write).await?;
        let Some(parts) = parts else { return Ok(()) };
        Ok(self.store.keep_derived(id, T::FILE, parts, event).await?)
    }
}
