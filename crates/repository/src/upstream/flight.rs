//! A fetch in flight: its progress and its result, as its followers see them.

use crate::content::{Growing, Grown};
use crate::upstream::KeptFile;
use crate::upstream::flight_use::FlightUse;
use crate::upstream::trouble::Trouble;
use format::tree::Checksum;
use std::fs;
use std::sync::Arc;
use telemetry::{Event, EventId, Millis};
use tokio::sync::watch;

/// A fetch in flight. It continues while any clone of this exists.
#[derive(Debug)]
pub(crate) struct Flight {
    /// The id of its event.
    pub(crate) id: EventId,
    pub(crate) stage: watch::Receiver<Stage>,
    pub(crate) used: FlightUse,
}

/// The progress of a fetch.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// The upstream has not answered yet.
    Asking,
    /// The file is arriving.
    Arriving(Arriving),
    /// The fetch has ended.
    Done(Result<FetchResult, Trouble>),
}

/// A file that is arriving. Its first bytes may be read already.
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
    /// The file, complete and verified.
    File(KeptFile, ArrivedBy),
    /// The upstream proved that there is no such file. The negative answer is valid until this moment.
    Missing(Millis),
}

/// The source of a fetched file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrivedBy {
    /// Another fetch had just stored them.
    Kept,
    /// The upstream sent them.
    Fetched,
    /// The upstream answered 304 for the cached bytes.
    Confirmed,
}

/// How long a fetch continues that the upstream has not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlightLifetime {
    /// While it has followers, because strangers can request any path and leave.
    WhileFollowed,
    /// To its end, because it renews a cached file for later requests.
    ToItsEnd,
}

impl FetchResult {
    /// The file, if the upstream sent one.
    pub(crate) fn fetched(&self) -> Option<&KeptFile> {
        match self {
            FetchResult::File(kept, ArrivedBy::Fetched) => Some(kept),
            _ => None,
        }
    }
}

/// The stage that a follower waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowUntil {
    /// There are bytes to read, or it is certain that there will be none.
    Arriving,
    /// The end.
    Done,
}

impl Flight {
    /// Waits for that stage. `None`: the fetch was dropped, because of a defect or because the server stops.
    pub(crate) async fn follow(mut self, until: FollowUntil, event: &mut Event) -> Option<Stage> {
        let following = self.used.follow(event);
        let enough = |stage: &Stage| match stage {
            Stage::Asking => false,
            Stage::Arriving(_) => until == FollowUntil::Arriving,
            Stage::Done(_) => true,
        };
        let stage = self.stage.wait_for(enough).await.ok().map(|stage| stage.clone());
        drop(following);
        stage
    }

    /// Keeps the fetch going to its end. No event waits for it.
    pub(crate) async fn see_through(mut self) {
        drop(self.stage.wait_for(|stage| matches!(stage, Stage::Done(_))).await);
    }
}

impl Arriving {
    pub(crate) fn growing(&self) -> Growing {
        let Self { file, grown, promised, .. } = self;
        Growing { file: file.clone(), len: self.len, grown: grown.clone(), promised: promised.clone() }
    }
}
