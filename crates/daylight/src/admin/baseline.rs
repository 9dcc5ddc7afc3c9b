//! `/api/v1/baseline`: what requests cost whatever the machine.

use super::findings;
use crate::app::App;
use crate::error::{Error, Result};
use format::percent::Form;
use serde_json::Value;
use telemetry::{Event, Millis};

/// The most minutes: the counts of a day are in memory.
const MINUTES_MAX: i64 = 1440;

/// The counts until now.
pub(super) async fn show(app: &App, query: &str, event: &mut Event) -> Result<Value> {
    let minutes = match Form(query).value("minutes") {
        None => MINUTES_MAX,
        Some(text) => {
            let minutes = text.parse().ok().filter(|minutes| (1..=MINUTES_MAX).contains(minutes));
            minutes.ok_or_else(|| Error::Input("`minutes` must be a number from 1 to 1440".into()))?
        }
    };
    // Requests that have just ended are counted, too.
    app.flush_sinks(event).await;
    app.findings.wake();
    findings::look(app).await;
    let now = app.clock.now();
    let since = Millis(now.0 - minutes * 60_000);
    let baseline = app.findings.baseline(since, now, env!("CARGO_PKG_VERSION"));
    serde_json::to_value(baseline).map_err(|_| Error::GivenUp)
}
