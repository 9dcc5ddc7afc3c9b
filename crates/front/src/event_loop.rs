//! Measures the event loop of each core: the turns of its tasks, and its heartbeat.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{LoopMonitor, Tick, turn};
use tokio::time::sleep;

/// Runs the future that `make` makes, and times each of its turns. The future is created here because it is large: as
/// an argument it would be stored twice.
pub(crate) async fn timed<F: Future>(make: impl FnOnce() -> F) -> F::Output {
    let mut task = pin!(make());
    poll_fn(|cx| turn(|| task.as_mut().poll(cx))).await
}

/// The interval of the heartbeat, as often as the watch looks. Each beat wakes a thread twice, as the timers of the runtime need it, so
/// beats are rare; turns are timed in between.
const EVERY: Duration = Duration::from_millis(250);
/// The resolution of the runtime's timers.
const GRAIN: Duration = Duration::from_millis(1);

/// Beats until it is dropped. Spawn it on the loop that it measures.
pub async fn heartbeat(pulse: Arc<LoopMonitor>) {
    loop {
        let due = Tick::now().plus(EVERY + GRAIN);
        pulse.expect(due);
        sleep(EVERY).await;
        pulse.beat(Tick::now().since(due));
    }
}
