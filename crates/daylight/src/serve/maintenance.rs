//! Work that the server does regularly, without a request.

use crate::app::App;
use crate::uses::recording;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Job, LongJob, Millis, Reason};
use tokio::time::timeout;

/// Maximum interval between two writes of last uses. A crash loses newer ones.
const EVERY: Duration = Duration::from_secs(60);

/// The longest usual time of one step: a round of the collector through millions of blobs.
pub(super) const STEP: Duration = Duration::from_secs(600);

/// Minimum interval between two rounds of the collector.
const COLLECT_EVERY: Duration = Duration::from_secs(15);

/// How often snapshots are pruned: retention counts in days. By the time of day, which conformance mode may set many times within an hour.
const PRUNE_EVERY: Duration = Duration::from_secs(3600);

/// The lease of the node that prunes for all.
const RETENTION: &str = "retention";

/// Does the work at the start, and then regularly as long as the runtime lives.
pub(crate) async fn run(app: Arc<App>, job: Arc<LongJob>) {
    let ([mut pruned, mut collected], mut led) = ([Millis(i64::MIN); 2], false);
    loop {
        job.moved();
        record_uses(&app).await;
        app.repositories.share_upstreams();
        app.repositories.follow_upstreams().await;
        job.moved();
        app.repositories.make_late_digests(|| job.moved()).await;
        let now = app.clock.now();
        let is_due = |last: Millis| now >= last.plus(PRUNE_EVERY) || now < last;
        // Asked in each round, so that the node that does it goes on to do it.
        let (prunes, leads) = (app.store.holds(RETENTION), app.store.collects());
        if prunes && is_due(pruned) {
            pruned = now;
            app.repositories.prune_snapshots().await;
            job.moved();
        }
        let leads_now = !std::mem::replace(&mut led, leads) && leads;
        if is_due(collected) || leads_now {
            collected = now;
            app.repositories.close_stale_files();
            collect(&app, true).await;
        } else if app.store.next_collection().is_some_and(|due| due <= app.store.now()) {
            collect(&app, false).await;
        }
        let _ = timeout(until_next(&app), app.time_was_set.notified()).await;
    }
}

/// The wait for the next round. It is shorter if blobs are due earlier.
fn until_next(app: &App) -> Duration {
    let due = app.store.next_collection().map(|due| due.0.saturating_sub(app.store.now().0));
    due.map_or(EVERY, |ms| Duration::from_millis(ms.max(0).cast_unsigned()).clamp(COLLECT_EVERY, EVERY))
}

/// One round of the collector, through `all` blobs or the blobs that may be due.
async fn collect(app: &App, all: bool) {
    let mut job = Job::begin(&app.recorder, "blobs.collect");
    let done = if all { app.store.collect(&mut job).await } else { app.store.collect_due(&mut job).await };
    match &done {
        Ok(done) => {
            if done.collected > 0 {
                // An open file keeps its space.
                app.repositories.close_stale_files();
            }
            job.detail = format!("{} of {} blobs deleted, {} marked", done.collected, done.blobs, done.marked);
            if done.collected > 0 {
                let figures: [(&str, &dyn std::fmt::Display); 2] =
                    [("blobs", &done.collected), ("freed_bytes", &done.freed_bytes)];
                app.log.info("deleted unused blobs", &figures);
            }
        }
        // The store is closing or busy: the next round continues.
        Err(error) => {
            job.reason = Some(Reason::Io);
            job.detail = error.to_string();
        }
    }
    job.end_as(&done);
}

/// Writes the last uses.
async fn record_uses(app: &App) {
    let mut event = Event::job("last_uses", app.clock.now());
    if let Err(error) = recording::record(app, &mut event).await {
        app.log.warn("cannot store the times of last use", &[("cause", &error)]);
    }
}
