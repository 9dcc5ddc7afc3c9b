//! Calls to an authority: the HTTP of the ACME client, by the crate that makes every outgoing call.

use super::failure::CallError;
use bytes::Bytes;
use client::{ClientOptions, Connection, Content, Request, Response, Trust};
use http::header::{HeaderValue, RETRY_AFTER, USER_AGENT};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Clock, Millis, Tally, Tick, lock};
use tokio::sync::Mutex as Turn;

/// For the name and the connection.
const CONNECT: Duration = Duration::from_secs(10);
/// For a whole call: a certificate of a company may wait for its database.
const CALL: Duration = Duration::from_secs(30);
/// The largest answer. A chain has a few KiB.
const ANSWER_MAX: u64 = 256 << 10;
/// As RFC 8555 6.1 wants it: the program, and what speaks the protocol in it.
const AGENT: &str = concat!("daylight/", env!("CARGO_PKG_VERSION"), " instant-acme");

/// The calls of one try, over one connection while the authority keeps it open.
#[derive(Clone)]
pub(super) struct Calls(Arc<Inner>);

struct Inner {
    connection: Turn<Connection>,
    clock: Clock,
    seen: Mutex<Seen>,
}

/// What the calls were.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    calls: Tally,
    /// The last answer asked for no further call before this moment.
    until: Option<Millis>,
}

impl Calls {
    /// No calls yet.
    pub(super) fn new(trust: Trust, clock: Clock) -> Self {
        let options =
            ClientOptions { connect_timeout: CONNECT, total_timeout: CALL, max_body_bytes: ANSWER_MAX, trust };
        Self(Arc::new(Inner { connection: Turn::new(Connection::new(options)), clock, seen: Mutex::default() }))
    }

    /// How many there were, and their time.
    pub(super) fn tally(&self) -> Tally {
        lock(&self.0.seen).calls
    }

    /// The moment before which the last answer asked for no further call (`Retry-After`).
    pub(super) fn until(&self) -> Option<Millis> {
        lock(&self.0.seen).until
    }
}

impl HttpClient for Calls {
    fn request(
        &self,
        request: http::Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let inner = self.0.clone();
        Box::pin(async move { inner.call(request).await.map_err(|error| Error::Other(Box::new(error))) })
    }
}

impl Inner {
    async fn call(&self, request: http::Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, CallError> {
        let (head, body) = request.into_parts();
        let url = head.uri.to_string();
        if head.uri.scheme_str() != Some("https") {
            return Err(CallError::NotHttps(url));
        }
        // The only way to the bytes that needs no crate of bodies.
        let mut body = BytesResponse::from(http::Response::new(body)).body;
        let body = body.into_bytes().await.map_err(|error| CallError::Unsendable(error.to_string()))?;
        let mut headers = head.headers;
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let request = Request { method: head.method.clone(), url, headers, token: None, body: Content::Bytes(body) };
        let began = Tick::now();
        let answer = self.connection.lock().await.call(request).await;
        let nanos = Tick::now().since(began);
        let pause = answer.as_ref().ok().and_then(|answer| self.pause(answer));
        {
            let mut seen = lock(&self.seen);
            seen.calls.count = seen.calls.count.saturating_add(1);
            seen.calls.nanos = seen.calls.nanos.saturating_add(nanos);
            seen.until = pause;
        }
        let answer = answer?;
        if !is_of_protocol(&answer) {
            let host = head.uri.authority().map(ToString::to_string).unwrap_or_default();
            let (method, path) = (head.method.to_string(), head.uri.path().to_owned());
            return Err(CallError::Status { host, status: answer.status.as_u16(), method, path });
        }
        let (mut parts, ()) = http::Response::new(()).into_parts();
        (parts.status, parts.headers) = (answer.status, answer.headers);
        // It was read above, and the client of ACME panics at a pause of more seconds than its clock has.
        parts.headers.remove(RETRY_AFTER);
        Ok(BytesResponse { parts, body: Box::new(answer.body) })
    }

    fn pause(&self, answer: &Response) -> Option<Millis> {
        let now = self.clock.now();
        let text = answer.headers.get(RETRY_AFTER)?.to_str().ok()?;
        client::retry_after(text, now).map(|pause| now.plus(pause))
    }
}

/// A success, or an error with a description in JSON. Others are of a proxy or of another server, and their texts explain nothing.
fn is_of_protocol(answer: &Response) -> bool {
    answer.status.is_success()
        || !answer.status.is_redirection()
            && serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&answer.body).is_ok()
}
