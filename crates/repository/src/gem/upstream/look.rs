//! Decides when an upstream's index is checked: when a client needs it and the last check is too old. One job does it,
//! and all clients wait for it.

use crate::error::{Error, Result};
use crate::gem::found::ArrivingIndex;
use crate::gem::upstream::follow::{Follow, Whose};
use crate::upstream::PATIENCE;
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::sync::OnceLock;
use std::task::Poll;
use std::time::Duration;
use telemetry::{Event, Millis, Miss, Op};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The interval between two looks.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(60);
const LOOK_EVERY_MS: i64 = 60_000;
/// An index that no client requested for this number of milliseconds, 30 days, or since the start, is checked less
/// often.
const PAUSED_AFTER_MS: i64 = 30 * 86_400_000;
/// The interval for such an index, in milliseconds: half an hour, so that it is never an hour behind.
const IDLE_EVERY_MS: i64 = 1_800_000;
/// A request for a name that is not listed causes a look, unless the last one is at most this number of milliseconds
/// old.
pub(crate) const RECENT_MS: i64 = 3_000;

impl Follow {
    /// Checks the index if it was never seen, or if the last check is too old. If the upstream fails, the known state
    /// is used.
    pub(crate) async fn ready(&self, event: &mut Event) -> Result<()> {
        self.index().ask(self.now());
        self.checked_since(Millis(self.now().0 - LOOK_EVERY_MS), event).await
    }

    /// The same for a client that can read the first file while it arrives. Returns that file if it becomes readable
    /// before the check ends.
    pub(crate) async fn ready_or_arriving(&self, event: &mut Event) -> Result<Option<ArrivingIndex>> {
        let arriving = {
            let (mut ready, mut shown) =
                (pin!(self.ready(event)), pin!(self.index().arrivals.shown(self.remote.repository.origin)));
            poll_fn(|cx| match shown.as_mut().poll(cx) {
                Poll::Ready(arriving) => Poll::Ready(Ok(arriving)),
                Poll::Pending => ready.as_mut().poll(cx).map(|ready| ready.map(|()| None)),
            })
            .await?
        };
        if arriving.is_some() {
            self.index().last_look().iter().for_each(|look| look.add_to(event));
        }
        Ok(arriving)
    }

    /// The same for a client that requests a name that is not listed.
    pub(crate) async fn ready_for_new(&self, event: &mut Event) -> Result<()> {
        self.checked_since(Millis(self.now().0 - RECENT_MS), event).await
    }

    /// Starts background jobs that check the index and fetch mismatching files: less often without clients, and only
    /// for an index that was fetched before.
    pub(crate) fn follow(&self) {
        let now = self.now();
        if !self.remote.repository.asks {
            return;
        }
        if self.is_followed_elsewhere() {
            self.index().ahead.want(self.index().doubts.due(now));
            return self.clone().fetch_ahead();
        }
        let asked = self.index().was_asked_since(Millis(now.0 - PAUSED_AFTER_MS));
        if !asked
            && !self.remote.follows_for_others()
            && !self.hints().are_waiting()
            && !self.index().is_idle_look_due(now, IDLE_EVERY_MS)
        {
            return;
        }
        self.index().ahead.want(self.index().doubts.due(now));
        // A little before a client would need it, so that no client waits. If hints cause looks too, this one is not
        // early.
        let every = if self.hints().had_looks(now) { LOOK_EVERY_MS / 12 * 11 } else { LOOK_EVERY_MS / 2 };
        if self.was_tried(Millis(now.0 - every)) {
            return self.clone().fetch_ahead();
        }
        // A running look makes this one unnecessary.
        if let Ok(turn) = self.index().looking.clone().try_lock_owned() {
            // An index that clients request is fetched although its first fetch failed.
            drop(if asked { self.start(turn) } else { self.start_if_followed(Whose::Ours, turn) });
        }
    }

    /// Adds a line with the right MD5 of a gem in place of `listed`.
    pub(crate) async fn correct(&self, name: &str, listed: &str, md5: &str) -> Result<()> {
        let turn = self.index().looking.clone().lock_owned().await;
        let correct = self.clone().write_correction(name.to_owned(), listed.to_owned(), md5.to_owned(), turn);
        // The client may leave between the commit of the row and the change in memory.
        self.remote.remotes.back.spawn(correct).await.map_err(|_| Error::GivenUp)?
    }

    /// Starts a look. It continues after the client leaves, because other clients wait for it.
    pub(crate) fn start(&self, turn: OwnedMutexGuard<()>) -> JoinHandle<Result<()>> {
        self.start_look(Whose::AClient, turn)
    }

    /// The same without a client: an index that was never requested is not fetched.
    pub(crate) fn start_if_followed(&self, whose: Whose, turn: OwnedMutexGuard<()>) -> JoinHandle<Result<()>> {
        self.start_look(whose, turn)
    }

    /// Whether the index was ever seen.
    pub(crate) fn is_known(&self) -> bool {
        self.index().read(self.remote.repository.origin, |_| ()).is_some()
    }

    /// The hash of its upstream, for the counts of the cache.
    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.remote.repository.origin.hash(&mut hasher);
        hasher.finish()
    }

    /// Whether another node looks at the index, whose rows this one adds.
    fn is_followed_elsewhere(&self) -> bool {
        self.remote.is_followed_elsewhere(self.index().read(self.remote.repository.origin, |known| known.tried))
    }

    fn was_tried(&self, since: Millis) -> bool {
        self.index().read(self.remote.repository.origin, |known| known.tried >= since) == Some(true)
    }

    async fn checked_since(&self, since: Millis, event: &mut Event) -> Result<()> {
        let (origin, counts) = (self.remote.repository.origin, self.remote.remotes.indexes.cache());
        // A client that requests a new name wants to know more.
        let may_be_elsewhere = since.0 <= self.now().0 - LOOK_EVERY_MS;
        if self.was_tried(since) || may_be_elsewhere && self.is_followed_elsewhere() {
            counts.hit();
            return Ok(());
        }
        counts.miss(if self.is_known() { Miss::Stale } else { counts.why_absent(|| self.hash()) });
        let failures = self.index().failures();
        self.load(event).await?;
        let known = self.index().read(origin, |_| ()).is_some();
        if !self.remote.repository.asks {
            return if known { Ok(()) } else { Err(Error::Unasked) };
        }
        match self.remote.may_wait() {
            Ok(()) => {}
            Err(_) if known => return Ok(()),
            Err(error) => return Err(error),
        }
        let id = event.id;
        let mut look = self.index().last_look().filter(|look| !look.is_over());
        look.iter().for_each(|look| look.followed_by(id));
        let own = OnceLock::new();
        let looked = async {
            let turn = self.index().looking.clone().lock_owned().await;
            if self.was_tried(since) {
                return Ok(());
            }
            // A request that waited for a failed look starts no other look.
            match self.index().failure_after(failures) {
                Some(failure) => Err(failure.into()),
                None => {
                    let started = self.start(turn);
                    if let Some(look) = self.index().last_look() {
                        look.followed_by(id);
                        let _ = own.set(look);
                    }
                    started.await.map_err(|_| Error::GivenUp)?
                }
            }
        };
        // A request that has another answer waits no longer for an upstream than this.
        let mut looked = pin!(looked);
        let waiting = event.running(Op::FlightWait);
        let done = loop {
            match timeout(PATIENCE, &mut looked).await {
                Ok(done) => break done,
                Err(_) if self.index().read(origin, |_| ()).is_some() => break Ok(()),
                Err(_) => {}
            }
        };
        drop(waiting);
        look = own.get().cloned().or(look);
        look.iter().for_each(|look| look.add_to(event));
        match self.index().read(origin, |_| ()) {
            Some(()) => Ok(()),
            None => done.inspect_err(|error| {
                if let Error::Upstream(failure) = error {
                    event.detail = failure.detail();
                }
            }),
        }
    }
}
