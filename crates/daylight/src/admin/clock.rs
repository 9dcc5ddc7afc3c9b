//! `/api/v1/clock`: which of the machine's clock and the journal is right.

use crate::app::App;
use crate::error::Error;
use repository::{Author, ClockReport};
use rustix::process::{Signal, getpid, kill_process};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use telemetry::Event;

/// The clock that is right, where the machine and the database differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Right {
    /// The clock of the machine.
    Clock,
    /// The moments of the rows.
    Rows,
}

/// The body of a POST.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct ClockRepair {
    /// `clock`: changes that are dated later than the machine's clock count as of now. `rows`: time goes on from the last change until the
    /// clock is set right.
    #[schemars(with = "String", extend("enum" = ["clock", "rows"]))]
    right: Right,
    /// Whether to decide it.
    #[serde(default)]
    apply: bool,
}

pub(super) async fn repair(app: &App, body: ClockRepair, by: Author<'_>, event: &mut Event) -> Result<Value, Error> {
    let before = decide(app, body.right, body.apply.then_some(by), event).await?;
    // Dates of the versions of upstreams are also in memory. They are read again by a restart in place, after this reply.
    let restarts = body.apply && body.right == Right::Clock && before.rows_of_the_future > 0;
    if restarts && let Err(error) = kill_process(getpid(), Signal::USR2) {
        app.log.warn("cannot restart after the repair: restart the server", &[("cause", &error)]);
    }
    Ok(to_json(before, body.apply, restarts))
}

/// Decides for one of the two, on behalf of `by`; `None`: only reports. Returns what the clock and the journal said before.
pub(crate) async fn decide(
    app: &App,
    right: Right,
    by: Option<Author<'_>>,
    event: &mut Event,
) -> Result<ClockReport, Error> {
    let before = app.repositories.clock(event).await?;
    match (right, by) {
        (_, None) => {}
        (Right::Clock, Some(by)) => app.repositories.believe_clock(by, event).await?,
        (Right::Rows, Some(by)) => app.repositories.believe_rows(by, event).await?,
    }
    Ok(before)
}

/// The report as JSON.
pub(crate) fn to_json(report: ClockReport, applied: bool, restarts: bool) -> Value {
    let ClockReport { clock, last_change, doubt, correction_ms, rows_of_the_future } = report;
    json!({
        "applied": applied,
        "clock": clock.to_string(),
        "last_change": (last_change.0 > i64::MIN).then(|| last_change.to_string()),
        "doubt": doubt.map(|doubt| doubt.to_string()),
        "correction_ms": correction_ms,
        "rows_of_the_future": rows_of_the_future,
        "restarts": restarts,
    })
}
