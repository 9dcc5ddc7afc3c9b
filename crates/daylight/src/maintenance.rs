//! Work that the server does regularly, without a request.

use crate::app::App;
use std::sync::Arc;
use std::time::Duration;
use telemetry::Millis;
use tokio::time::timeout;

/// How often: retention counts in days.
const EVERY: Duration = Duration::from_secs(3600);

/// Does the work at the start, and then regularly as long as the runtime lives.
pub(crate) async fn run(app: Arc<App>) {
    let mut last = Millis(i64::MIN);
    loop {
        let now = app.clock.now();
        // Conformance mode may set the time of day many times within an hour.
        if now >= last.plus(EVERY / 2) || now < last {
            last = now;
            app.repositories.prune_snapshots().await;
        }
        let _ = timeout(EVERY, app.time_was_set.notified()).await;
    }
}
