//! Wakes the thread that works with object storage.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use telemetry::lock;
use tokio::sync::Notify;

/// What the thread is wanted for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rung {
    /// There may be work.
    pub(crate) work: bool,
    /// It ends after this turn.
    pub(crate) stop: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Mutex<Rung>,
    changed: Condvar,
    ends: Notify,
}

impl Bell {
    /// There may be work.
    pub(crate) fn ring(&self) {
        lock(&self.rung).work = true;
        self.changed.notify_all();
    }

    /// The thread ends.
    pub(crate) fn stop(&self) {
        lock(&self.rung).stop = true;
        self.changed.notify_all();
        // It is kept for a turn that begins to wait later.
        self.ends.notify_one();
    }

    /// Waits until the thread is to end. One task may wait.
    pub(crate) async fn stopped(&self) {
        self.ends.notified().await;
    }

    /// Whether the thread is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        lock(&self.rung).stop
    }

    /// Whether the thread has more to do than its present work.
    pub(crate) fn is_rung(&self) -> bool {
        *lock(&self.rung) != Rung::default()
    }

    /// Waits until it rings, at most for `longest`; `None`: without a limit.
    pub(crate) fn wait(&self, longest: Option<Duration>) -> Rung {
        let idle = |rung: &mut Rung| *rung == Rung::default();
        let rung = lock(&self.rung);
        let mut rung = match longest {
            Some(longest) => {
                let waited = self.changed.wait_timeout_while(rung, longest, idle);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.changed.wait_while(rung, idle).unwrap_or_else(PoisonError::into_inner),
        };
        let now = *rung;
        rung.work = false;
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_that_was_rung_before_wakes_once_and_the_end_stays() {
        let bell = Bell::default();
        bell.ring();
        bell.ring();
        assert!(bell.is_rung());
        assert_eq!(bell.wait(None), Rung { work: true, stop: false });
        assert!(!bell.is_rung());
        assert_eq!(bell.wait(Some(Duration::from_millis(1))), Rung::default());
        bell.stop();
        for _ in 0..2 {
            assert_eq!(bell.wait(None), Rung { work: false, stop: true });
        }
    }
}
