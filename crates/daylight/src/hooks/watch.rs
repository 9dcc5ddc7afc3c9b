//! The job that looks at upstreams again until they confirm the announced changes.

use crate::app::App;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{LongJob, Millis};
use tokio::time::timeout;

/// Maximum wait, because the clock may be corrected meanwhile.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);
/// Minimum wait, because a look that is due may have to wait for another one.
const SHORTEST: Duration = Duration::from_millis(250);

/// Runs as long as the runtime lives.
pub(crate) async fn run(app: Arc<App>, job: Arc<LongJob>) {
    loop {
        job.moved();
        let due = app.repositories.look_for_hints().await;
        let wait = due.map_or(LONGEST, |due| until(due, app.clock.now()));
        let _ = timeout(wait, app.repositories.hints_changed()).await;
    }
}

/// The time until this moment.
fn until(due: Millis, now: Millis) -> Duration {
    Duration::from_millis(due.0.saturating_sub(now.0).max(0).cast_unsigned()).clamp(SHORTEST, LONGEST)
}
