//! When an upstream's index is looked at: when somebody asks, and it was not looked at for a while. One job does it, and all wait for it.

use crate::error::Error;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::follow::Follow;
use telemetry::{Event, Millis, Op, Tick};

/// The index is looked at again after so many milliseconds.
pub(crate) const LOOK_EVERY_MS: i64 = 60_000;
/// An index that no client asked for in so many milliseconds is not followed: 30 days.
const PAUSED_AFTER_MS: i64 = 30 * 86_400_000;
/// Whoever asks for a name that is not listed has the index looked at again, unless that was done within so many milliseconds.
const RECENT_MS: i64 = 3_000;

impl RemoteGems<'_> {
    /// Has the index looked at where nothing is known of it, or for too long. Where the upstream fails and something is known, that counts.
    pub(crate) async fn ready(self, event: &mut Event) -> Result<(), Error> {
        self.index.ask(self.now());
        self.checked_since(Millis(self.now().0 - LOOK_EVERY_MS), event).await
    }

    /// The same for somebody who asks for a name that is not listed.
    pub(crate) async fn ready_for_new(self, event: &mut Event) -> Result<(), Error> {
        self.checked_since(Millis(self.now().0 - RECENT_MS), event).await
    }

    /// Looks at the index, whoever asked lately, unless nobody did for long.
    pub(crate) async fn follow(self, event: &mut Event) -> Result<(), Error> {
        match self.index.was_asked_since(Millis(self.now().0 - PAUSED_AFTER_MS)) {
            // A little earlier than a client would, so that none has to wait.
            true => self.checked_since(Millis(self.now().0 - LOOK_EVERY_MS / 2), event).await,
            false => Ok(()),
        }
    }

    async fn checked_since(self, since: Millis, event: &mut Event) -> Result<(), Error> {
        let origin = self.remote.repository.origin;
        let tried = || self.index.read(origin, |known| known.tried >= since) == Some(true);
        if tried() {
            return Ok(());
        }
        let known = self.index.read(origin, |_| ()).is_some();
        if !self.remote.repository.asks {
            return if known { Ok(()) } else { Err(Error::Unasked) };
        }
        match self.remote.may_wait() {
            Ok(()) => {}
            Err(_) if known => return Ok(()),
            Err(error) => return Err(error),
        }
        let began = Tick::now();
        let turn = self.index.looking.clone().lock_owned().await;
        event.add(Op::FlightWait, Tick::now().since(began));
        if tried() {
            return Ok(());
        }
        let follow = Follow { remote: self.remote.clone(), context: self.context.clone() };
        // It goes on though whoever asked leaves: others wait for it.
        let job = self.remote.remotes.back.spawn(follow.run(turn));
        let done = job.await.map_err(|_| Error::GivenUp)?;
        event.add(Op::FlightWait, Tick::now().since(began));
        match self.index.read(origin, |_| ()) {
            Some(()) => Ok(()),
            None => done,
        }
    }
}
