//! Tells the findings every ten seconds what the settings, the repositories and the upstreams are.

use super::gather_repositories;
use crate::app::App;
use crate::error::Result;
use insight::Facts;
use std::sync::Arc;
use std::time::Duration;
use telemetry::Event;
use tokio::time::sleep;

/// The interval between two rounds.
const EVERY: Duration = Duration::from_secs(10);

/// Tells them as long as the runtime lives.
pub(crate) async fn run(app: Arc<App>) {
    loop {
        tell(&app).await;
        sleep(EVERY).await;
    }
}

/// Tells them now, and lets them look. A failure to read leaves the former facts.
pub(crate) async fn tell(app: &App) {
    let mut event = Event::job("findings", app.clock.now());
    if let Ok(facts) = facts(app, &mut event).await {
        app.findings.observe(facts);
    }
}

async fn facts(app: &App, event: &mut Event) -> Result<Facts> {
    let mut facts = Facts { settings: app.settings.clone(), ..Facts::default() };
    gather_repositories::add(app, &mut facts, event).await?;
    Ok(facts)
}
