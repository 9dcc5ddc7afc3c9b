//! The job that has upstreams looked at again until they agree with what hooks said.

use crate::app::App;
use std::sync::Arc;
use std::time::Duration;
use telemetry::Millis;
use tokio::time::timeout;

/// The longest wait, as the time of day may be corrected meanwhile.
const LONGEST: Duration = Duration::from_secs(60);
/// The shortest: a look that is due may have to wait for another.
const SHORTEST: Duration = Duration::from_millis(250);

/// Does so as long as the runtime lives.
pub(crate) async fn run(app: Arc<App>) {
    loop {
        let due = app.repositories.look_for_hints().await;
        let wait = due.map_or(LONGEST, |due| until(due, app.clock.now()));
        let _ = timeout(wait, app.repositories.hints_changed()).await;
    }
}

/// The wait until then.
fn until(due: Millis, now: Millis) -> Duration {
    Duration::from_millis(due.0.saturating_sub(now.0).max(0).cast_unsigned()).clamp(SHORTEST, LONGEST)
}
