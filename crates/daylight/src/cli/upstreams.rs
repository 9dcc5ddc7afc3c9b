//! `daylight upstreams`: the state of the hosts of upstreams, from a running server.

use super::api::{Api, decode};
use super::context::Context;
use super::table;
use serde::Deserialize;

/// Show the state of the upstream hosts of a running server
///
/// After repeated failures the circuit of a host opens: the server does not call it for a while, and answers from its cache.
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
    open_until: Option<String>,
    paused_until: Option<String>,
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
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let api = Api::new(context)?;
        let answer = api.get("/api/v1/upstreams")?;
        if api.print_json(&answer, context)? {
            return Ok(());
        }
        let rows = decode::<UpstreamList>(answer)?.upstreams.into_iter().map(row).collect();
        Ok(table::write(context.out, ["HOST", "REPOSITORIES", "STATE", "CALLS", "WAITING", "LAST ERROR"], rows)?)
    }
}

fn row(upstream: Upstream) -> [String; 6] {
    let state = match (upstream.circuit.as_str(), upstream.open_until, upstream.paused_until) {
        ("open", Some(until), _) => format!("circuit open until {until}"),
        ("trial", ..) => "circuit half open".to_owned(),
        (.., Some(until)) => format!("paused until {until}"),
        _ => "circuit closed".to_owned(),
    };
    let calls = format!("{} of {}", upstream.calls, upstream.calls_max);
    let last = upstream.last_error.map_or_else(|| "none".to_owned(), |last| format!("{} {}", last.at, last.what));
    [upstream.host, upstream.repositories.join(","), state, calls, upstream.waiting.to_string(), last]
}
