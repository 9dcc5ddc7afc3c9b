//! The thread that looks: it samples once a second, and evaluates all checks every ten seconds.

use super::caches::curves::curves;
use super::catalogue::checks;
use super::examine::Examiner;
use super::history::History;
use super::kept::Kept;
use super::promises::Promises;
use super::rank::ranked;
use super::state::States;
use super::{Findings, FindingsOptions, Shared, View};
use crate::disk;
use crate::normal::baseline::Minutes;
use crate::normal::normals::Normals;
use crate::reuse::streams::reals;
use crate::signals::Facts;
use crate::signals::ring::Ring;
use crate::signals::sampler::Sampler;
use crate::signals::seen::Seen;
use crate::signals::telemetry::TelemetrySeen;
use crate::signals::watch::WatchSeen;
use crate::signals::window::Window;
use crate::sizing::loads::Loads;
use crate::sizing::surroundings::Surroundings;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use telemetry::{Log, Tick, background, lock, thread_nanos};

/// The interval between two samples.
const SAMPLE: Duration = Duration::from_secs(1);
/// The shortest time between two samples of the loads of pools: threads wake up a little early or late.
const SECOND: Duration = Duration::from_millis(900);
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
    let folder = options.file.as_deref().and_then(Path::parent);
    let files = options.file.iter().cloned().chain(folder.into_iter().flat_map(Normals::files)).collect();
    let end = End { findings: findings.clone(), files, log: options.log.clone(), looked: Cell::new(false) };
    let shared = findings.upgrade().map(|findings| (findings.minutes.clone(), findings.loads.clone()));
    let Some((minutes, loads)) = shared else { return };
    let mut looker = Looker::new(options, minutes, loads);
    if let Some(findings) = findings.upgrade() {
        findings.handover.tell(reals(&options.recorder.bounds()));
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
        looker.sample(&findings, evaluates);
        if evaluates {
            looker.look(&findings, asked, facts, watch);
            end.looked.set(true);
            looker.save(false);
        }
    }
}

/// Lets callers go that wait for a look when the thread has ended, also by a panic. After a panic at the first look what was kept may be
/// damaged, so it is moved aside.
struct End {
    findings: Weak<Findings>,
    /// What was kept.
    files: Vec<PathBuf>,
    log: Log,
    /// The first look went well.
    looked: Cell<bool>,
}

impl Drop for End {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.looked.get() {
            for file in self.files.iter().filter(|file| file.exists()) {
                // Without it the next run may fail alike, which is logged.
                let moved = disk::move_aside(file).is_ok();
                let fields: &[(&str, &dyn std::fmt::Display)] = &[("file", &file.display()), ("moved", &moved)];
                self.log.warn("the first look at findings failed, so what was kept is moved aside", fields);
            }
        }
        if let Some(findings) = self.findings.upgrade() {
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
    loads: Arc<Mutex<Loads>>,
    /// When the loads were sampled last.
    loaded: Option<Tick>,
    ring: Ring,
    seen: Seen,
    examiner: Examiner,
    normals: Normals,
    states: States,
    promises: Promises,
    /// As callers see it.
    history: Arc<History>,
    looks: u32,
    changed: bool,
    written: Option<Tick>,
    failing: bool,
}

impl<'a> Looker<'a> {
    fn new(options: &'a FindingsOptions, minutes: Arc<Mutex<Minutes>>, loads: Arc<Mutex<Loads>>) -> Self {
        let folder = options.file.as_ref().and_then(|file| file.parent()).map(Into::into);
        let kept = options.file.as_ref().map(|path| Kept::load(path, &options.log)).unwrap_or_default();
        let history = Arc::new(kept.history.clone());
        Self {
            options,
            sampler: Sampler::default(),
            sampled: Window::default(),
            loads,
            loaded: None,
            ring: Ring::default(),
            seen: Seen { now: options.clock.now(), ..Seen::default() },
            examiner: Examiner::new(checks(), &options.custom, options.counts.clone(), options.log.clone()),
            normals: Normals::open(folder, minutes, options.log.clone()),
            states: States::kept(kept.entries, kept.history),
            promises: kept.promises,
            history,
            looks: 0,
            changed: false,
            written: None,
            failing: false,
        }
    }

    fn sample(&mut self, findings: &Findings, whole: bool) {
        let began = thread_nanos();
        findings.handover.tell(reals(&self.options.recorder.bounds()));
        let (uptime, trends) = (self.ring.uptime(), &mut self.seen.trends);
        self.sampler.sample(&self.options.recorder, whole, uptime, &mut self.sampled, trends);
        self.see_loads(whole);
        self.spent(began);
    }

    /// Samples the loads of pools once a second, also if somebody wants to know more often. `whole`: somebody may want to know now.
    fn see_loads(&mut self, whole: bool) {
        let (now, tick) = (self.options.clock.now(), Tick::now());
        let mut loads = lock(&self.loads);
        if self.loaded.is_none_or(|before| u128::from(tick.since(before)) >= SECOND.as_nanos()) {
            self.loaded = Some(tick);
            loads.sample(&self.options.recorder, &self.seen.facts, now);
        }
        if whole {
            loads.read_waits(&self.options.recorder);
        }
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
        // Before its figures are those of a longer time.
        self.changed |= self.promises.measure(&taken, &facts, now);
        self.ring.take(*taken, tick, asked.is_some(), &mut self.seen);
        let whole = self.looks.is_multiple_of(WHOLE) || asked.is_some();
        self.looks = self.looks.wrapping_add(1);
        (self.seen.now, self.seen.machine) = (now, self.options.recorder.machine().sample());
        (self.seen.facts, self.seen.watch) = (facts, watch);
        self.spent(began);
        let mut all = self.examiner.examine(&self.seen, whole, &mut self.sampled.telemetry);
        if asked.is_some() {
            lock(&findings.shared).around = Arc::new(Surroundings::of(&self.seen));
        }
        let began = thread_nanos();
        self.states.set_of_machine(!self.options.clock.is_set());
        all.found.iter_mut().for_each(|found| self.promises.weigh(found));
        let advice = self.promises.read(&all.found, &self.seen);
        let mut news = self.states.look(all.found, now, tick);
        self.promises.take(advice, &self.states);
        news |= self.promises.tell(&mut self.states, now);
        if news {
            self.changed = true;
            self.history = Arc::new(self.states.history.clone());
        }
        let curves = whole.then(|| Arc::new(curves(&self.seen)));
        let mut shared = lock(&findings.shared);
        (shared.view.unknown, shared.overview) = (all.unknown, all.overview);
        shared.curves = curves.unwrap_or_else(|| shared.curves.clone());
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
        let told = shared.told.clone();
        drop(shared);
        told.iter().for_each(|told| told());
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
        let saved = Kept::new(entries, self.states.history.clone(), self.promises.clone()).save(path);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes a file")]
    fn what_was_kept_is_moved_aside_after_a_panic_at_the_first_look_only() {
        for (looked, panics, left) in [(false, true, "x.damaged"), (true, true, "x"), (false, false, "x")] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("x");
            std::fs::write(&file, "damaged").unwrap();
            let files = vec![file, folder.path().join("is-not-there")];
            let end = End { findings: Weak::new(), files, log: Log::silent(), looked: Cell::new(looked) };
            let ended = std::thread::spawn(move || {
                let _end = end;
                assert!(!panics, "the figures cannot be");
            });
            assert_eq!(ended.join().is_err(), panics);
            let names: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names, [left]);
        }
    }
}
