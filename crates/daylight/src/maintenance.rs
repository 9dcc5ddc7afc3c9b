//! Work that the server does regularly, without a request.

use crate::app::App;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Millis, Outcome, Reason, Tick};
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
            collect(&app).await;
        }
        let _ = timeout(EVERY, app.time_was_set.notified()).await;
    }
}

/// One round of the collector of blobs.
async fn collect(app: &App) {
    app.recorder.attempt();
    let mut event = Event::job("blobs.collect", app.clock.now());
    let done = app.store.collect(&mut event).await;
    event.outcome = Some(if done.is_ok() { Outcome::Done } else { Outcome::Failed });
    match done {
        Ok(done) => {
            event.detail = format!("{} of {} blobs deleted, {} marked", done.collected, done.blobs, done.marked);
            if done.collected > 0 {
                let figures: [(&str, &dyn std::fmt::Display); 2] =
                    [("blobs", &done.collected), ("freed_bytes", &done.freed_bytes)];
                app.log.info("bytes that nothing needs any more were deleted", &figures);
            }
        }
        // A store that is closing, or busy: the next round goes on.
        Err(error) => {
            event.reason = Some(Reason::Io);
            event.detail = error.to_string();
        }
    }
    event.duration = Tick::now().since(event.began);
    app.recorder.release(event);
}
