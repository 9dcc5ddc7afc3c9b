//! The work of a runtime's threads, which tokio counts anyway: once each time that a thread begins or ends to wait.

use telemetry::{PoolThreads, Work};
use tokio::runtime::Handle;

/// Makes the threads of the runtime of this handle count in `pool`.
pub fn count_work(runtime: &Handle, pool: &PoolThreads) {
    let metrics = runtime.metrics();
    pool.add(move || {
        (0..metrics.num_workers()).fold(Work::default(), |all, worker| Work {
            // Odd: the thread waits.
            busy: all.busy + u64::from(metrics.worker_park_unpark_count(worker).is_multiple_of(2)),
            nanos: all.nanos + u64::try_from(metrics.worker_total_busy_duration(worker).as_nanos()).unwrap_or_default(),
            ..all
        })
    });
}
