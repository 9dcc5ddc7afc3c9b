//! Asks the file system of the data folder for its state, and measures how long that takes. A disk that hangs, or a server of
//! network storage that is slow, shows here although no request uses it.

use crate::Tick;
use crate::histogram::durations::Durations;
use crate::lock;
use std::path::Path;
use std::sync::Mutex;

/// The durations of the requests to the file system.
#[derive(Debug, Default)]
pub(super) struct DiskProbe(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    ended: Durations,
    /// When the one under way began.
    began: Option<Tick>,
}

impl DiskProbe {
    /// Asks, and waits for the answer.
    pub(super) fn ask(&self, folder: &Path) {
        self.time(|| {
            // Network storage is asked for both. What it answers is in other figures.
            let _ = rustix::fs::statvfs(folder);
            let _ = rustix::fs::stat(folder);
        });
    }

    fn time(&self, ask: impl FnOnce()) {
        let began = Tick::now();
        lock(&self.0).began = Some(began);
        ask();
        let mut state = lock(&self.0);
        state.began = None;
        state.ended.record(Tick::now().since(began));
    }

    /// The durations so far, and nanoseconds since the one under way began; 0 if none is under way.
    pub(super) fn figures(&self) -> (Durations, u64) {
        let state = lock(&self.0);
        (state.ended.clone(), state.began.map_or(0, |began| Tick::now().since(began)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_does_not_come_is_seen_while_it_does_not() {
        let probe = DiskProbe::default();
        probe.time(|| {
            let (ended, under_way) = probe.figures();
            assert!(ended.histogram().count() == 0 && under_way > 0);
        });
        let (ended, under_way) = probe.figures();
        assert_eq!((ended.histogram().count(), under_way), (1, 0));
        probe.ask(Path::new("/"));
        assert_eq!(probe.figures().0.histogram().count(), 2);
    }
}
