//! Threads for work that would block an event loop for too long.

use crate::error::Result;
use store::{Lane, Pool};
use telemetry::{Event, Op};

/// The number of rows that can be read, rendered and hashed in about the time of two thread switches.
const FEW: usize = 16;

/// Threads that render, hash and read packages. This work never waits, so there is one thread for each core, and one
/// more for each lane.
pub type Workers = Pool<()>;

/// Does `work` on `rows` rows: in place if they are few, otherwise on a worker thread.
pub(crate) async fn aside<T: Send + 'static>(
    workers: &Workers,
    lane: Lane,
    op: Op,
    rows: usize,
    event: &mut Event,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if rows <= FEW {
        return event.time(op, work);
    }
    workers.run(lane, op, event, |()| work()).await?
}

/// Lets the event loop answer other requests before more work is done on it. Between two calls is work of at most 0.1 ms, or so many page
/// hits wait for as long as the work takes.
pub async fn after_others(event: &mut Event) {
    event.waited(Op::LoopWait, tokio::task::yield_now()).await;
}
