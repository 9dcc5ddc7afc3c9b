//! One large index of a repository: what it is made of, brought up to date by one task at a time and shared by all readers.
//!
//! A task that finds the index out of date takes the turn, reads the changes since, and adds them. What it works on travels with the
//! turn: when the client leaves, what is done is done, and the next task goes on from there.

use crate::context::Context;
use crate::error::Error;
use crate::index::rope::form::Mark;
use bytes::Bytes;
use std::sync::Arc;
use store::{Lane, RepositoryId, Seq, Stamp, Store};
use telemetry::{Bound, Event, Millis, Op, Outcome, Tick};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// What an index is made of.
pub(crate) trait IndexSource: Sized + Send + 'static {
    /// The name of its file in the data folder.
    const FILE: &'static str;
    /// So much that came since it was written is worth writing it again.
    const MUCH: u64;
    /// The index.
    type Whole: Clone + Send + 'static;

    /// The last change that is in it.
    fn through(&self) -> Seq;
    /// Bytes of memory, roughly.
    fn weight(&self) -> u64;
    /// How much came since it was written, in a measure of its own; 0 where it is quicker made than read.
    fn unwritten(&mut self) -> &mut u64;
    /// The file.
    fn write(&self, mark: Mark) -> Option<Vec<Bytes>>;
    /// The source in a file; `None` where the file is something else.
    fn read(bytes: Bytes) -> Option<(Self, Mark)>;
}

/// An index of one repository.
#[derive(Debug)]
pub(crate) struct IncrementalIndex<T: IndexSource> {
    repository: RepositoryId,
    /// What it is made of; `None` before it is made for the first time.
    source: Option<T>,
    /// The index, and the stamp of what it was made from.
    ready: Option<(Stamp, T::Whole)>,
    /// The bound of the memory that all large indexes take together.
    memory: Arc<Bound>,
    /// Bytes of it that this index takes.
    taken: u64,
    /// Whether the file in the data folder was looked at.
    looked: bool,
    /// Whether a job is about to write that file.
    writing: bool,
}

/// An index that tasks share.
pub(crate) type SharedIndex<T> = Arc<Mutex<IncrementalIndex<T>>>;

/// The turn of the task that brings an index up to date.
pub(crate) type Turn<T> = OwnedMutexGuard<IncrementalIndex<T>>;

impl<T: IndexSource> IncrementalIndex<T> {
    /// An index that is not made yet. Its bytes will count in `memory`.
    pub(crate) fn new(repository: RepositoryId, memory: &Arc<Bound>) -> SharedIndex<T> {
        let (memory, source, ready) = (memory.clone(), None, None);
        Arc::new(Mutex::new(Self { repository, source, ready, memory, taken: 0, looked: false, writing: false }))
    }

    /// The index, if nothing has changed since it was made.
    pub(crate) fn current(&self, store: &Store, now: Millis) -> Option<T::Whole> {
        let (stamp, whole) = self.ready.as_ref()?;
        store.revisions().holds(stamp, now).then(|| whole.clone())
    }

    /// The stamp of what it was made from.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        self.ready.as_ref().map(|(stamp, _)| *stamp)
    }

    /// What it is made of, where it is made.
    pub(crate) fn source(&self) -> Option<&T> {
        self.source.as_ref()
    }

    /// The same, for the task that has made it.
    pub(crate) fn made(&self) -> Result<&T, Error> {
        self.source.as_ref().ok_or(Error::GivenUp)
    }

    /// The same, to change it.
    pub(crate) fn made_mut(&mut self) -> Result<&mut T, Error> {
        self.source.as_mut().ok_or(Error::GivenUp)
    }

    /// Forgets what it is made of.
    pub(crate) fn clear(&mut self) {
        (self.source, self.ready) = (None, None);
        self.memory.give(std::mem::take(&mut self.taken));
    }

    /// Makes it of something else.
    pub(crate) fn replace(&mut self, source: T) {
        self.clear();
        (self.source, self.looked) = (Some(source), true);
    }

    /// Keeps `whole`, if it fits into the bound. Else it is made again for each reader.
    fn settle(&mut self, stamp: Stamp, whole: &T::Whole) {
        let weight = self.source.as_ref().map_or(0, T::weight);
        let fits = weight <= self.taken || self.memory.take(weight - self.taken).is_ok();
        if fits {
            self.memory.give(self.taken.saturating_sub(weight));
            (self.taken, self.ready) = (weight, Some((stamp, whole.clone())));
        } else {
            self.clear();
            self.looked = false;
        }
    }
}

impl<T: IndexSource> Drop for IncrementalIndex<T> {
    fn drop(&mut self) {
        self.memory.give(self.taken);
    }
}

impl Context {
    /// The turn with the index from the data folder, where it is not made yet and the file belongs to this truth.
    pub(crate) async fn read_index<T: IndexSource>(
        &self,
        mut turn: Turn<T>,
        event: &mut Event,
    ) -> Result<Turn<T>, Error> {
        if turn.source.is_some() || turn.looked {
            return Ok(turn);
        }
        let bytes = self.store.derived(turn.repository, T::FILE, event).await?;
        turn.looked = true;
        let Some(bytes) = bytes else { return Ok(turn) };
        let read = move |(): &mut ()| T::read(bytes);
        let read = self.workers.run(Lane::Index, Op::IndexRender, event, read).await?;
        let Some((source, mark)) = read else { return Ok(turn) };
        if source.through() == mark.through && Mark::of(&self.store, mark.through, event).await? == Some(mark) {
            turn.source = Some(source);
        }
        Ok(turn)
    }

    /// Changes what an index is made of, on a thread where that may take its time.
    pub(crate) async fn change_index<T: IndexSource, R: Send + 'static>(
        &self,
        mut turn: Turn<T>,
        event: &mut Event,
        change: impl FnOnce(&mut T) -> Result<R, Error> + Send + 'static,
    ) -> Result<(Turn<T>, R), Error> {
        let change = move |(): &mut ()| {
            let done = change(turn.made_mut()?)?;
            Ok((turn, done))
        };
        self.workers.run(Lane::Index, Op::IndexRender, event, change).await?
    }

    /// Ends the turn with the index that came of it. Where much has come since the file was written, a job writes it again.
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

    /// Writes what has come since the index was last written, if anything has.
    pub(crate) async fn keep_index<T: IndexSource>(&self, index: SharedIndex<T>) {
        let mut turn = index.lock_owned().await;
        turn.writing = false;
        if turn.source.as_mut().is_none_or(|source| *source.unwritten() == 0) {
            return;
        }
        self.recorder.attempt();
        let mut event = Event::job("index.keep", self.recorder.clock().now());
        event.subject.kind = T::FILE;
        let done = self.write_index(turn, &mut event).await;
        event.outcome = Some(if done.is_ok() { Outcome::Done } else { Outcome::Failed });
        if let Err(error) = done {
            (event.reason, event.detail) = (Some(error.reason()), error.to_string());
        }
        event.duration = Tick::now().since(event.began);
        self.recorder.release(event);
    }

    async fn write_index<T: IndexSource>(&self, mut turn: Turn<T>, event: &mut Event) -> Result<(), Error> {
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
