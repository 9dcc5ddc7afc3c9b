//! One fetch of a path at a time: whoever else asks for it meanwhile follows that one.

use super::failure::Trouble;
use super::landing::Landing;
use super::{KeptFile, Remote, Remotes};
use crate::Growing;
use crate::visible::Row;
use format::tree::Checksum;
use std::collections::HashMap;
use std::fs::File;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use store::{Origin, RepositoryId, State};
use telemetry::{Bound, BoundName, Event, EventId, Full, Layer, Millis, Op, Outcome, Slot, Tick};
use tokio::sync::watch;

/// Most flights at once. Each has at most a few pieces of 64 KiB in memory.
const FLIGHTS_MAX: u64 = 1024;
/// Most of one repository: an upstream that keeps all who ask waiting leaves room for the others.
const FLIGHTS_MAX_EACH: u64 = FLIGHTS_MAX / 8;

/// Who asks another upstream than those before does not follow their flight.
type Path = (Origin, String);

/// The flights under way.
#[derive(Debug)]
pub(super) struct Flights {
    table: Mutex<Table>,
    bound: Arc<Bound>,
    /// Its capacity is each repository's, and what is used is that of the one that has most.
    each: Arc<Bound>,
}

#[derive(Debug, Default)]
struct Table {
    lines: HashMap<Path, Line>,
    /// How many each repository has; none of 0.
    of: HashMap<RepositoryId, u64>,
}

/// A flight, as the table has it: without following it.
#[derive(Debug)]
struct Line {
    id: EventId,
    told: watch::Sender<Stage>,
}

/// A flight, as those who follow it see it. As long as one has this, it goes on.
#[derive(Debug)]
pub(super) struct Flight {
    /// Its event's.
    pub(super) id: EventId,
    stage: watch::Receiver<Stage>,
}

/// How far a flight is.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    /// Nobody knows yet whether there is a file.
    Asking,
    /// The file arrives.
    Arriving(Arriving),
    /// The end.
    Landed(Result<Landed, Trouble>),
}

/// A file that arrives, and may be read as far as it has come.
#[derive(Debug, Clone)]
pub(super) struct Arriving {
    pub(super) file: Arc<File>,
    pub(super) len: Option<u64>,
    pub(super) grown: watch::Receiver<crate::Grown>,
    pub(super) promised: Arc<[(Checksum, String)]>,
    pub(super) modified: Option<Millis>,
    pub(super) first_seen: Millis,
}

/// What a flight came to.
#[derive(Debug, Clone)]
pub(super) enum Landed {
    /// The file, whole and verified.
    File(KeptFile, Came),
    /// The upstream proved that there is none, which is believed until then.
    Missing(Millis),
}

/// How the bytes of a file that landed came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// Another flight had just brought them.
    Kept,
    /// The upstream gave them.
    Fetched,
    /// The upstream said that they are as they were.
    Confirmed,
}

impl Default for Flights {
    fn default() -> Self {
        Self {
            table: Mutex::default(),
            bound: Bound::new(BoundName::Flights, "", FLIGHTS_MAX),
            each: Bound::new(BoundName::RepositoryFlights, "", FLIGHTS_MAX_EACH),
        }
    }
}

/// For how long a flight goes on that the upstream has not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasts {
    /// As long as somebody follows it: strangers can ask for any path, and leave.
    WhileFollowed,
    /// To its end: it makes good again what is kept, which whoever comes next is better off with.
    ToItsEnd,
}

impl Flights {
    pub(super) fn bounds(&self) -> [&Arc<Bound>; 2] {
        [&self.bound, &self.each]
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more of a repository.
    fn enter(&self, table: &mut Table, id: RepositoryId) -> Result<Slot, Full> {
        let has = table.of.get(&id).copied().unwrap_or(0);
        if has >= self.each.capacity() {
            self.each.reject();
            return Err(Full(BoundName::RepositoryFlights));
        }
        let place = self.bound.enter()?;
        table.of.insert(id, has + 1);
        self.each.observe(table.most());
        Ok(place)
    }

    /// Gives the place of one of a repository back.
    fn leave(&self, table: &mut Table, id: RepositoryId) {
        if let Some(has) = table.of.get_mut(&id) {
            *has -= 1;
        }
        table.of.retain(|_, has| *has > 0);
        self.each.observe(table.most());
    }

    /// Whether nobody follows a flight; nobody can from then on.
    fn left(&self, key: &Path, told: &watch::Sender<Stage>) -> bool {
        let mut table = self.table();
        let left = told.receiver_count() == 0;
        if left {
            table.lines.remove(key);
        }
        left
    }
}

impl Table {
    fn most(&self) -> u64 {
        self.of.values().copied().max().unwrap_or(0)
    }
}

impl Line {
    fn flight(&self) -> Flight {
        Flight { id: self.id, stage: self.told.subscribe() }
    }
}

impl Remote {
    /// The flight for `path`: the one under way, or one that begins now, and lasts so long.
    pub(super) fn flight(&self, path: &str, lasts: Lasts) -> Result<Flight, store::Error> {
        let flights = &self.remotes.flights;
        let key = (self.repository.origin(), path.to_owned());
        let mut table = flights.table();
        if let Some(line) = table.lines.get(&key) {
            return Ok(line.flight());
        }
        let place = flights.enter(&mut table, key.0.repository)?;
        let mut event = Event::job("fetch", self.now());
        event.subject.repository = self.repository.record.name.as_str().into();
        event.subject.package = path.into();
        (event.subject.kind, event.layer) = ("file", Layer::Remote);
        let (told, stage) = watch::channel(Stage::Asking);
        let flight = Flight { id: event.id, stage };
        let line = Line { id: event.id, told: told.clone() };
        // One that lasts follows itself.
        let own = (lasts == Lasts::ToItsEnd).then(|| line.flight());
        table.lines.insert(key.clone(), line);
        // A runtime that stops drops what it is given here and now, and that looks into the table.
        drop(table);
        let entry = Entry { remotes: self.remotes.clone(), id: flight.id, key };
        let under_way = UnderWay { remote: self.clone(), entry, _own: own, _place: place };
        self.remotes.back.spawn(async move { under_way.fly(told, event).await });
        Ok(flight)
    }

    /// What a call comes to, unless all who follow the flight for `path` leave before: then it is dropped.
    pub(super) async fn while_followed<T>(
        &self,
        (path, told): (&str, &watch::Sender<Stage>),
        call: impl Future<Output = T>,
    ) -> Result<T, Trouble> {
        let key = (self.repository.origin(), path.to_owned());
        let left = async {
            told.closed().await;
            // Another may have come before the table was locked.
            while !self.remotes.flights.left(&key, told) {
                told.closed().await;
            }
        };
        let (mut call, mut left) = (pin!(call), pin!(left));
        poll_fn(|cx| match call.as_mut().poll(cx) {
            Poll::Ready(came) => Poll::Ready(Ok(came)),
            Poll::Pending => left.as_mut().poll(cx).map(|()| Err(Trouble::Left)),
        })
        .await
    }
}

/// A flight and what it holds.
struct UnderWay {
    remote: Remote,
    entry: Entry,
    _own: Option<Flight>,
    _place: Slot,
}

/// A flight's line in the table. Whenever and however the flight ends, it is taken out.
struct Entry {
    remotes: Arc<Remotes>,
    id: EventId,
    key: Path,
}

impl UnderWay {
    async fn fly(self, told: watch::Sender<Stage>, mut event: Box<Event>) {
        let recorder = &self.remote.remotes.recorder;
        recorder.attempt();
        let landed = Box::pin(Landing::new(&self.remote, &self.entry.key.1, &told).fly(&mut event)).await;
        event.outcome = Some(match &landed {
            Ok(_) => Outcome::Done,
            Err(Trouble::Left) => Outcome::ClientGone,
            Err(_) => Outcome::Failed,
        });
        if let Err(trouble) = &landed {
            (event.reason, event.detail) = (trouble.reason(), trouble.detail());
        }
        // Out of the table first: who comes from now on is not told of an end that was before.
        drop(self.entry);
        told.send_replace(Stage::Landed(landed));
        event.duration = Tick::now().since(event.began);
        recorder.release(event);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let flights = &self.remotes.flights;
        let mut table = flights.table();
        // One that was left is out already, and another may have begun meanwhile.
        if table.lines.get(&self.key).is_some_and(|line| line.id == self.id) {
            table.lines.remove(&self.key);
        }
        flights.leave(&mut table, self.key.0.repository);
    }
}

/// How far a follower waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Until there are bytes to read, or it is known that there will be none.
    Arriving,
    /// Until the end.
    Landed,
}

impl Flight {
    /// Waits. `None`: it was given up, by a defect of ours or because the server stops.
    pub(super) async fn follow(mut self, until: Until, event: &mut Event) -> Option<Stage> {
        let began = Tick::now();
        let enough = |stage: &Stage| match stage {
            Stage::Asking => false,
            Stage::Arriving(_) => until == Until::Arriving,
            Stage::Landed(_) => true,
        };
        let stage = self.stage.wait_for(enough).await.ok().map(|stage| stage.clone());
        event.add(Op::FlightWait, Tick::now().since(began));
        stage
    }
}

impl Row for Arriving {
    fn standing(&self) -> (State, Millis, Millis) {
        (State::Live, self.first_seen, self.first_seen)
    }
}

impl Arriving {
    pub(super) fn growing(&self) -> Growing {
        let Self { file, grown, promised, .. } = self;
        Growing { file: file.clone(), len: self.len, grown: grown.clone(), promised: promised.clone() }
    }
}
