//! One fetch of a path at a time: whoever else asks for it meanwhile follows that one.

pub(crate) mod table;

use crate::content::Growing;
use crate::error::Error;
use crate::upstream::fetch_job::FetchJob;
use crate::upstream::first_seen::record;
use crate::upstream::flights::table::{FlightEntry, FlightKey};
use crate::upstream::trouble::Trouble;
use crate::upstream::{KeptFile, Remote, Remotes};
use format::tree::Checksum;
use std::fs;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use telemetry::{Event, EventId, Layer, Millis, Op, Outcome, Slot, Tick};
use tokio::sync::watch;

/// A flight, as those who follow it see it. As long as one has this, it goes on.
#[derive(Debug)]
pub(crate) struct Flight {
    /// Its event's.
    pub(crate) id: EventId,
    stage: watch::Receiver<Stage>,
}

/// How far a flight is.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// Nobody knows yet whether there is a file.
    Asking,
    /// The file arrives.
    Arriving(Arriving),
    /// The end.
    Done(Result<FetchResult, Trouble>),
}

/// A file that arrives, and may be read as far as it has come.
#[derive(Debug, Clone)]
pub(crate) struct Arriving {
    pub(crate) file: Arc<fs::File>,
    pub(crate) len: Option<u64>,
    pub(crate) grown: watch::Receiver<crate::content::Grown>,
    pub(crate) promised: Arc<[(Checksum, String)]>,
    pub(crate) modified: Option<Millis>,
    pub(crate) first_seen: Millis,
}

/// What a flight came to.
#[derive(Debug, Clone)]
pub(crate) enum FetchResult {
    /// The file, whole and verified.
    File(KeptFile, ArrivedBy),
    /// The upstream proved that there is none, which is believed until then.
    Missing(Millis),
}

/// How the bytes of a file that landed came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrivedBy {
    /// Another flight had just brought them.
    Kept,
    /// The upstream gave them.
    Fetched,
    /// The upstream said that they are as they were.
    Confirmed,
}

/// For how long a flight goes on that the upstream has not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlightLifetime {
    /// As long as somebody follows it: strangers can ask for any path, and leave.
    WhileFollowed,
    /// To its end: it makes good again what is kept, which whoever comes next is better off with.
    ToItsEnd,
}

impl FetchResult {
    /// The file that the upstream gave, where it gave one.
    fn fetched(&self) -> Option<&KeptFile> {
        match self {
            FetchResult::File(kept, ArrivedBy::Fetched) => Some(kept),
            _ => None,
        }
    }
}

impl Remote {
    /// The flight for `path`: the one under way, or one that begins now, and lasts so long.
    pub(crate) fn flight(&self, path: &str, lasts: FlightLifetime) -> Result<Flight, Error> {
        if !self.repository.asks {
            return Err(Error::Unasked);
        }
        let flights = &self.remotes.flights;
        let key = (self.repository.origin, path.to_owned());
        let mut table = flights.table();
        if let Some(line) = table.lines.get(&key) {
            return Ok(line.flight());
        }
        let place = flights.enter(&mut table, key.0.repository).map_err(store::Error::from)?;
        let mut event = Event::job("fetch", self.now());
        event.subject.repository = self.repository.record.name.as_str().into();
        event.subject.package = path.into();
        (event.subject.kind, event.layer) = ("file", Layer::Remote);
        let (stages, stage) = watch::channel(Stage::Asking);
        let flight = Flight { id: event.id, stage };
        let line = FlightEntry { id: event.id, stages: stages.clone() };
        // One that lasts follows itself.
        let own = (lasts == FlightLifetime::ToItsEnd).then(|| line.flight());
        table.lines.insert(key.clone(), line);
        // A runtime that stops drops what it is given here and now, and that looks into the table.
        drop(table);
        let entry = Entry { remotes: self.remotes.clone(), id: flight.id, key };
        let under_way = UnderWay { remote: self.clone(), entry, _own: own, _place: place };
        self.remotes.back.spawn(async move { under_way.fly(stages, event).await });
        Ok(flight)
    }

    /// Has the flight for `path` go on to its end though those leave who follow it, as others will come.
    pub(crate) fn see_through(&self, path: &str) {
        if let Ok(flight) = self.flight(path, FlightLifetime::ToItsEnd) {
            let mut event = Event::job("follow", self.now());
            self.remotes.back.spawn(async move { drop(flight.follow(FollowUntil::Done, &mut event).await) });
        }
    }

    /// Whether nobody follows the flight for `path`; nobody can from then on.
    pub(crate) fn left(&self, path: &str, stages: &watch::Sender<Stage>) -> bool {
        self.remotes.flights.left(&(self.repository.origin, path.to_owned()), stages)
    }

    /// What a call comes to, unless all who follow the flight for `path` leave before: then it is dropped.
    pub(crate) async fn while_followed<T>(
        &self,
        path: &str,
        stages: &watch::Sender<Stage>,
        call: impl Future<Output = T>,
    ) -> Result<T, Trouble> {
        let left = async {
            stages.closed().await;
            // Another may have come before the table was locked.
            while !self.left(path, stages) {
                stages.closed().await;
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
    key: FlightKey,
}

impl UnderWay {
    async fn fly(self, stages: watch::Sender<Stage>, mut event: Box<Event>) {
        let recorder = &self.remote.remotes.recorder;
        recorder.attempt();
        // The key goes with the entry before the end is told.
        let path = self.entry.key.1.clone();
        let file = self.remote.repository.file(&path);
        let landed = Box::pin(FetchJob::new(&self.remote, file, &stages).fly(&mut event)).await;
        event.outcome = Some(match &landed {
            Ok(_) => Outcome::Done,
            Err(Trouble::Left) => Outcome::ClientGone,
            Err(_) => Outcome::Failed,
        });
        if let Err(trouble) = &landed {
            (event.reason, event.detail) = (trouble.reason(), trouble.detail());
        }
        // Out of the table first: who comes from now on is not told of an end that was before.
        let fetched = landed.as_ref().ok().and_then(FetchResult::fetched).cloned();
        drop(self.entry);
        stages.send_replace(Stage::Done(landed));
        event.duration = Tick::now().since(event.began);
        if let Some(kept) = fetched
            && let Err(error) = record::file(&self.remote, &file, &kept, &mut event).await
        {
            (event.reason, event.detail) = (Some(error.reason()), error.to_string());
        }
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
pub(crate) enum FollowUntil {
    /// FollowUntil there are bytes to read, or it is known that there will be none.
    Arriving,
    /// FollowUntil the end.
    Done,
}

impl Flight {
    /// Waits. `None`: it was given up, by a defect of ours or because the server stops.
    pub(crate) async fn follow(mut self, until: FollowUntil, event: &mut Event) -> Option<Stage> {
        let began = Tick::now();
        let enough = |stage: &Stage| match stage {
            Stage::Asking => false,
            Stage::Arriving(_) => until == FollowUntil::Arriving,
            Stage::Done(_) => true,
        };
        let stage = self.stage.wait_for(enough).await.ok().map(|stage| stage.clone());
        event.add(Op::FlightWait, Tick::now().since(began));
        stage
    }
}

impl Arriving {
    pub(crate) fn growing(&self) -> Growing {
        let Self { file, grown, promised, .. } = self;
        Growing { file: file.clone(), len: self.len, grown: grown.clone(), promised: promised.clone() }
    }
}
