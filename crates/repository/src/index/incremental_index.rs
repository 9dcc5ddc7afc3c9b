//! One large index of a repository: what it is made of, brought up to date by one at a time and shared by all who ask.
//!
//! Whoever asks and finds that something has changed takes its turn, reads what has changed since, and adds that. What is
//! worked on travels with the turn: when the client leaves, what is done is done, and the next goes on from there.

use crate::context::Context;
use crate::error::Error;
use crate::gem::hosted::Hosted;
use crate::index::rope::form::Mark;
use crate::repository::Repository;
use bytes::Bytes;
use std::sync::Arc;
use store::{Lane, RepositoryId, Seq, Stamp, Unit};
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

    /// Where a repository has it.
    fn slot(repository: &Repository) -> &Arc<Mutex<IncrementalIndex<Self>>>;
    /// The last change that is in it.
    fn through(&self) -> Seq;
    /// Bytes of memory, roughly.
    fn weight(&self) -> u64;
    /// How much came since it was written, in a measure of its own; 0 where it is quicker made than read.
    fn unwritten(&mut self) -> &mut u64;
    /// The file.
    fn write(&self, mark: Mark) -> Option<Vec<Bytes>>;
    /// From the file; `None` where that is something else.
    fn read(bytes: Bytes) -> Option<(Self, Mark)>;
}

/// Where it stands.
#[derive(Debug)]
pub(crate) struct IncrementalIndex<T: IndexSource> {
    pub(crate) made: Option<T>,
    /// What it is, and what that was made from.
    ready: Option<(Stamp, T::Whole)>,
    room: Arc<Bound>,
    taken: u64,
    /// Whether the file was looked at.
    looked: bool,
    /// Whether it is about to be written.
    writing: bool,
}

/// The turn of one who brings it up to date.
pub(crate) type Turn<T> = OwnedMutexGuard<IncrementalIndex<T>>;

impl<T: IndexSource> IncrementalIndex<T> {
    /// Nothing yet. What it will hold is counted in `room`.
    pub(crate) fn new(room: &Arc<Bound>) -> Arc<Mutex<Self>> {
        let slot = Self { made: None, ready: None, room: room.clone(), taken: 0, looked: false, writing: false };
        Arc::new(Mutex::new(slot))
    }

    /// The index, if nothing has changed since.
    pub(crate) fn current(&self, hosted: Hosted<'_>, now: Millis) -> Option<T::Whole> {
        let (stamp, whole) = self.ready.as_ref()?;
        hosted.store.revisions().holds(stamp, now).then(|| whole.clone())
    }

    /// Forgets what it is made of.
    pub(crate) fn clear(&mut self) {
        (self.made, self.ready) = (None, None);
        self.room.give(std::mem::take(&mut self.taken));
    }

    /// It is made of something else from now on.
    pub(crate) fn replace(&mut self, made: T) {
        self.clear();
        (self.made, self.looked) = (Some(made), true);
    }

    /// Keeps `whole`, made from what `stamp` stands for, where there is room. Else it is made again for each who asks.
    fn settle(&mut self, stamp: Stamp, whole: &T::Whole) {
        let weight = self.made.as_ref().map_or(0, T::weight);
        let fits = weight <= self.taken || self.room.take(weight - self.taken).is_ok();
        if fits {
            self.room.give(self.taken.saturating_sub(weight));
            (self.taken, self.ready) = (weight, Some((stamp, whole.clone())));
        } else {
            self.clear();
            self.looked = false;
        }
    }
}

impl<T: IndexSource> Drop for IncrementalIndex<T> {
    fn drop(&mut self) {
        self.room.give(self.taken);
    }
}

impl Context {
    /// Writes what has come since it was last written, if anything has.
    pub(crate) async fn keep<T: IndexSource>(&self, id: RepositoryId, slot: Arc<Mutex<IncrementalIndex<T>>>) {
        let mut turn = slot.lock_owned().await;
        turn.writing = false;
        if turn.made.as_mut().is_none_or(|made| *made.unwritten() == 0) {
            return;
        }
        self.recorder.attempt();
        let mut event = Event::job("index.keep", self.recorder.clock().now());
        event.subject.kind = T::FILE;
        let done = self.write(id, turn, &mut event).await;
        event.outcome = Some(if done.is_ok() { Outcome::Done } else { Outcome::Failed });
        if let Err(error) = done {
            (event.reason, event.detail) = (Some(error.reason()), error.to_string());
        }
        event.duration = Tick::now().since(event.began);
        self.recorder.release(event);
    }

    async fn write<T: IndexSource>(&self, id: RepositoryId, mut turn: Turn<T>, event: &mut Event) -> Result<(), Error> {
        let Some(through) = turn.made.as_ref().map(T::through) else { return Ok(()) };
        let Some(mark) = Mark::of(&self.store, through, event).await? else { return Ok(()) };
        let write = move |(): &mut ()| {
            let made = turn.made.as_mut()?;
            *made.unwritten() = 0;
            made.write(mark)
        };
        let parts = self.workers.run(Lane::Index, (Op::WorkWait, Op::IndexRender), event, write).await?;
        let Some(parts) = parts else { return Ok(()) };
        Ok(self.store.keep_derived(id, T::FILE, parts, event).await?)
    }
}

impl Hosted<'_> {
    /// Stands for everything in the repository. Taken before the work.
    pub(crate) fn stamp(self) -> Result<Stamp, Error> {
        let unit = Unit::All(self.repository.id);
        self.store.revisions().stamp(&[unit], Millis(i64::MAX)).ok_or(Error::GivenUp)
    }

    /// The turn with what the data folder has, where nothing is made yet and that belongs to this truth.
    pub(crate) async fn found<T: IndexSource>(self, mut turn: Turn<T>, event: &mut Event) -> Result<Turn<T>, Error> {
        if turn.made.is_some() || turn.looked {
            return Ok(turn);
        }
        let bytes = self.store.derived(self.repository.id, T::FILE, event).await?;
        turn.looked = true;
        let Some(bytes) = bytes else { return Ok(turn) };
        let read = move |(): &mut ()| T::read(bytes);
        let read = self.context.workers.run(Lane::Index, (Op::WorkWait, Op::IndexRender), event, read).await?;
        let Some((made, mark)) = read else { return Ok(turn) };
        if made.through() == mark.through && Mark::of(self.store, mark.through, event).await? == Some(mark) {
            turn.made = Some(made);
        }
        Ok(turn)
    }

    /// Works on what the index is made of, where that may take its time.
    pub(crate) async fn work<T: IndexSource, R: Send + 'static>(
        self,
        mut turn: Turn<T>,
        event: &mut Event,
        work: impl FnOnce(&mut T) -> Result<R, Error> + Send + 'static,
    ) -> Result<(Turn<T>, R), Error> {
        let work = move |(): &mut ()| {
            let done = work(turn.made.as_mut().ok_or(Error::GivenUp)?)?;
            Ok((turn, done))
        };
        self.context.workers.run(Lane::Index, (Op::WorkWait, Op::IndexRender), event, work).await?
    }

    /// Ends the turn with what came of it, and has it written where much has come.
    pub(crate) fn settle<T: IndexSource>(self, mut turn: Turn<T>, stamp: Stamp, whole: T::Whole) -> T::Whole {
        let much = turn.made.as_mut().is_some_and(|made| *made.unwritten() >= T::MUCH);
        turn.settle(stamp, &whole);
        if much && !turn.writing && turn.made.is_some() {
            turn.writing = true;
            let (context, id, slot) = (self.context.clone(), self.repository.id, T::slot(self.repository).clone());
            self.context.back.spawn(async move { context.keep(id, slot).await });
        }
        whole
    }
}
