//! The response of an upstream: its head at once, its body as it arrives.

use crate::error::Error;
use crate::failed::silent;
use crate::host::CallSlot;
use crate::http_connection::HttpConnection;
use crate::pool::PoolKey;
use crate::timeouts::Timeouts;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response};
use hyper::body::{Body, Incoming};
use std::net::IpAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use telemetry::{ClosedBy, Event, Millis, Op, Tick, UpstreamCalls, under_way};
use tokio::time::timeout;

/// The part of an error response that is read, so that its connection can be used again.
const SAID_MAX_BYTES: usize = 64 << 10;
/// The time limit for reading it. The status is already known.
const LISTEN_AT_MOST: Duration = Duration::from_secs(2);

/// The response to a call. If its body is not read to the end with [`Arriving::next`], the connection is closed with
/// it.
#[derive(Debug)]
pub struct Arriving {
    status: u16,
    headers: HeaderMap,
    /// Used in messages.
    host: String,
    peer: Option<IpAddr>,
    said: String,
    /// Whether the path is a folder: the server redirected to the same path with a slash at the end.
    folder: bool,
    /// The end of the pause that it asks for.
    paused_until: Option<Millis>,
    /// Whether a 403 is about the file.
    forbids: bool,
    timeouts: Timeouts,
    rate_budget: RateBudget,
    /// `None` once the body has ended, completely or with an error.
    open: Option<Open>,
}

/// What an incomplete body needs. Dropped as soon as the body is complete, which frees the slot for another call.
#[derive(Debug)]
struct Open {
    body: Incoming,
    connection: HttpConnection,
    pool_key: PoolKey,
    slot: CallSlot,
    calls: Arc<UpstreamCalls>,
}

impl Arriving {
    pub(crate) fn new(
        answer: Response<Incoming>,
        host: &str,
        connection: HttpConnection,
        pool_key: PoolKey,
        slot: CallSlot,
        calls: Arc<UpstreamCalls>,
        timeouts: Timeouts,
    ) -> Self {
        let (head, body) = answer.into_parts();
        let ended = body.is_end_stream();
        let mut arriving = Self {
            status: head.status.as_u16(),
            headers: head.headers,
            host: host.to_owned(),
            peer: connection.peer(),
            said: String::new(),
            folder: false,
            paused_until: None,
            forbids: false,
            timeouts,
            rate_budget: RateBudget::default(),
            open: Some(Open { body, connection, pool_key, slot, calls }),
        };
        if ended {
            arriving.end();
        }
        arriving
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the path is a folder and not a file: the server redirected to the same path with a slash at the end.
    pub fn is_of_folder(&self) -> bool {
        self.folder
    }

    pub(crate) fn of_folder(mut self, folder: bool) -> Self {
        self.folder = folder;
        self
    }

    /// The end of the pause that the host asks for with this response: a 429, or a 503 with `Retry-After`.
    pub fn paused_until(&self) -> Option<Millis> {
        self.paused_until
    }

    pub(crate) fn with_pause(mut self, until: Option<Millis>) -> Self {
        self.paused_until = until;
        self
    }

    /// Whether it is a 403 about this file, and not about all requests of this server: the upstream answers others.
    pub fn forbids_file(&self) -> bool {
        self.forbids
    }

    pub(crate) fn forbidding(mut self, forbids: bool) -> Self {
        self.forbids = forbids;
        self
    }

    /// The value of a header, if it is there and readable. Names are in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The announced length of the body.
    pub fn length(&self) -> Option<u64> {
        self.header("content-length").and_then(|text| text.parse().ok())
    }

    /// The address of the server; `None` behind a proxy.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// An excerpt of an error response in plain text, for people. Empty for all other responses.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// The next chunk of the body; `None` after the last. A body that ends before its announced length, or arrives too slowly, is
    /// an error. After an error there are no more chunks.
    pub async fn next(&mut self, event: &mut Event) -> Option<Result<Bytes, Error>> {
        loop {
            if let Poll::Ready(next) = self.next_within(Duration::MAX, event).await {
                return next;
            }
        }
    }

    /// The same, if it comes within this time.
    pub async fn next_within(&mut self, within: Duration, event: &mut Event) -> Poll<Option<Result<Bytes, Error>>> {
        let Some(open) = self.open.as_mut() else { return Poll::Ready(None) };
        let longest = self.timeouts.idle.min(self.rate_budget.left(&self.timeouts));
        let limit = longest.min(within);
        let began = Tick::now();
        let waiting = under_way(Op::UpstreamBody);
        let piece = timeout(limit, open.connection.piece(&mut open.body)).await;
        drop(waiting);
        let waited = Tick::now().since(began);
        event.add(Op::UpstreamBody, waited);
        let error = match piece {
            Ok(Some(Ok(bytes))) => {
                self.rate_budget.fill(bytes.len(), waited, &self.timeouts);
                open.calls.received(bytes.len());
                event.upstream_mut().bytes += bytes.len() as u64;
                return Poll::Ready(Some(Ok(bytes)));
            }
            Ok(None) => {
                self.end();
                return Poll::Ready(None);
            }
            Ok(Some(Err(error))) => error,
            Err(_) if within < longest => {
                self.rate_budget.fill(0, waited, &self.timeouts);
                return Poll::Pending;
            }
            Err(_) if limit < self.timeouts.idle => Error::TooSlow {
                host: self.host.clone(),
                bytes: self.timeouts.slowest_bytes,
                waited_ms: u64::try_from(self.timeouts.slowest_within.as_millis()).unwrap_or(u64::MAX),
            },
            Err(_) => silent(&self.host, limit),
        };
        open.slot.failed(&error);
        open.calls.broke_off(error.reason());
        self.close(ClosedBy::Error);
        Poll::Ready(Some(Err(error)))
    }

    /// Reads an error response as far as it is useful, and releases the connection.
    pub(crate) async fn listen(&mut self, event: &mut Event) {
        let mut said = BytesMut::new();
        let listen = async {
            while let Some(Ok(piece)) = self.next(event).await {
                said.extend_from_slice(&piece);
                if said.len() > SAID_MAX_BYTES {
                    return;
                }
            }
        };
        let _ = timeout(LISTEN_AT_MOST, listen).await;
        self.close(ClosedBy::Us);
        if self.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")) {
            self.said = Event::text(String::from_utf8_lossy(&said).trim());
        }
    }

    /// The body is complete: the connection goes back to the pool.
    fn end(&mut self) {
        if let Some(open) = self.open.take() {
            open.slot.host.pool.put(open.pool_key, open.connection);
        }
    }

    /// The body is not read to its end, so no other call can use the connection.
    fn close(&mut self, by: ClosedBy) {
        if let Some(open) = self.open.take() {
            open.slot.host.pool.lost(open.pool_key, by);
        }
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.close(ClosedBy::Us);
    }
}

/// Measures how slowly a body arrives. Waiting consumes the budget, and enough bytes restore it.
#[derive(Debug, Default)]
struct RateBudget {
    /// Nanoseconds waited since it was full.
    waited: u64,
    /// Bytes that arrived since then.
    bytes: u64,
}

impl RateBudget {
    fn left(&self, timeouts: &Timeouts) -> Duration {
        timeouts.slowest_within.saturating_sub(Duration::from_nanos(self.waited))
    }

    fn fill(&mut self, bytes: usize, waited: u64, timeouts: &Timeouts) {
        self.waited += waited;
        self.bytes += bytes as u64;
        if self.bytes >= timeouts.slowest_bytes {
            *self = Self::default();
        }
    }
}
