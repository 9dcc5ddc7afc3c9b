//! When an upstream's index is looked at: when somebody asks, and it was not looked at for a while. One job does it, and all wait for it.

use crate::error::Error;
use crate::gem::found::ArrivingIndex;
use crate::gem::upstream::follow::{Follow, Whose};
use crate::upstream::PATIENCE;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use telemetry::{Event, Millis, Op, Tick};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The index is looked at again after so many milliseconds.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(60);
const LOOK_EVERY_MS: i64 = 60_000;
/// An index that no client asked for in so many milliseconds, 30 days, or since the start, is looked at less often.
const PAUSED_AFTER_MS: i64 = 30 * 86_400_000;
/// That often: every half an hour, so that it is never an hour behind.
const IDLE_EVERY_MS: i64 = 1_800_000;
/// Whoever asks for a name that is not listed has the index looked at again, unless that was done within so many milliseconds.
pub(crate) const RECENT_MS: i64 = 3_000;

impl Follow {
    /// Has the index looked at where nothing is known of it, or for too long. Where the upstream fails and something is known, that counts.
    pub(crate) async fn ready(&self, event: &mut Event) -> Result<(), Error> {
        self.index().ask(self.now());
        self.checked_since(Millis(self.now().0 - LOOK_EVERY_MS), event).await
    }

    /// The same for somebody who can read the first file while it arrives: returns that, if it comes before the index is looked at.
    pub(crate) async fn ready_or_arriving(&self, event: &mut Event) -> Result<Option<ArrivingIndex>, Error> {
        let began = Tick::now();
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
            event.add(Op::FlightWait, Tick::now().since(began));
        }
        Ok(arriving)
    }

    /// The same for somebody who asks for a name that is not listed.
    pub(crate) async fn ready_for_new(&self, event: &mut Event) -> Result<(), Error> {
        self.checked_since(Millis(self.now().0 - RECENT_MS), event).await
    }

    /// Has the index looked at, and its doubtful files fetched, by jobs that nobody waits for: less often where no client asked for long,
    /// and only if it was ever fetched.
    pub(crate) fn follow(&self) {
        let now = self.now();
        if !self.remote.repository.asks {
            return;
        }
        let asked = self.index().was_asked_since(Millis(now.0 - PAUSED_AFTER_MS));
        if !asked && !self.hints().are_waiting() && !self.index().is_idle_look_due(now, IDLE_EVERY_MS) {
            return;
        }
        self.index().ahead.want(self.index().doubts.due(now));
        // A little earlier than a client would, so that none has to wait. Where hints have it looked at, too, no earlier than that takes.
        let every = if self.hints().had_looks(now) { LOOK_EVERY_MS / 12 * 11 } else { LOOK_EVERY_MS / 2 };
        if self.was_tried(Millis(now.0 - every)) {
            return self.clone().fetch_ahead();
        }
        // While another look is under way this one is not needed.
        if let Ok(turn) = self.index().looking.clone().try_lock_owned() {
            // An index that clients ask for is fetched, though its first fetch failed.
            drop(if asked { self.start(turn) } else { self.start_if_followed(Whose::Ours, turn) });
        }
    }

    /// Has our log say this MD5 of a gem instead of `listed`.
    pub(crate) async fn correct(&self, name: &str, listed: &str, md5: &str) -> Result<(), Error> {
        let turn = self.index().looking.clone().lock_owned().await;
        let correct = self.clone().write_correction(name.to_owned(), listed.to_owned(), md5.to_owned(), turn);
        // Whoever asked may leave between the row and what is known of it.
        self.remote.remotes.back.spawn(correct).await.map_err(|_| Error::GivenUp)?
    }

    /// Starts a look. It goes on though whoever asked leaves: others wait for it.
    pub(crate) fn start(&self, turn: OwnedMutexGuard<()>) -> JoinHandle<Result<(), Error>> {
        self.remote.remotes.back.spawn(self.clone().run(Whose::AClient, turn))
    }

    /// The same where no client waits: an index that was never asked for is not fetched.
    pub(crate) fn start_if_followed(&self, whose: Whose, turn: OwnedMutexGuard<()>) -> JoinHandle<Result<(), Error>> {
        self.remote.remotes.back.spawn(self.clone().run(whose, turn))
    }

    /// Whether anything is known of the index.
    pub(crate) fn is_known(&self) -> bool {
        self.index().read(self.remote.repository.origin, |_| ()).is_some()
    }

    fn was_tried(&self, since: Millis) -> bool {
        self.index().read(self.remote.repository.origin, |known| known.tried >= since) == Some(true)
    }

    async fn checked_since(&self, since: Millis, event: &mut Event) -> Result<(), Error> {
        let origin = self.remote.repository.origin;
        if self.was_tried(since) {
            return Ok(());
        }
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
        let began = Tick::now();
        let looked = async {
            let turn = self.index().looking.clone().lock_owned().await;
            if self.was_tried(since) {
                return Ok(());
            }
            // Who waited for a look that failed asks no more than that did.
            match self.index().failure_after(failures) {
                Some(failure) => Err(failure.into()),
                None => self.start(turn).await.map_err(|_| Error::GivenUp)?,
            }
        };
        // Whoever has something to be answered with waits no longer for an upstream than this.
        let mut looked = pin!(looked);
        let done = loop {
            match timeout(PATIENCE, &mut looked).await {
                Ok(done) => break done,
                Err(_) if self.index().read(origin, |_| ()).is_some() => break Ok(()),
                Err(_) => {}
            }
        };
        event.add(Op::FlightWait, Tick::now().since(began));
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
