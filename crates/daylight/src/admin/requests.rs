//! `/api/v1/requests`: the requests in progress that outlasted their turn, the oldest first.

use crate::app::App;
use crate::route::{self, Route};
use http::Method;
use repository::moment::Moment;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use telemetry::{OldestRequests, Op, OpenRequestView, Tick};

/// The most requests in a response. The list is made on an event loop, where other requests wait for it.
const REQUESTS_MAX: usize = 200;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenRequests {
    /// The 200 oldest, the oldest first.
    requests: Vec<OpenRequest>,
    /// The number of younger requests.
    left_out: usize,
}

/// A request in progress.
#[derive(Debug, Serialize, JsonSchema)]
struct OpenRequest {
    /// The id of its event, which is recorded when the request ends.
    id: String,
    /// When it began.
    at: Moment,
    /// The time since then, in milliseconds.
    age_ms: u64,
    method: &'static str,
    path: String,
    /// The repository that the path names.
    repository: Option<String>,
    /// The operation that it waits for, the innermost one. `body.send` is a wait for the client; null: none is known.
    op: Option<&'static str>,
    /// All operations that it waits for, the latest first. A group asks several members at once.
    ops: Vec<&'static str>,
    /// Bytes of its body that were received.
    bytes_in: u64,
    /// Bytes of the answer's body that were sent.
    bytes_out: u64,
}

impl From<OpenRequestView> for OpenRequest {
    fn from(OpenRequestView { id, at, age, method, path, ops, bytes_in, bytes_out }: OpenRequestView) -> Self {
        let ops: Vec<_> = ops.into_iter().map(Op::as_str).collect();
        let (id, at, repository, op) = (id.to_string(), Moment(at), repository(&path), ops.first().copied());
        Self { id, at, age_ms: age / 1_000_000, method, path, repository, op, ops, bytes_in, bytes_out }
    }
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
    json!(OpenRequests { requests: requests.into_iter().map(OpenRequest::from).collect(), left_out })
}
