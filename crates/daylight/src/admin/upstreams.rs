//! `/api/v1/upstreams`: the hosts of upstreams, with their state in this process.

use crate::app::App;
use crate::error::Result;
use client::{Circuit, HostState};
use repository::moment::Moment;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use telemetry::{Event, Millis, RecentCalls};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Upstreams {
    upstreams: Vec<Upstream>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Upstream {
    /// `name:port`.
    host: String,
    /// Its name in `/metrics`, until the server stops.
    number: u64,
    /// The repositories that have their upstream there, as far as they were asked for anything.
    repositories: Vec<String>,
    /// Closed: it is called. Open: it failed again and again, and is not called. Trial: one call tries whether it is back.
    #[schemars(extend("enum" = ["closed", "open", "trial"]))]
    circuit: &'static str,
    /// Calls that failed in a row.
    failures: u32,
    /// Until then it is not called; null: it is called, or the next call is a trial.
    open_until: Option<Moment>,
    /// It asked not to be called before (`Retry-After`).
    paused_until: Option<Moment>,
    /// Half of the responses of the last 15 minutes took no longer until their head, in milliseconds; null: there were none.
    p50_ms: Option<f64>,
    /// The same of 95 % of the responses.
    p95_ms: Option<f64>,
    /// The part of the calls of the last 15 minutes that failed, 0 to 1: without a complete response, or with a status that is an error
    /// (403, 429, 5xx; not 404). Null: there were no calls.
    failed_share: Option<f64>,
    /// The part of the time of all requests of the last 15 minutes that they waited for this host, 0 to 1. Members of a group are asked
    /// at the same time, so the parts of several hosts may add up to more than 1.
    wait_share: Option<f64>,
    /// Calls under way.
    calls: u64,
    /// So many may be.
    calls_max: u64,
    /// Calls that wait for a place.
    waiting: u64,
    /// Connections that are kept for the next call.
    connections_kept: u64,
    /// What went wrong last, however long ago.
    last_error: Option<LastError>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct LastError {
    at: Moment,
    what: String,
}

impl Upstream {
    fn new((state, repositories): (HostState, Vec<String>), recent: &RecentCalls, now: Millis) -> Self {
        let HostState { host, number, calls, calls_max, waiting, kept, circuit, paused_until, trouble } = state;
        let millis = |nanos: u64| (nanos / 1_000) as f64 / 1e3;
        let (circuit, failures, open_until) = match circuit {
            Circuit::Closed { failures } => ("closed", failures, None),
            Circuit::Open { until, .. } => ("open", 0, Some(until).filter(|until| now < *until)),
            Circuit::Trial { .. } => ("trial", 0, None),
        };
        Self {
            host,
            number,
            repositories,
            circuit,
            failures,
            open_until: open_until.map(Moment),
            paused_until: paused_until.map(Moment),
            p50_ms: recent.p50.map(millis),
            p95_ms: recent.p95.map(millis),
            failed_share: recent.failed_share,
            wait_share: recent.wait_share,
            calls,
            calls_max,
            waiting,
            connections_kept: kept,
            last_error: trouble.map(|last| LastError { at: Moment(last.at), what: last.what }),
        }
    }
}

pub(super) async fn list(app: &App, event: &mut Event) -> Result<Value> {
    let hosts = app.repositories.upstreams(event).await?;
    let recent = app.recorder.recent_calls(hosts.iter().map(|(state, _)| &*state.host));
    let now = app.clock.now();
    let upstreams = hosts.into_iter().zip(&recent).map(|(host, recent)| Upstream::new(host, recent, now));
    Ok(json!(Upstreams { upstreams: upstreams.collect() }))
}
