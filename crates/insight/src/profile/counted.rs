//! Divides the time of each thread among what it did.
//!
//! The kernel tells exactly how long a thread ran, and the samples in which it ran tell its shares: each sample comes at a moment that has
//! nothing to do with the work. The time between two samples is not that of what the second one saw, because the thread may have done ten
//! things and slept since.

use super::Stack;
use std::collections::BTreeMap;
use telemetry::WorkUnderWay;

/// What samples saw.
#[derive(Debug, Default)]
pub(super) struct Counted {
    threads: BTreeMap<String, Thread>,
}

/// All threads of a name.
#[derive(Debug, Default)]
struct Thread {
    nanos: u64,
    samples: u64,
    works: BTreeMap<Work, u64>,
}

/// Cost class, operation and the number of the repository.
type Work = (Option<&'static str>, &'static str, u64);

impl Counted {
    /// A thread ran for `nanos` since its last sample. `now`: it runs at this moment, and does this.
    pub(super) fn see(&mut self, name: &str, nanos: u64, now: Option<WorkUnderWay>) {
        if !self.threads.contains_key(name) {
            self.threads.insert(name.to_owned(), Thread::default());
        }
        let Some(thread) = self.threads.get_mut(name) else { return };
        thread.nanos += nanos;
        if let Some(work) = now {
            thread.samples += 1;
            let op = work.op().map_or("other", |op| op.as_str());
            *thread.works.entry((work.class().map(|class| class.as_str()), op, work.repository())).or_default() += 1;
        }
    }

    /// What each thread did, the most first.
    pub(super) fn stacks(&self, repository: &dyn Fn(u64) -> Option<String>) -> Vec<Stack> {
        let mut stacks = Vec::new();
        for (name, thread) in self.threads.iter().filter(|(_, thread)| thread.nanos > 0) {
            let (mut seen, mut told) = (0, 0);
            for ((class, op, number), samples) in &thread.works {
                seen += *samples;
                let until = u128::from(thread.nanos) * u128::from(seen) / u128::from(thread.samples.max(1));
                let nanos = u64::try_from(until).unwrap_or(thread.nanos) - told;
                told += nanos;
                let mut frames = vec![name.clone()];
                frames.extend(class.map(str::to_owned));
                frames.push((*op).to_owned());
                if *number > 0 {
                    frames.push(repository(*number).unwrap_or_else(|| format!("repository {number}")));
                }
                stacks.push(Stack { frames, nanos, samples: *samples });
            }
            if thread.samples == 0 {
                let frames = vec![name.clone(), "in no sample".to_owned()];
                stacks.push(Stack { frames, nanos: thread.nanos, samples: 0 });
            }
        }
        stacks.sort_by(|one, other| other.nanos.cmp(&one.nanos).then_with(|| one.frames.cmp(&other.frames)));
        stacks
    }
}
