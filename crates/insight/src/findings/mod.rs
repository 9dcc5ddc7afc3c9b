//! Findings: what is wrong, why, what it costs, and what to change.
//!
//! A thread looks every ten seconds. Each check reads [`crate::signals::seen::Seen`] and returns a verdict; states, folding and ranking are the same for all.

mod catalogue;
pub(crate) mod check;
mod clients;
mod finding;
mod groups;
mod looking;
mod machine;
mod upstreams;
mod watch;

pub use check::{Change, FindingKind, Guard};
pub use finding::{Finding, FindingState, Mute};

use crate::signals::Facts;
use crate::signals::census::{FindingsCensus, Handover};
use crate::signals::watch::WatchSeen;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use telemetry::{Census, Clock, Log, Millis, Recorder, lock};

/// What findings need from the program when they begin.
pub struct FindingsOptions {
    /// The file in which states and history are kept. `None`: they are not kept.
    pub file: Option<PathBuf>,
    /// The figures of the server.
    pub recorder: Arc<Recorder>,
    /// The time of day.
    pub clock: Clock,
    /// For failures.
    pub log: Log,
}

/// How much the checks can say now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FindingsOverview {
    /// Open findings.
    pub open: usize,
    /// Findings that are seen, not yet for long enough.
    pub pending: usize,
    /// All checks.
    pub checks: usize,
    /// Checks that have enough data.
    pub able: usize,
    /// When the last of the others will have enough, if time is all that they need.
    pub all_able: Option<Millis>,
}

/// The findings of the server.
pub struct Findings {
    handover: Arc<Handover>,
    shared: Mutex<Shared>,
    wake: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread and its callers share.
#[derive(Default)]
struct Shared {
    facts: Arc<Facts>,
    watch: WatchSeen,
    /// Somebody wants to know now: how often that was said, and for how many of them it was looked.
    asked: u64,
    looked: u64,
    /// Called after the next look.
    waiting: Vec<Box<dyn FnOnce() + Send>>,
    stop: bool,
    findings: Vec<Finding>,
    overview: FindingsOverview,
}

impl Findings {
    /// Findings that see nothing until [`Findings::begin`].
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            handover: Arc::default(),
            shared: Mutex::default(),
            wake: Condvar::new(),
            thread: Mutex::default(),
        })
    }

    /// The census that counts every event.
    pub fn census(&self) -> Box<dyn Census> {
        Box::new(FindingsCensus::new(self.handover.clone()))
    }

    /// Starts the thread that looks.
    pub fn begin(self: &Arc<Self>, options: FindingsOptions) {
        let findings = Arc::downgrade(self);
        let looks = move || looking::run(&findings, &options);
        // Without the thread nothing is found.
        *lock(&self.thread) = std::thread::Builder::new().name("findings".to_owned()).spawn(looks).ok();
    }

    /// Takes what the program tells, which it gathers every ten seconds.
    pub fn observe(&self, facts: Facts) {
        lock(&self.shared).facts = Arc::new(facts);
    }

    /// Takes what the watch found.
    pub fn watched(&self, watch: WatchSeen) {
        lock(&self.shared).watch = watch;
        self.wake();
    }

    /// Replaces the mutes.
    pub fn mute(&self, _mutes: Vec<Mute>) {}

    /// Looks soon, because the time of day was set, or somebody wants to know now.
    pub fn wake(&self) {
        lock(&self.shared).asked += 1;
        self.wake.notify_all();
    }

    /// Calls `done` once it was looked for all that asked before: at once, unless somebody did.
    pub fn looked(&self, done: impl FnOnce() + Send + 'static) {
        let mut shared = lock(&self.shared);
        if shared.asked == shared.looked || shared.stop {
            drop(shared);
            return done();
        }
        shared.waiting.push(Box::new(done));
    }

    /// The findings in these states, ranked: those that cost most first, and symptoms below the cause that explains them.
    pub fn list(&self, states: &[FindingState]) -> Vec<Finding> {
        lock(&self.shared).findings.iter().filter(|finding| states.contains(&finding.state)).cloned().collect()
    }

    /// The findings that were pending or open at some time in `from..to`, ranked.
    pub fn history(&self, _from: Millis, _to: Millis) -> Vec<Finding> {
        Vec::new()
    }

    /// How much the checks can say now.
    pub fn overview(&self) -> FindingsOverview {
        lock(&self.shared).overview
    }

    /// Open findings about one of these repositories, or about a host that one of them calls.
    pub fn about(&self, _repositories: &[&str]) -> Vec<Finding> {
        Vec::new()
    }

    /// Ends the thread, and writes the states.
    pub fn close(&self) {
        lock(&self.shared).stop = true;
        self.wake.notify_all();
        if let Some(thread) = lock(&self.thread).take() {
            // It has ended if it panicked.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Findings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Findings").finish_non_exhaustive()
    }
}
