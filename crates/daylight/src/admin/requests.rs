//! `/api/v1/requests`: the requests in progress that outlasted their turn, the oldest first.

use crate::app::App;
use crate::route::{self, Route};
use http::Method;
use serde_json::{Value, json};
use telemetry::{OldestRequests, Op, OpenRequestView, Tick};

/// The most requests in a response. The list is made on an event loop, where other requests wait for it.
const REQUESTS_MAX: usize = 200;

fn to_json(one: &OpenRequestView) -> Value {
    json!({
        "id": one.id.to_string(),
        "at": one.at.to_string(),
        "age_ms": one.age / 1_000_000,
        "method": one.method,
        "path": one.path,
        "repository": repository(&one.path),
        "op": one.ops.first().copied().map(Op::as_str),
        "ops": one.ops.iter().copied().map(Op::as_str).collect::<Vec<_>>(),
        "bytes_in": one.bytes_in,
        "bytes_out": one.bytes_out,
    })
}

/// The repository that a path names.
fn repository(path: &str) -> Option<String> {
    match route::read(&Method::GET, path) {
        Ok(Route::Content(url)) => Some(url.repository),
        _ => None,
    }
}

pub(super) fn list(app: &App) -> Value {
    let OldestRequests { requests, left_out } = app.recorder.open_requests().list_oldest(Tick::now(), REQUESTS_MAX);
    json!({ "requests": requests.iter().map(to_json).collect::<Vec<_>>(), "left_out": left_out })
}
