//! The thread that looks: it samples once a second, and evaluates all checks every ten seconds.

use super::catalogue::checks;
use super::examine::Examiner;
use super::history::History;
use super::kept::Kept;
use super::rank::ranked;
use super::state::States;
use super::{Findings, FindingsOptions, Shared, View};
use crate::normal::baseline::Minutes;
use crate::normal::normals::Normals;
use crate::signals::Facts;
use crate::signals::ring::Ring;
use crate::signals::sampler::Sampler;
use crate::signals::seen::Seen;
use crate::signals::telemetry::TelemetrySeen;
use crate::signals::watch::WatchSeen;
use crate::signals::window::Window;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use telemetry::{Tick, background, lock, thread_nanos};

/// The interval between two samples.
const SAMPLE: Duration = Duration::from_secs(1);
/// Samples between two evaluations.
const EVALUATE: u32 = 10;
/// The first evaluation comes after so many samples: how the process before ended is told soon.
const FIRST: u32 = 2;
/// Evaluations between two of the findings of the settings: a minute.
const WHOLE: u32 = 6;
/// The shortest time between two writes of the states.
const WRITE: Duration = Duration::from_secs(60);

/// Runs until the findings are closed or dropped.
pub(super) fn run(findings: &Weak<Findings>, options: &FindingsOptions) {
    background();
    let _end = End(findings.clone());
    let Some(minutes) = findings.upgrade().map(|findings| findings.minutes.clone()) else { return };
    let mut looker = Looker::new(options, minutes);
    if let Some(findings) = findings.upgrade() {
        // What was open before is open until it is known that it is over.
        looker.publish(&findings, None);
    }
    let mut samples = 0;
    loop {
        let Some(findings) = findings.upgrade() else { return };
        let shared = lock(&findings.shared);
        let idle = |shared: &mut Shared| !shared.stop && shared.asked == shared.looked;
        let (shared, _) =
            findings.wake.wait_timeout_while(shared, SAMPLE, idle).unwrap_or_else(PoisonError::into_inner);
        if shared.stop {
            drop(shared);
            looker.save(true);
            return looker.normals.close(options.clock.now());
        }
        findings.job.get().into_iter().for_each(|job| job.moved());
        samples += 1;
        let asked = (shared.asked != shared.looked).then_some(shared.asked);
        let (facts, watch) = (shared.facts.clone(), shared.watch.clone());
        drop(shared);
        let evaluates = asked.is_some() || samples == FIRST || samples.is_multiple_of(EVALUATE);
        looker.sample(evaluates);
        if evaluates {
            looker.look(&findings, asked, facts, watch);
            looker.save(false);
        }
    }
}

/// Lets callers go that wait for a look when the thread has ended, also by a panic.
struct End(Weak<Findings>);

impl Drop for End {
    fn drop(&mut self) {
        if let Some(findings) = self.0.upgrade() {
            let mut shared = lock(&findings.shared);
            shared.looked = shared.asked;
            let waiting = std::mem::take(&mut shared.waiting);
            drop(shared);
            waiting.into_iter().for_each(|done| done());
        }
    }
}

/// What the thread has.
struct Looker<'a> {
    options: &'a FindingsOptions,
    sampler: Sampler,
    /// The figures since the last look.
    sampled: Window,
    ring: Ring,
    seen: Seen,
    examiner: Examiner,
    normals: Normals,
    states: States,
    /// As callers see it.
    history: Arc<History>,
    looks: u32,
    changed: bool,
    written: Option<Tick>,
    failing: bool,
}

impl<'a> Looker<'a> {
    fn new(options: &'a FindingsOptions, minutes: Arc<Mutex<Minutes>>) -> Self {
        let folder = options.file.as_ref().and_then(|file| file.parent()).map(Into::into);
        let kept = options.file.as_ref().map(|path| Kept::load(path, &options.log)).unwrap_or_default();
        let history = Arc::new(kept.history.clone());
        Self {
            options,
            sampler: Sampler::default(),
            sampled: Window::default(),
            ring: Ring::default(),
            seen: Seen { now: options.clock.now(), ..Seen::default() },
            examiner: Examiner::new(checks(), &options.custom, options.counts.clone(), options.log.clone()),
            normals: Normals::open(folder, minutes, options.log.clone()),
            states: States::kept(kept.entries, kept.history),
            history,
            looks: 0,
            changed: false,
            written: None,
            failing: false,
        }
    }

    fn sample(&mut self, whole: bool) {
        let began = thread_nanos();
        let (uptime, trends) = (self.ring.uptime(), &mut self.seen.trends);
        self.sampler.sample(&self.options.recorder, whole, uptime, &mut self.sampled, trends);
        self.spent(began);
    }

    /// Counts the time since `began` for the sums.
    fn spent(&mut self, began: u64) {
        self.sampled.telemetry.spent(TelemetrySeen::SUMS, thread_nanos().saturating_sub(began));
    }

    fn look(&mut self, findings: &Findings, asked: Option<u64>, facts: Arc<Facts>, watch: WatchSeen) {
        let (began, tick) = (thread_nanos(), Tick::now());
        let mut taken = findings.handover.take();
        let now = self.options.clock.now();
        self.seen.normal = self.normals.take(&std::mem::take(&mut taken.normal), now, tick);
        taken.add(&std::mem::take(&mut self.sampled));
        self.ring.take(*taken, tick, &mut self.seen);
        let whole = self.looks.is_multiple_of(WHOLE) || asked.is_some();
        self.looks = self.looks.wrapping_add(1);
        (self.seen.now, self.seen.machine) = (now, self.options.recorder.machine().sample());
        (self.seen.facts, self.seen.watch) = (facts, watch);
        self.spent(began);
        let all = self.examiner.examine(&self.seen, whole, &mut self.sampled.telemetry);
        let began = thread_nanos();
        if self.states.look(all.found, now, tick) {
            self.changed = true;
            self.history = Arc::new(self.states.history.clone());
        }
        let mut shared = lock(&findings.shared);
        (shared.view.unknown, shared.overview) = (all.unknown, all.overview);
        drop(shared);
        self.publish(findings, asked);
        self.spent(began);
    }

    /// Shows the states to callers, and lets those go that waited for it.
    fn publish(&self, findings: &Findings, asked: Option<u64>) {
        let mut shared = lock(&findings.shared);
        let listed = ranked(self.states.entries.values(), &shared.mutes, self.seen.now);
        let unknown = std::mem::take(&mut shared.view.unknown);
        let history = self.history.clone();
        shared.view = View { listed, unknown, history };
        (shared.overview.open, shared.overview.pending) = shared.view.open_and_pending();
        let mut waiting = Vec::new();
        if let Some(asked) = asked {
            shared.looked = asked;
            waiting = std::mem::take(&mut shared.waiting);
        }
        drop(shared);
        waiting.into_iter().for_each(|done| done());
    }

    /// Writes the states, if one has changed, and not too often.
    fn save(&mut self, ends: bool) {
        let Some(path) = &self.options.file else { return };
        let soon =
            self.written.is_some_and(|at| Tick::now().since(at) < u64::try_from(WRITE.as_nanos()).unwrap_or(u64::MAX));
        if !(ends || self.changed && !soon) {
            return;
        }
        let entries = self.states.entries.values().cloned().collect();
        let saved = Kept::new(entries, self.states.history.clone()).save(path);
        (self.changed, self.written) = (false, Some(Tick::now()));
        if let Err(error) = &saved
            && !self.failing
        {
            let fields: &[(&str, &dyn std::fmt::Display)] = &[("file", &path.display()), ("why", error)];
            self.options.log.warn("the states of findings cannot be written, a restart would lose them", fields);
        }
        self.failing = saved.is_err();
    }
}
