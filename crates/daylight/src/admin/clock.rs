//! `/api/v1/clock`: which of the machine's clock and the journal is right.

use crate::app::App;
use crate::error::Result;
use repository::moment::Moment;
use repository::{Author, ClockReport};
use rustix::process::{Signal, getpid, kill_process};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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

/// What the clock and the journal say.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Clock {
    applied: bool,
    /// The clock of the machine.
    clock: Moment,
    /// The moment of the last change, before the decision.
    last_change: Option<Moment>,
    /// Why nothing was written before the decision, if that was because of the clock.
    doubt: Option<String>,
    /// What was added to the time of the clock before the decision, because it was known to be wrong.
    correction_ms: i64,
    /// How many changes were dated later than the clock.
    rows_of_the_future: u64,
    /// Whether the server restarts in place after this answer.
    restarts: bool,
}

pub(super) async fn repair(app: &App, body: ClockRepair, by: Author<'_>, event: &mut Event) -> Result<Value> {
    let before = decide(app, body.right, body.apply.then_some(by), event).await?;
    // Dates of the versions of upstreams are also in memory. They are read again by a restart in place, after this reply.
    let restarts = body.apply && body.right == Right::Clock && before.rows_of_the_future > 0;
    if restarts && let Err(error) = kill_process(getpid(), Signal::USR2) {
        app.log.warn("cannot restart after the repair: restart the server", &[("cause", &error)]);
    }
    Ok(json!(Clock::new(before, body.apply, restarts)))
}

/// Decides for one of the two, on behalf of `by`; `None`: only reports. Returns what the clock and the journal said before.
pub(crate) async fn decide(app: &App, right: Right, by: Option<Author<'_>>, event: &mut Event) -> Result<ClockReport> {
    let before = repository::clock_report(app.services(), event).await?;
    match (right, by) {
        (_, None) => {}
        (Right::Clock, Some(by)) => repository::believe_clock(app.services(), by, event).await?,
        (Right::Rows, Some(by)) => repository::believe_rows(app.services(), by, event).await?,
    }
    Ok(before)
}

impl Clock {
    /// The report of a decision, or of a check.
    pub(super) fn new(report: ClockReport, applied: bool, restarts: bool) -> Self {
        let ClockReport { clock, last_change, doubt, correction_ms, rows_of_the_future } = report;
        let last_change = Some(last_change).filter(|last| last.0 > i64::MIN).map(Moment);
        let (clock, doubt) = (Moment(clock), doubt.map(|doubt| doubt.to_string()));
        Self { applied, clock, last_change, doubt, correction_ms, rows_of_the_future, restarts }
    }
}
