//! Adds every finished event to the present window. It runs on the thread of the collector.

use super::window::Window;
use crate::hash::hash_of;
use crate::reuse::streams::{Reals, Streams};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use telemetry::{Because, Census, Glance, Kind, SamplingDecision, lock};

/// The window between the collector, which fills it, and the thread of findings, which takes it.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    state: Mutex<State>,
    given: Condvar,
}

#[derive(Debug, Default)]
struct State {
    window: Option<Box<Window>>,
    /// The collector counts a batch in it.
    lent: bool,
    /// The states of the caches that have miniatures.
    reals: Reals,
}

impl Handover {
    /// Tells the census the sizes of the caches.
    pub(crate) fn tell(&self, reals: Reals) {
        lock(&self.state).reals = reals;
    }

    /// The figures since the last call. Waits for the batch under way, at most a second.
    pub(crate) fn take(&self) -> Box<Window> {
        let state = self.given.wait_timeout_while(lock(&self.state), Duration::from_secs(1), |state| state.lent);
        let (mut state, _) = state.unwrap_or_else(PoisonError::into_inner);
        state.window.take().unwrap_or_default()
    }
}

/// The census of findings.
pub(crate) struct FindingsCensus {
    handover: Arc<Handover>,
    window: Option<Box<Window>>,
    streams: Streams,
}

impl FindingsCensus {
    pub(crate) fn new(handover: Arc<Handover>) -> Self {
        Self { handover, window: None, streams: Streams::default() }
    }

    fn borrow(handover: &Handover) -> (Box<Window>, Reals) {
        let mut state = lock(&handover.state);
        state.lent = true;
        (state.window.take().unwrap_or_default(), state.reals)
    }
}

impl Census for FindingsCensus {
    fn name(&self) -> &'static str {
        "findings"
    }

    fn see(&mut self, event: &Glance<'_>) -> SamplingDecision {
        let window = match &mut self.window {
            Some(window) => window,
            none => {
                let (window, reals) = Self::borrow(&self.handover);
                self.streams.set(&reals);
                none.insert(window)
            }
        };
        let path = if event.figures.kind == Kind::Request { hash_of(&[event.path]) } else { 0 };
        let decision = window.see(event, path);
        match self.streams.see(event, path, &mut window.caches.curves) {
            true => SamplingDecision::store(1, Because::Evidence),
            false => decision,
        }
    }

    fn pause(&mut self) {
        if let Some(window) = self.window.take() {
            let mut state = lock(&self.handover.state);
            (state.window, state.lent) = (Some(window), false);
            self.handover.given.notify_all();
        }
    }
}

impl Drop for FindingsCensus {
    fn drop(&mut self) {
        // After a panic as well: the thread of findings does not wait.
        self.pause();
    }
}
