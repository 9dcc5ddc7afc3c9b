//! Findings: faults with their causes, their cost, and what to change.
//!
//! A thread looks every ten seconds. Each check reads [`crate::signals::seen::Seen`] and returns a verdict; states, folding and ranking are the same for all.

mod about;
mod baselines;
pub(crate) mod caches;
mod catalogue;
pub(crate) mod check;
mod clients;
mod custom;
#[cfg(test)]
mod docs;
mod examine;
mod finding;
mod fold;
mod found;
mod gauge;
mod groups;
mod history;
mod kept;
mod listed;
mod looking;
mod machine;
mod merged;
mod observation;
mod program;
mod promise;
mod promises;
mod rank;
mod saves;
mod state;
mod stored;
mod tally;
#[cfg(test)]
mod tests;
mod turned;
mod upstreams;
mod view;
mod watch;
mod wider;
mod wording;

pub use caches::curves::{CacheCurve, CurveNow, CurveSize};
pub use catalogue::{CheckAbout, check_list};
pub use check::{Change, FindingKind, Guard};
pub use custom::{CustomFinding, NotCustom, Threshold};
pub use finding::{Finding, FindingState, Mute};
pub use groups::fact_levels::{FactLevel, FactLevels};
pub use promise::{Promise, PromiseState};

use crate::ask::Answer;
use crate::insight::Counts;
use crate::normal::Baseline;
use crate::normal::baseline::Minutes;
use crate::signals::Facts;
use crate::signals::census::{FindingsCensus, Handover};
use crate::signals::watch::WatchSeen;
use crate::sizing::loads::Loads;
use crate::sizing::surroundings::Surroundings;
use crate::sizing::{Sizing, SizingAsked};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{By, Census, Clock, Log, LongJob, Metric, Millis, OpenFinding, Recorder, lock};
use view::View;

/// What findings need from the program when they begin.
pub struct FindingsOptions {
    /// The file in which states and history are kept, in a folder of its own. `None`: they are not kept.
    pub file: Option<PathBuf>,
    /// The findings that the settings define.
    pub custom: Vec<CustomFinding>,
    /// Answers their questions. `None`: nothing is counted.
    pub counts: Option<Counts>,
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
    /// Open findings that are listed by themselves.
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
    /// The counts for baselines.
    minutes: Arc<Mutex<Minutes>>,
    /// What was wanted of pools and limits.
    loads: Arc<Mutex<Loads>>,
    thread: Mutex<Option<JoinHandle<Option<()>>>>,
    /// The heartbeat of the thread.
    job: OnceLock<Arc<LongJob>>,
}

/// The longest usual time between two heartbeats.
const JOB_EVERY: Duration = Duration::from_secs(30);

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
    /// Called after each look.
    told: Vec<Arc<dyn Fn() + Send + Sync>>,
    stop: bool,
    mutes: Vec<Mute>,
    view: View,
    overview: FindingsOverview,
    /// What sizing reads besides the loads, as of the last look that somebody asked for.
    around: Arc<Surroundings>,
    curves: Arc<Vec<CacheCurve>>,
}

impl Findings {
    /// Findings that see nothing until [`Findings::begin`].
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            handover: Arc::default(),
            shared: Mutex::default(),
            wake: Condvar::new(),
            thread: Mutex::default(),
            minutes: Arc::default(),
            loads: Arc::default(),
            job: OnceLock::new(),
        })
    }

    /// The census that counts every event.
    pub fn census(&self) -> Box<dyn Census> {
        Box::new(FindingsCensus::new(self.handover.clone()))
    }

    /// Starts the thread that looks.
    pub fn begin(self: &Arc<Self>, options: FindingsOptions) {
        let findings = Arc::downgrade(self);
        let doc = "Findings that are listed by themselves, by their state";
        options.recorder.figures(Metric::gauge("findings", doc), By::Label("state"), {
            let findings = findings.clone();
            move || findings.upgrade().map_or_else(Vec::new, |findings| lock(&findings.shared).view.counts())
        });
        let job = self.job.get_or_init(|| options.recorder.long_job("findings", JOB_EVERY)).clone();
        let looks = move || {
            // After a panic it begins with no figures of the time before.
            job.supervise(
                &options.log,
                || looking::run(&findings, &options),
                |time| findings.upgrade().is_some_and(|it| it.rest(time)),
            )
        };
        let thread = std::thread::Builder::new().name("findings".to_owned()).spawn(looks);
        // Without the thread nothing is found, and nobody waits for it.
        lock(&self.shared).stop |= thread.is_err();
        *lock(&self.thread) = thread.ok();
    }

    /// What requests cost whatever the machine, in the minutes of this run since a moment, of at most a day. `version`: that of the program.
    pub fn baseline(&self, since: Millis, now: Millis, version: &str) -> Baseline {
        lock(&self.minutes).baseline(since, now, version)
    }

    /// How many of everything the traffic of a period needs. It computes for some milliseconds. Wake the findings and wait for the look before. `counts`: the answer to
    /// [`SizingAsked::question`], if there is one.
    pub fn sizing(&self, asked: SizingAsked, counts: Option<&Answer>) -> Sizing {
        let around = lock(&self.shared).around.clone();
        Sizing::of(asked, &lock(&self.loads), &around, counts)
    }

    /// Takes what the program tells, which it gathers every ten seconds.
    pub fn observe(&self, facts: Facts) {
        lock(&self.shared).facts = Arc::new(facts);
    }

    /// Takes what the watch found. It is looked at soon if serving began to stand still or goes on again.
    pub fn watched(&self, watch: WatchSeen) {
        let mut shared = lock(&self.shared);
        let news = |before: &WatchSeen| {
            before.stuck.is_some() != watch.stuck.is_some() || before.previous_run != watch.previous_run
        };
        let is_news = news(&shared.watch);
        shared.watch = watch;
        drop(shared);
        if is_news {
            self.wake();
        }
    }

    /// Replaces the mutes. A muted finding is in the state [`FindingState::Muted`] until its mute ends, and comes back then.
    pub fn mute(&self, mutes: Vec<Mute>) {
        let mut shared = lock(&self.shared);
        if shared.mutes == mutes {
            return;
        }
        shared.mutes = mutes;
        drop(shared);
        self.wake();
    }

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

    /// Calls `told` after each look, on the thread that looks. It must not wait.
    pub fn on_look(&self, told: impl Fn() + Send + Sync + 'static) {
        lock(&self.shared).told.push(Arc::new(told));
    }

    /// The findings in these states: pending, open and muted ones ranked, the dearest first, without symptoms that a cause
    /// explains; then closed ones, the newest first, and unknown ones.
    pub fn list(&self, states: &[FindingState]) -> Vec<Finding> {
        lock(&self.shared).view.list(states)
    }

    /// The findings that were pending or open at some time in `from..to`, ranked. The state of one is open if it opened before `to`, and its
    /// figures are those of the moment when it cost most. Nothing is lost after `now`.
    pub fn history(&self, from: Millis, to: Millis, now: Millis) -> Vec<Finding> {
        lock(&self.shared).view.within(from, to, now)
    }

    /// What each cache would answer with other sizes, as of the last look.
    pub fn curves(&self) -> Arc<Vec<CacheCurve>> {
        lock(&self.shared).curves.clone()
    }

    /// The open findings that are listed by themselves, for metrics: at most as many as are looked at.
    pub fn open(&self) -> Vec<OpenFinding> {
        lock(&self.shared).view.open()
    }

    /// How much the checks can say now.
    pub fn overview(&self) -> FindingsOverview {
        lock(&self.shared).overview
    }

    /// Open findings about one of these repositories, a member of one, or a host that one of them calls, ranked.
    pub fn about(&self, repositories: &[&str]) -> Vec<Finding> {
        let shared = lock(&self.shared);
        shared.view.about(repositories, &shared.facts)
    }

    /// Waits, after a panic of the thread. `false`: the findings are closed.
    fn rest(&self, time: Duration) -> bool {
        let rested = self.wake.wait_timeout_while(lock(&self.shared), time, |shared| !shared.stop);
        !rested.unwrap_or_else(PoisonError::into_inner).0.stop
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
