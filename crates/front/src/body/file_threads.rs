//! The threads of all cores that read files for responses.

use std::sync::Arc;
use telemetry::{Bound, BoundName, Op, PoolName, PoolThreads, Recorder, Slot, Tick, Working, works_at};

/// The threads that may wait for a disk, and their figures.
#[derive(Debug)]
pub(crate) struct FileThreads {
    bound: Arc<Bound>,
    pool: Arc<PoolThreads>,
}

/// A thread that reads. Dropping it ends that.
pub(crate) struct Reading<'a> {
    _working: Working<'a>,
    _slot: Option<Slot>,
}

impl FileThreads {
    /// This number of threads, whose figures are registered at `recorder`.
    pub(crate) fn new(threads: u64, recorder: &Recorder) -> Arc<Self> {
        let bound = Bound::new(BoundName::FileThreads, "", threads);
        recorder.register(bound.clone());
        Arc::new(Self { bound, pool: recorder.pool(PoolName::FileThreads, threads) })
    }

    /// One of the threads begins a read that was requested at `asked`.
    pub(crate) fn begin(&self, asked: Tick, began: Tick) -> Reading<'_> {
        works_at(Op::BodyRead);
        self.bound.waited(began.since(asked));
        Reading { _working: self.pool.work(), _slot: self.bound.enter().ok() }
    }
}
