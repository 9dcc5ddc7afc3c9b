//! Work that the server does regularly, without a request.

use crate::app::App;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// How often: retention counts in days.
const EVERY: Duration = Duration::from_secs(3600);

/// Does the work at the start, and then regularly as long as the runtime lives.
pub(crate) async fn run(app: Arc<App>) {
    let mut turns = interval(EVERY);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        app.repositories.prune_snapshots().await;
    }
}
