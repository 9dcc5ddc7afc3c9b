//! Hands the counts of the collector over to the writer. Neither waits for the work of the other.

use super::delta::Delta;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use telemetry::{Census, Glance, SamplingDecision, lock};

/// The counts between the collector and the writer.
#[derive(Debug, Default)]
pub(super) struct Handover {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// `None` while the collector counts, or the writer has taken them.
    delta: Option<Box<Delta>>,
    /// Empty, for the next counts.
    spare: Option<Box<Delta>>,
    filled: bool,
    /// The writer waits until the collector gives them back.
    wanted: bool,
    /// How many callers asked for everything to be written, and for how many of them it is.
    asked: u64,
    done: u64,
    stop: bool,
    /// Somebody waited in vain: the disk hangs. Nobody waits until the writer goes on.
    hangs: bool,
    /// The writer has ended, or never began.
    gone: bool,
    /// How many censuses count.
    censuses: usize,
}

/// The next work of the writer.
pub(super) struct Work {
    pub(super) delta: Option<Box<Delta>>,
    pub(super) stop: bool,
    asked: u64,
}

impl Handover {
    /// How long counts gather before the writer fetches them. A kill loses as much.
    const GATHER: Duration = Duration::from_millis(500);

    /// The counts so far, for the collector.
    fn borrow(&self) -> Box<Delta> {
        let mut state = lock(&self.state);
        state.delta.take().or_else(|| state.spare.take()).unwrap_or_default()
    }

    fn give_back(&self, delta: Box<Delta>) {
        let mut state = lock(&self.state);
        state.delta = Some(delta);
        if !state.filled || state.wanted {
            state.filled = true;
            self.changed.notify_all();
        }
    }

    /// Waits for work.
    pub(super) fn fetch(&self) -> Work {
        let idle = |state: &mut State| !state.filled && !state.stop && state.asked == state.done;
        let mut state = wait(self.changed.wait_while(lock(&self.state), idle));
        let patient = |state: &mut State| !state.stop && state.asked == state.done;
        state = match self.changed.wait_timeout_while(state, Self::GATHER, patient) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
        let (stop, asked) = (state.stop, state.asked);
        if state.filled {
            // The collector gives them back after at most some hundreds of events.
            state.wanted = true;
            state = wait(self.changed.wait_while(state, |state| state.delta.is_none()));
        }
        (state.filled, state.wanted) = (false, false);
        Work { delta: state.delta.take(), stop, asked }
    }

    /// The writer has done its work.
    pub(super) fn done(&self, work: &Work, spare: Option<Box<Delta>>) {
        let mut state = lock(&self.state);
        (state.done, state.hangs) = (work.asked, false);
        state.spare = spare.or_else(|| state.spare.take());
        self.changed.notify_all();
    }

    /// Waits until the writer has written what the collector has given, for `most` at most. Returns whether it has.
    pub(super) fn flush(&self, most: Duration) -> bool {
        let mut state = lock(&self.state);
        state.asked += 1;
        let mine = state.asked;
        self.changed.notify_all();
        let most = if state.hangs { Duration::ZERO } else { most };
        let waits = |state: &mut State| state.done < mine && !state.gone;
        let (mut state, time) =
            self.changed.wait_timeout_while(state, most, waits).unwrap_or_else(PoisonError::into_inner);
        state.hangs |= time.timed_out();
        !time.timed_out()
    }

    /// Lets the writer end after it has written everything.
    pub(super) fn stop(&self) {
        lock(&self.state).stop = true;
        self.changed.notify_all();
    }

    /// There is no writer.
    pub(super) fn end(&self) {
        lock(&self.state).gone = true;
        self.changed.notify_all();
    }

    /// Whether a census counts events. None does after a panic or the end of the recorder.
    pub(super) fn is_counting(&self) -> bool {
        lock(&self.state).censuses > 0
    }
}

fn wait<T>(state: Result<T, PoisonError<T>>) -> T {
    state.unwrap_or_else(PoisonError::into_inner)
}

/// Counts each event.
pub(super) struct RollupCensus {
    handover: Arc<Handover>,
    delta: Option<Box<Delta>>,
}

impl RollupCensus {
    pub(super) fn new(handover: Arc<Handover>) -> Self {
        lock(&handover.state).censuses += 1;
        Self { handover, delta: None }
    }

    fn delta(&mut self) -> &mut Delta {
        let handover = &self.handover;
        self.delta.get_or_insert_with(|| handover.borrow())
    }
}

impl Census for RollupCensus {
    fn name(&self) -> &'static str {
        "rollups"
    }

    fn see(&mut self, event: &Glance<'_>) -> SamplingDecision {
        self.delta().see(event.figures, event.repository);
        SamplingDecision::DROP
    }

    fn lost(&mut self, events: u64) {
        self.delta().miss(events);
    }

    fn pause(&mut self) {
        if let Some(delta) = self.delta.take() {
            self.handover.give_back(delta);
        }
    }
}

impl Drop for RollupCensus {
    fn drop(&mut self) {
        // After a panic as well: what was counted before it is right.
        self.pause();
        lock(&self.handover.state).censuses -= 1;
    }
}
