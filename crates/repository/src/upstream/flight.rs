//! A fetch in flight, as its followers see it: how far it is, and what it came to.

use crate::content::{Growing, Grown};
use crate::upstream::KeptFile;
use crate::upstream::trouble::Trouble;
use format::tree::Checksum;
use std::fs;
use std::sync::Arc;
use telemetry::{Event, EventId, Millis, Op, Tick};
use tokio::sync::watch;

/// A fetch in flight. It goes on as long as anybody has this.
#[derive(Debug)]
pub(crate) struct Flight {
    /// That of its event.
    pub(crate) id: EventId,
    pub(crate) stage: watch::Receiver<Stage>,
}

/// How far a fetch is.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// It is not known yet whether there is a file.
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
    pub(crate) grown: watch::Receiver<Grown>,
    pub(crate) promised: Arc<[(Checksum, String)]>,
    pub(crate) modified: Option<Millis>,
    pub(crate) first_seen: Millis,
}

/// The result of a fetch.
#[derive(Debug, Clone)]
pub(crate) enum FetchResult {
    /// The file, whole and verified.
    File(KeptFile, ArrivedBy),
    /// The upstream proved that there is no file, which is believed until then.
    Missing(Millis),
}

/// How the bytes of a fetched file came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrivedBy {
    /// Another fetch had just brought them.
    Kept,
    /// The upstream gave them.
    Fetched,
    /// The upstream said that they have not changed.
    Confirmed,
}

/// For how long a fetch goes on that the upstream has not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlightLifetime {
    /// As long as it has followers: strangers can ask for any path, and leave.
    WhileFollowed,
    /// To its end: it renews a cached file, from which later requests benefit.
    ToItsEnd,
}

impl FetchResult {
    /// The file that the upstream gave, where it gave one.
    pub(crate) fn fetched(&self) -> Option<&KeptFile> {
        match self {
            FetchResult::File(kept, ArrivedBy::Fetched) => Some(kept),
            _ => None,
        }
    }
}

/// How far a follower waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowUntil {
    /// Until there are bytes to read, or it is known that there will be none.
    Arriving,
    /// Until the end.
    Done,
}

impl Flight {
    /// Waits for it. `None`: it was given up, by a defect of ours or because the server stops.
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
