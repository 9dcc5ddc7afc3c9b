//! Profiles: for what the threads of the server used processors, as thread, cost class, operation and repository.
//!
//! While a profile is taken, a thread looks 99 times a second at the threads that ran: whether each runs now, and on what
//! ([`WorkUnderWay`]). Between profiles there is no such thread. No signal is sent and no stack is read, so asynchronous code is told by
//! what it does, and a thread is never stopped.

mod counted;
mod flame;
mod tasks;

use crate::random::Random;
use counted::Counted;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tasks::Tasks;
use telemetry::{Bound, BoundName, Full, Tick, WorkUnderWay};

/// Samples a second. A round number would meet work that others begin by the clock.
const RATE: u64 = 99;
/// Samples between two looks for new threads.
const LIST_EVERY: u64 = 33;

/// Takes profiles, one at a time.
#[derive(Debug)]
pub struct Profiler {
    bound: Arc<Bound>,
}

/// For what processors were used during a time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// How long it took.
    pub seconds: f64,
    /// How often each thread was looked at.
    pub samples: u64,
    /// What threads did, with nanoseconds on a processor, the most first.
    pub stacks: Vec<Stack>,
}

/// A thread, and what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The name of the thread, then cost class, operation and repository, as far as they are known.
    pub frames: Vec<String>,
    /// Nanoseconds on a processor.
    pub nanos: u64,
    /// The samples in which it was seen. 0: the thread ran, but in no sample.
    pub samples: u64,
}

impl Default for Profiler {
    fn default() -> Self {
        Self { bound: Bound::new(BoundName::Profiles, "", 1) }
    }
}

impl Profiler {
    /// The shortest and the longest profile, in seconds.
    pub const SECONDS: std::ops::RangeInclusive<u64> = 1..=60;

    /// The bound of profiles, to be registered.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Takes a profile of so many seconds on a thread of its own, and calls `done` with it. `wanted`: asked at each sample whether somebody
    /// still waits. `name`: the name of the repository with a number. If no thread can be started, `done` is dropped.
    ///
    /// # Errors
    /// If another profile is being taken.
    pub fn take(
        &self,
        seconds: u64,
        wanted: impl Fn() -> bool + Send + 'static,
        name: impl Fn(u64) -> Option<String> + Send + 'static,
        done: impl FnOnce(Profile) + Send + 'static,
    ) -> Result<(), Full> {
        let slot = self.bound.enter()?;
        let seconds = seconds.clamp(*Self::SECONDS.start(), *Self::SECONDS.end());
        let run = move || {
            if let Some(profile) = sample(Duration::from_secs(seconds), &wanted, &name) {
                // The next profile may begin before the caller has this one.
                drop(slot);
                done(profile);
            }
        };
        let _ = std::thread::Builder::new().name("profile".to_owned()).spawn(run);
        Ok(())
    }
}

/// Samples until the time is over. `None`: nobody waits any more.
fn sample(time: Duration, wanted: &dyn Fn() -> bool, name: &dyn Fn(u64) -> Option<String>) -> Option<Profile> {
    let (began, turn, mut samples) = (Tick::now(), 1_000_000_000 / RATE, 0);
    let (mut tasks, mut counted, mut random) = (Tasks::default(), Counted::default(), Random::new(began.0));
    loop {
        if samples % LIST_EVERY == 0 {
            tasks.list();
        }
        samples += 1;
        let works: HashMap<u32, WorkUnderWay> = WorkUnderWay::of_threads().collect();
        tasks.read(|task| {
            let work = works.get(&task.id).copied().unwrap_or_default();
            counted.see(task.name, task.run_nanos, task.runs.then_some(work));
        });
        let passed = Tick::now().since(began);
        if !wanted() {
            return None;
        }
        if passed >= u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) {
            return Some(Profile { seconds: passed as f64 / 1e9, samples, stacks: counted.stacks(name) });
        }
        // A sample comes at a random moment of the next turn, so that it meets no rhythm of others. Turns that were missed are left out.
        let next = began.0 + (passed / turn + 1) * turn + random.below(turn);
        std::thread::sleep(Duration::from_nanos(Tick(next).since(Tick::now())));
    }
}

impl Profile {
    /// All time on a processor, in nanoseconds.
    pub fn nanos(&self) -> u64 {
        self.stacks.iter().map(|stack| stack.nanos).sum()
    }

    /// The flame graph, as a picture for browsers (SVG). `perf`: the command that shows functions, for the foot of the picture.
    pub fn svg(&self, perf: &str) -> String {
        flame::svg(self, perf)
    }

    /// The same as JSON: each stack with its share and its seconds, and the folded stacks that other programs read.
    pub fn json(&self, perf: &str) -> serde_json::Value {
        let all = self.nanos().max(1) as f64;
        let stacks = self.stacks.iter().map(|Stack { frames, nanos, samples }| {
            serde_json::json!({
                "frames": frames, "cpu_s": *nanos as f64 / 1e9, "share": *nanos as f64 / all, "samples": samples,
            })
        });
        let folded = self.stacks.iter().map(|stack| format!("{} {}\n", stack.frames.join(";"), stack.nanos / 1000));
        serde_json::json!({
            "seconds": self.seconds, "samples": self.samples, "cpu_s": self.nanos() as f64 / 1e9,
            "stacks": stacks.collect::<Vec<_>>(), "folded": folded.collect::<String>(), "perf": perf,
        })
    }
}

#[cfg(test)]
mod tests;
