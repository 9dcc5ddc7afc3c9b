//! Tasks whose turns are timed, for the record of their loop.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Pulse, Tick, turn};
use tokio::time::sleep;

/// The task that `make` makes: here, as it is large and would be kept twice if it were handed over.
pub(crate) async fn timed<F: Future>(make: impl FnOnce() -> F) -> F::Output {
    let mut task = pin!(make());
    poll_fn(|cx| turn(|| task.as_mut().poll(cx))).await
}

/// How often a loop is asked. Rarely enough to cost next to nothing, though each time wakes a thread; turns are timed in between.
const EVERY: Duration = Duration::from_millis(100);
/// The runtime's timers count in these.
const GRAIN: Duration = Duration::from_millis(1);

/// Beats until it is dropped. Spawn it on the loop it is about.
pub async fn heartbeat(pulse: Arc<Pulse>) {
    let due = u64::try_from((EVERY + GRAIN).as_nanos()).unwrap_or(u64::MAX);
    loop {
        let asked = Tick::now();
        sleep(EVERY).await;
        pulse.beat(Tick::now().since(asked).saturating_sub(due));
    }
}
