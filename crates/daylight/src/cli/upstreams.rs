//! `daylight upstreams`: the state of the hosts of upstreams, from a running server.

use super::api::{Api, decode};
use super::context::Context;
use super::table;
use crate::lookup::cells::milliseconds;
use serde::Deserialize;
use serde_json::Value;
use std::io::Write;

/// The path of the hosts of upstreams in the API.
pub(super) const UPSTREAMS: &str = "/api/v1/upstreams";

/// Show the state of the upstream hosts of a running server
///
/// P50 and P95 are times of the responses of the last 15 minutes, until their head. FAILED is the part of the calls of these 15 minutes without a
/// complete response, or with an error as its status. WAITS is the part of the time of all requests of
/// these 15 minutes that they waited for the host. After repeated failures the circuit of a host opens: the server does not call it for a
/// while, and answers from its cache.
#[derive(Debug, clap::Args)]
pub(super) struct Upstreams;

#[derive(Debug, Deserialize)]
struct UpstreamList {
    upstreams: Vec<Upstream>,
}

#[derive(Debug, Deserialize)]
struct Upstream {
    host: String,
    #[serde(default)]
    repositories: Vec<String>,
    circuit: String,
    failures: u64,
    open_until: Option<String>,
    paused_until: Option<String>,
    p50_ms: Option<f64>,
    p95_ms: Option<f64>,
    failed_share: Option<f64>,
    wait_share: Option<f64>,
    calls: u64,
    calls_max: u64,
    waiting: u64,
    last_error: Option<LastError>,
}

#[derive(Debug, Deserialize)]
struct LastError {
    at: String,
    what: String,
}

impl Upstreams {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        let answer = api.get(UPSTREAMS)?;
        if api.print_json(&answer, context)? {
            return Ok(());
        }
        write(answer, context.out)
    }
}

/// Writes the answer of the list for people.
pub(super) fn write(answer: Value, out: &mut dyn Write) -> anyhow::Result<()> {
    let rows: Vec<_> = decode::<UpstreamList>(answer)?.upstreams.into_iter().map(row).collect();
    if rows.is_empty() {
        return Ok(writeln!(out, "no host was called since the start of the server")?);
    }
    let head = ["HOST", "REPOSITORIES", "STATE", "P50", "P95", "FAILED", "WAITS", "CALLS", "QUEUED", "LAST ERROR"];
    Ok(table::write(out, head, rows)?)
}

fn row(upstream: Upstream) -> [String; 10] {
    let state = match (upstream.open_until.or(upstream.paused_until), upstream.circuit.as_str(), upstream.failures) {
        (Some(until), ..) => format!("not called until {until}"),
        (None, "closed", 0) => "ok".to_owned(),
        _ => "last calls failed".to_owned(),
    };
    let calls = format!("{} of {}", upstream.calls, upstream.calls_max);
    let last = upstream.last_error.map_or_else(|| "none".to_owned(), |last| format!("{} {}", last.at, last.what));
    let took = |millis: Option<f64>| millis.map_or_else(|| "-".to_owned(), milliseconds);
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let (failed, waits) = (share(upstream.failed_share), share(upstream.wait_share));
    let (p50, p95, queued) = (took(upstream.p50_ms), took(upstream.p95_ms), upstream.waiting.to_string());
    [upstream.host, upstream.repositories.join(","), state, p50, p95, failed, waits, calls, queued, last]
}
