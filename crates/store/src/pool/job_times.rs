//! The times of a job that runs on another thread, for the event of its caller: until the job began, while it ran, and
//! until the caller continued. A caller that leaves records the time until then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use telemetry::{Event, Op, Tick, UnderWay, under_way};

/// Tells the caller when its job began.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobStart(Arc<AtomicU64>);

impl JobStart {
    /// The job begins.
    pub(crate) fn set(&self, began: Tick) {
        self.0.store(began.0, Relaxed);
    }

    fn get(&self) -> Option<Tick> {
        Some(Tick(self.0.load(Relaxed))).filter(|began| *began != Tick::default())
    }
}

/// A job that was queued for another thread. Dropping it adds its times to the event of the caller.
#[derive(Debug)]
pub(crate) struct JobTimes<'a> {
    event: &'a mut Event,
    /// The waiting for the thread.
    wait: Op,
    /// The work of the thread.
    op: Op,
    /// Since when the caller waits.
    queued: Tick,
    began: JobStart,
    /// `None`: the caller left before its end, or there was none.
    ended: Option<Tick>,
    /// Shows that the request waits for it. It is not known when the job begins, so the wait for a thread counts as the
    /// work.
    _under_way: UnderWay,
}

impl<'a> JobTimes<'a> {
    /// The job is about to be queued.
    pub(crate) fn queued(wait: Op, op: Op, event: &'a mut Event) -> Self {
        Self::since_now(wait, op, JobStart::default(), event)
    }

    /// The caller begins to wait for a job that was queued before, and may have ended.
    pub(crate) fn since_now(wait: Op, op: Op, began: JobStart, event: &'a mut Event) -> Self {
        let (queued, _under_way) = (Tick::now(), under_way(op));
        Self { event, wait, op, queued, began, ended: None, _under_way }
    }

    /// The part of the thread that runs the job.
    pub(crate) fn start(&self) -> JobStart {
        self.began.clone()
    }

    /// The caller continues with the result of the job, which ended at `ended`.
    pub(crate) fn ended(mut self, ended: Tick) {
        self.ended = Some(ended);
    }
}

impl Drop for JobTimes<'_> {
    fn drop(&mut self) {
        let now = Tick::now();
        let Some(began) = self.began.get().map(|began| began.max(self.queued)) else {
            return self.event.add(self.wait, now.since(self.queued));
        };
        self.event.add(self.wait, began.since(self.queued));
        let ended = self.ended.unwrap_or(now).max(began);
        self.event.add(self.op, ended.since(began));
        if self.ended.is_some() {
            self.event.add(Op::LoopWait, now.since(ended));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Millis;

    /// The counts of waiting, of work, and of waiting for the loop.
    fn counts(event: &Event) -> [u32; 3] {
        [Op::TruthWait, Op::TruthRead, Op::LoopWait].map(|op| event.tally(op).count)
    }

    #[test]
    fn the_times_of_a_job_follow_each_other_and_a_caller_that_leaves_records_its_own_part() {
        let mut event = Event::job("test", Millis(1));
        let began = Tick::now();
        let waits = JobTimes::queued(Op::TruthWait, Op::TruthRead, &mut event);
        drop(waits);
        assert_eq!(counts(&event), [1, 0, 0]);
        let runs = JobTimes::queued(Op::TruthWait, Op::TruthRead, &mut event);
        runs.start().set(Tick::now());
        drop(runs);
        assert_eq!(counts(&event), [2, 1, 0]);
        let done = JobTimes::queued(Op::TruthWait, Op::TruthRead, &mut event);
        done.start().set(Tick::now());
        done.ended(Tick::now());
        assert_eq!(counts(&event), [3, 2, 1]);
        let before = JobStart::default();
        before.set(Tick::now());
        let ended = Tick::now();
        JobTimes::since_now(Op::TruthWait, Op::TruthRead, before, &mut event).ended(ended);
        assert_eq!(counts(&event), [4, 3, 2]);
        let all: u64 = event.tallies().map(|(_, tally)| tally.nanos).sum();
        assert!(all <= Tick::now().since(began), "{event:?}");
    }
}
