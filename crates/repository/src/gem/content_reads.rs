//! The turn to read the content of a gem for people: one request at a time.
//!
//! Anyone who may read a repository can ask for a README or a difference, and each unpacks some MiB. So they never occupy the threads that
//! make the indexes of builds.

use crate::error::{Error, Result};
use crate::upstream::PATIENCE;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Bound, BoundName, Event, Full, Op, Slot};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Maximum number of reads that wait or run. A read takes some tenths of a second.
const READS: u64 = 16;

/// The reads of gems for people.
#[derive(Debug)]
pub(crate) struct ContentReads {
    one: Arc<Semaphore>,
    bound: Arc<Bound>,
    patience: Duration,
}

/// The turn of a read. It moves into the work, which ends later than a request whose client went away.
#[derive(Debug)]
pub(crate) struct Turn {
    _one: OwnedSemaphorePermit,
    _slot: Slot,
}

impl Default for ContentReads {
    fn default() -> Self {
        Self::new(READS, PATIENCE)
    }
}

impl ContentReads {
    fn new(reads: u64, patience: Duration) -> Self {
        Self { one: Arc::new(Semaphore::new(1)), bound: Bound::new(BoundName::ContentReads, "", reads), patience }
    }

    /// The reads that wait or run.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The turn to read. This fails at once if too many reads wait, and if the turn does not come within [`PATIENCE`].
    pub(crate) async fn turn(&self, event: &mut Event) -> Result<Turn> {
        let _slot = self.bound.enter().map_err(store::Error::from)?;
        let waiting = self.bound.wait();
        let turn = event.waited(Op::TurnWait, timeout(self.patience, self.one.clone().acquire_owned())).await;
        drop(waiting);
        let late = |_| store::Error::from(Full(self.bound.name()));
        Ok(Turn { _one: turn.map_err(late)?.map_err(|_| Error::GivenUp)?, _slot })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Millis, Reason};

    #[tokio::test]
    async fn one_gem_is_read_at_a_time_and_a_wait_for_the_turn_is_bounded() {
        let mut event = Event::job("GET", Millis(0));
        let short = ContentReads::new(2, Duration::ZERO);
        let held = short.turn(&mut event).await.unwrap();
        let late = short.turn(&mut event).await.unwrap_err();
        assert_eq!((late.reason(), short.bound.used(), short.bound.rejected()), (Reason::BoundFull, 1, 0));
        drop(held);
        drop(short.turn(&mut event).await.unwrap());
        let full = ContentReads::new(1, PATIENCE);
        let held = full.turn(&mut event).await.unwrap();
        assert_eq!(full.turn(&mut event).await.unwrap_err().reason(), Reason::BoundFull);
        assert_eq!(full.bound.rejected(), 1);
        drop(held);
        assert_eq!(full.bound.used(), 0);
    }
}
