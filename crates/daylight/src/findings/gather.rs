//! Tells the findings every ten seconds what the settings, the repositories and the upstreams are.

use super::{gather_certificates, gather_disk, gather_indexes, gather_names, gather_repositories, mutes};
use crate::app::App;
use crate::error::Result;
use insight::Facts;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, LongJob};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// The interval between two rounds.
pub(crate) const EVERY: Duration = Duration::from_secs(10);
/// How long a caller waits for a look.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// Tells them as long as the runtime lives.
pub(crate) async fn run(app: Arc<App>, job: Arc<LongJob>) {
    tell(&app).await;
    // Faults of the settings and of the run before are told at once.
    app.findings.wake();
    loop {
        job.moved();
        sleep(EVERY).await;
        tell(&app).await;
    }
}

/// Tells them now, and lets them look. A failure to read leaves the former facts.
pub(crate) async fn tell(app: &App) {
    let mut event = Event::job("findings", app.clock.now());
    // A failure leaves the former mutes.
    let _ = mutes::tell(app, &mut event).await;
    if let Ok(facts) = facts(app, &mut event).await {
        app.findings.observe(facts);
    }
}

/// Tells them now, and waits until they have looked, for at most some seconds.
pub(crate) async fn look(app: &App) {
    tell(app).await;
    app.findings.wake();
    let (looked, wait) = oneshot::channel::<()>();
    // The wait ends when the sender is dropped, too.
    app.findings.looked(move || drop(looked));
    // The thread may have ended.
    let _ = timeout(LOOK_TIMEOUT, wait).await;
}

async fn facts(app: &App, event: &mut Event) -> Result<Facts> {
    let (settings, truth_bytes) = (app.settings.clone(), app.store.truth_bytes());
    let mut facts = Facts { settings, truth_bytes, ..Facts::default() };
    gather_repositories::add(app, &mut facts, event).await?;
    let (table, program) = (app.repositories.table(event).await?, &mut facts.program);
    program.contradictions.clone_from(&app.warnings);
    program.receivers = app.alerts.get().map(|alerts| alerts.facts()).unwrap_or_default();
    gather_certificates::add(app, &table, program);
    gather_disk::add(app, program);
    gather_indexes::add(&table, app.clock.now(), program);
    gather_names::add(app, &table, program, event).await?;
    Ok(facts)
}
