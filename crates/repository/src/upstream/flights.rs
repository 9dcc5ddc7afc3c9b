//! Single flight: at most one fetch of a path at a time. Concurrent requests for the path follow that fetch.

pub(crate) mod table;

use crate::error::{Error, Result};
use crate::upstream::fetch_job::FetchJob;
use crate::upstream::first_seen::record;
use crate::upstream::flight::{FetchResult, Flight, FlightLifetime, Stage};
use crate::upstream::flight_use::FlightUse;
use crate::upstream::flights::table::{FlightEntry, FlightKey};
use crate::upstream::proof::IndexedFile;
use crate::upstream::trouble::Trouble;
use crate::upstream::{Looked, Remote, Remotes};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use telemetry::{EventId, Job, Outcome, Slot};
use tokio::sync::watch;

impl Remote {
    /// The fetch of `path`: the one in flight, or a new one with this lifetime.
    pub(crate) fn flight(&self, path: &str, lasts: FlightLifetime) -> Result<Flight> {
        self.flight_of(path, lasts, IndexedFile::default(), None)
    }

    /// The same, for a file that an index of the upstream has, and that the caller has looked for in the cache. A Koji
    /// repository has no other files, so its upstream is asked for nothing else.
    pub(crate) fn flight_of(
        &self,
        path: &str,
        lasts: FlightLifetime,
        indexed: IndexedFile,
        looked: Option<Looked>,
    ) -> Result<Flight> {
        if !self.repository.asks {
            return Err(Error::Unasked);
        }
        let flights = &self.remotes.flights;
        let key = (self.repository.origin, path.to_owned());
        let mut table = flights.table();
        if let Some(line) = table.lines.get(&key) {
            return Ok(line.flight());
        }
        if self.repository.is_koji() && indexed.placed.is_none() {
            return Err(Error::NoSuchFile(path.to_owned()));
        }
        // Since the caller looked, another fetch of the path may have ended.
        let looked = looked.filter(|looked| looked.landings == flights.landings(key.0, path));
        let place = flights.enter(&mut table, key.0.repository).map_err(store::Error::from)?;
        let job = self.job("fetch", path);
        let (stages, stage) = watch::channel(Stage::Asking);
        let used = FlightUse::of(job.id);
        let flight = Flight { id: job.id, stage, used: used.clone() };
        let line = FlightEntry { id: job.id, stages: stages.clone(), used: used.clone() };
        // A fetch with the lifetime `ToItsEnd` holds a clone of itself.
        let own = (lasts == FlightLifetime::ToItsEnd).then(|| line.flight());
        table.lines.insert(key.clone(), line);
        // A runtime that stops drops the task at once, and the task locks the table when it is dropped.
        drop(table);
        let entry = Entry { remotes: self.remotes.clone(), id: flight.id, key };
        let under_way = UnderWay { remote: self.clone(), entry, used, _own: own, _place: place };
        self.remotes.back.spawn(async move { under_way.fly(stages, indexed, looked, job).await });
        Ok(flight)
    }

    /// The fetch of `path` that is in flight.
    pub(crate) fn flight_under_way(&self, path: &str) -> Option<Flight> {
        let key = (self.repository.origin, path.to_owned());
        self.remotes.flights.table().lines.get(&key).filter(|_| self.repository.asks).map(FlightEntry::flight)
    }

    /// Makes the fetch of `path` continue to its end even if its followers leave, because other clients will want the
    /// file.
    pub(crate) fn see_through(&self, path: &str) {
        if let Ok(flight) = self.flight(path, FlightLifetime::ToItsEnd) {
            self.remotes.back.spawn(flight.see_through());
        }
    }

    /// Whether no request follows the fetch of `path`. If so, no later one can follow it.
    pub(crate) fn left(&self, path: &str, stages: &watch::Sender<Stage>) -> bool {
        self.remotes.flights.left(&(self.repository.origin, path.to_owned()), stages)
    }

    /// The result of a call. The call is dropped if all followers of the fetch of `path` leave before it ends.
    pub(crate) async fn while_followed<T>(
        &self,
        path: &str,
        stages: &watch::Sender<Stage>,
        call: impl Future<Output = T>,
    ) -> Result<T, Trouble> {
        let left = async {
            stages.closed().await;
            // A follower may have arrived before the table was locked.
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

/// A fetch in flight and its resources.
struct UnderWay {
    remote: Remote,
    entry: Entry,
    used: FlightUse,
    _own: Option<Flight>,
    _place: Slot,
}

/// The entry of a fetch in the table. It is removed when the fetch ends in any way.
struct Entry {
    remotes: Arc<Remotes>,
    id: EventId,
    key: FlightKey,
}

impl UnderWay {
    async fn fly(self, stages: watch::Sender<Stage>, indexed: IndexedFile, looked: Option<Looked>, mut job: Job) {
        // The entry is removed before followers learn the result.
        let path = self.entry.key.1.clone();
        let file = self.remote.repository.file(&path);
        let fetch = FetchJob::new(&self.remote, file, &stages, &self.used, indexed);
        let landed = Box::pin(fetch.fly(looked, &mut job)).await;
        let outcome = match &landed {
            Ok(_) => Outcome::Done,
            Err(Trouble::Left) => Outcome::ClientGone,
            Err(_) => Outcome::Failed,
        };
        if let Err(trouble) = &landed {
            (job.reason, job.detail) = (trouble.reason(), trouble.detail());
        }
        // The entry is removed first: later requests must not get a result from before them.
        let fetched = landed.as_ref().ok().and_then(FetchResult::fetched).cloned();
        drop(self.entry);
        self.used.show(&job);
        stages.send_replace(Stage::Done(landed));
        // The journal has the files of a Koji repository as a part of their builds.
        if let Some(kept) = fetched.filter(|_| !self.remote.repository.is_koji())
            && let Err(error) = record::file(&self.remote, &file, &kept, &mut job).await
        {
            (job.reason, job.detail) = (Some(error.reason()), error.to_string());
        }
        self.used.end(&mut job);
        job.end(outcome);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.remotes.flights.land(&self.key, self.id);
    }
}
