//! A job that runs for as long as the server: its heartbeat, and how often it panicked. Somebody else starts it again.

use crate::log::Log;
use crate::{Tick, lock};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Panics within the last ten minutes that are remembered.
const RECENT_MAX: usize = 64;
/// The time in which panics are a loop.
const RECENT_NANOS: u64 = 600_000_000_000;
/// The longest wait before the job is started again.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A job that runs for as long as the server.
#[derive(Debug)]
pub struct LongJob {
    name: &'static str,
    /// The longest usual time between two heartbeats.
    every: Duration,
    moved: AtomicU64,
    panics: AtomicU64,
    ended: AtomicBool,
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    panics: VecDeque<Tick>,
    /// The message of the last one.
    message: String,
}

/// A job that runs for as long as the server, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct LongJobView {
    /// Its name.
    pub name: &'static str,
    /// The longest usual time between two heartbeats.
    pub every: Duration,
    /// The time since the last heartbeat. `None`: it has ended in order.
    pub age: Option<Duration>,
    /// Its panics since the start.
    pub panics: u64,
    /// Those in the last ten minutes.
    pub recent_panics: usize,
    /// The message of the last one.
    pub message: String,
}

impl LongJob {
    pub(crate) fn new(name: &'static str, every: Duration) -> Arc<Self> {
        Arc::new(Self {
            name,
            every,
            moved: AtomicU64::new(Tick::now().0),
            panics: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            recent: Mutex::default(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Heartbeat: it has done something, or found that there is nothing to do.
    pub fn moved(&self) {
        self.moved.store(Tick::now().0, Relaxed);
    }

    /// It has ended in order, and has no heartbeat any more.
    pub fn ended(&self) {
        self.ended.store(true, Relaxed);
    }

    /// Counts a panic and logs it. Returns how long to wait before it is started again: a second, and twice as long after each further panic
    /// within ten minutes, up to a minute.
    pub fn panicked(&self, panic: &(dyn Any + Send), log: &Log) -> Duration {
        let wait = self.count(panic);
        let view = self.view();
        log.error(
            "a job panicked, and is started again",
            &[
                ("job", &self.name),
                ("why", &view.message),
                ("panics_of_ten_minutes", &view.recent_panics),
                ("again_in_s", &wait.as_secs()),
            ],
        );
        wait
    }

    fn count(&self, panic: &(dyn Any + Send)) -> Duration {
        self.panics.fetch_add(1, Relaxed);
        let now = Tick::now();
        let mut recent = lock(&self.recent);
        recent.forget(now);
        recent.panics.push_back(now);
        if recent.panics.len() > RECENT_MAX {
            recent.panics.pop_front();
        }
        crate::recorder::sink_worker::panic_message(panic).clone_into(&mut recent.message);
        let doublings = u32::try_from(recent.panics.len()).unwrap_or(u32::MAX).saturating_sub(1).min(6);
        Duration::from_secs(1 << doublings).min(WAIT_MAX)
    }

    /// Runs `work` on this thread until it returns, also after panics, which are logged. `wait` is called with the time to wait before it runs
    /// again. Returns `None` when `wait` returns `false`: there is no reason to go on.
    pub fn supervise<T>(
        &self,
        log: &Log,
        mut work: impl FnMut() -> T,
        mut wait: impl FnMut(Duration) -> bool,
    ) -> Option<T> {
        loop {
            match catch_unwind(AssertUnwindSafe(&mut work)) {
                Ok(done) => {
                    self.ended();
                    return Some(done);
                }
                Err(panic) => {
                    if !wait(self.panicked(&*panic, log)) {
                        self.ended();
                        return None;
                    }
                    self.moved();
                }
            }
        }
    }

    /// It at this moment.
    pub fn view(&self) -> LongJobView {
        let now = Tick::now();
        let age = Duration::from_nanos(now.since(Tick(self.moved.load(Relaxed))));
        let mut recent = lock(&self.recent);
        recent.forget(now);
        LongJobView {
            name: self.name,
            every: self.every,
            age: (!self.ended.load(Relaxed)).then_some(age),
            panics: self.panics.load(Relaxed),
            recent_panics: recent.panics.len(),
            message: recent.message.clone(),
        }
    }
}

impl Recent {
    fn forget(&mut self, now: Tick) {
        while self.panics.front().is_some_and(|at| now.since(*at) > RECENT_NANOS) {
            self.panics.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_panics_is_started_again_and_each_time_later() {
        let job = LongJob::new("test", Duration::from_secs(60));
        let (mut runs, mut waits) = (0, Vec::new());
        let work = || {
            runs += 1;
            assert!(runs > 8, "run {runs}");
            runs
        };
        let done = job.supervise(&Log::silent(), work, |wait| {
            waits.push(wait.as_secs());
            true
        });
        let view = job.view();
        assert_eq!((done, waits), (Some(9), vec![1, 2, 4, 8, 16, 32, 60, 60]));
        assert_eq!((view.panics, view.recent_panics, view.age, &*view.message), (8, 8, None, "run 8"));
    }

    #[test]
    fn a_job_that_is_not_to_go_on_is_not_started_again() {
        let job = LongJob::new("test", Duration::from_secs(60));
        assert!(job.view().age.is_some());
        assert_eq!(job.supervise(&Log::silent(), || panic!("always"), |_| false), None::<()>);
        assert_eq!((job.view().panics, job.view().age), (1, None));
    }
}
