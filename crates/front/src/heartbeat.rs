//! A timer on every event loop. When it is late, so was everything else on that loop.

use std::sync::Arc;
use std::time::Duration;
use telemetry::{Pulse, Tick};
use tokio::time::sleep;

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
