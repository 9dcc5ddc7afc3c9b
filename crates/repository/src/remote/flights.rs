//! One fetch of a path at a time: whoever else asks for it meanwhile follows that one.

use super::failure::Trouble;
use super::landing::Landing;
use super::{KeptFile, Remote, Remotes};
use crate::Growing;
use crate::visible::Row;
use format::tree::Checksum;
use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{RepositoryId, State};
use telemetry::{Bound, BoundName, Event, EventId, Layer, Millis, Op, Outcome, Slot, Tick};
use tokio::sync::watch;

/// Most flights at once. Each has at most a few pieces of 64 KiB in memory.
const FLIGHTS_MAX: u64 = 1024;

type Path = (RepositoryId, String);

/// The flights under way.
#[derive(Debug)]
pub(super) struct Flights {
    table: Mutex<HashMap<Path, Flight>>,
    bound: Arc<Bound>,
}

/// A flight, as those who follow it see it.
#[derive(Debug, Clone)]
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
        Self { table: Mutex::default(), bound: Bound::new(BoundName::Flights, "", FLIGHTS_MAX) }
    }
}

impl Flights {
    pub(super) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Path, Flight>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remote {
    /// The flight for `path`: the one under way, or one that begins now. Nobody who follows it can end it.
    pub(super) fn flight(&self, path: &str) -> Result<Flight, store::Error> {
        let flights = &self.remotes.flights;
        let key = (self.repository.id, path.to_owned());
        let mut table = flights.table();
        if let Some(flight) = table.get(&key) {
            return Ok(flight.clone());
        }
        let place = flights.bound.enter()?;
        let mut event = Event::job("fetch", self.now());
        event.subject.repository = self.repository.record.name.as_str().into();
        event.subject.package = path.into();
        (event.subject.kind, event.layer) = ("file", Layer::Remote);
        let (told, stage) = watch::channel(Stage::Asking);
        let flight = Flight { id: event.id, stage };
        table.insert(key.clone(), flight.clone());
        // A runtime that stops drops what it is given here and now, and that looks into the table.
        drop(table);
        let entry = Entry { remotes: self.remotes.clone(), key };
        let under_way = UnderWay { remote: self.clone(), entry, _place: place };
        self.remotes.back.spawn(async move { under_way.fly(told, event).await });
        Ok(flight)
    }
}

/// A flight and what it holds.
struct UnderWay {
    remote: Remote,
    entry: Entry,
    _place: Slot,
}

/// A flight's line in the table. Whenever and however the flight ends, it is taken out.
struct Entry {
    remotes: Arc<Remotes>,
    key: Path,
}

impl UnderWay {
    async fn fly(self, told: watch::Sender<Stage>, mut event: Box<Event>) {
        let recorder = &self.remote.remotes.recorder;
        recorder.attempt();
        let landed = Box::pin(Landing::new(&self.remote, &self.entry.key.1, &told).fly(&mut event)).await;
        event.outcome = Some(if landed.is_ok() { Outcome::Done } else { Outcome::Failed });
        if let Err(trouble) = &landed {
            (event.reason, event.detail) = (Some(trouble.reason()), trouble.to_string());
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
        self.remotes.flights.table().remove(&self.key);
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
