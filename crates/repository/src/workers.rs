//! Work that takes longer than an event loop may be kept from its other clients: on threads of its own.

use crate::error::Error;
use store::{Lane, Pool};
use telemetry::{Event, Op};

/// Rows that are read, rendered and hashed in less than what two changes of threads cost, roughly.
const FEW: usize = 16;

/// Threads that render, hash and read packages. They wait for nothing, so there are as many as cores, and one for each
/// lane besides.
pub type Workers = Pool<()>;

/// Does `work` on `rows` rows: here where they are few, else on a worker.
pub(crate) async fn aside<T: Send + 'static>(
    workers: &Workers,
    lane: Lane,
    op: Op,
    rows: usize,
    event: &mut Event,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    if rows <= FEW {
        return event.time(op, work);
    }
    workers.run(lane, op, event, |()| work()).await?
}
