//! Tasks whose turns are timed, for the record of their loop.

use std::future::poll_fn;
use std::pin::pin;
use telemetry::turn;

/// The task that `make` makes: here, as it is large and would be kept twice if it were handed over.
pub(crate) async fn timed<F: Future>(make: impl FnOnce() -> F) -> F::Output {
    let mut task = pin!(make());
    poll_fn(|cx| turn(|| task.as_mut().poll(cx))).await
}
