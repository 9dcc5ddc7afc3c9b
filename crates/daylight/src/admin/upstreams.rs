//! `/api/v1/upstreams`: the hosts of upstreams, with their state in this process.

use crate::app::App;
use crate::error::Error;
use client::{Circuit, HostState};
use serde_json::{Value, json};
use telemetry::{Event, Millis, RecentCalls};

fn to_json((state, repositories): &(HostState, Vec<String>), recent: &RecentCalls, now: Millis) -> Value {
    let millis = |nanos: Option<u64>| nanos.map(|nanos| (nanos / 1_000) as f64 / 1e3);
    let (circuit, failures, open_until) = match state.circuit {
        Circuit::Closed { failures } => ("closed", failures, None),
        Circuit::Open { until, .. } => ("open", 0, Some(until).filter(|until| now < *until)),
        Circuit::Trial { .. } => ("trial", 0, None),
    };
    json!({
        "host": state.host,
        "number": state.number,
        "repositories": repositories,
        "circuit": circuit,
        "failures": failures,
        "open_until": open_until.map(|until| until.to_string()),
        "paused_until": state.paused_until.map(|until| until.to_string()),
        "p50_ms": millis(recent.p50),
        "p95_ms": millis(recent.p95),
        "failed_share": recent.failed_share,
        "wait_share": recent.wait_share,
        "calls": state.calls,
        "calls_max": state.calls_max,
        "waiting": state.waiting,
        "connections_kept": state.kept,
        "last_error": state.trouble.as_ref().map(|last| json!({ "at": last.at.to_string(), "what": last.what })),
    })
}

pub(super) async fn list(app: &App, event: &mut Event) -> Result<Value, Error> {
    let hosts = app.repositories.upstreams(event).await?;
    let recent = app.recorder.recent_calls(hosts.iter().map(|(state, _)| &*state.host));
    let now = app.clock.now();
    let hosts: Value = hosts.iter().zip(&recent).map(|(host, recent)| to_json(host, recent, now)).collect();
    Ok(json!({ "upstreams": hosts }))
}
