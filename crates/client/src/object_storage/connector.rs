//! Makes the calls that `object_store` asks for.

use super::answer_body::AnswerBody;
use super::error_kind;
use crate::circuit::CircuitOptions;
use crate::content::RequestBody;
use crate::dial::{DialOptions, dial};
use crate::error::Error;
use crate::failed::silent;
use crate::host::{CallSlot, Host};
use crate::host_options::{Apart, HostsOptions};
use crate::hosts::Hosts;
use crate::http_connection::HttpConnection;
use crate::pool::PoolKey;
use crate::set_up::SetUp;
use crate::ssrf::AddressPolicy;
use crate::target::Target;
use crate::timeouts::Timeouts;
use crate::tls::Tls;
use http::header::{CONTENT_LENGTH, HOST, USER_AGENT};
use http::{HeaderValue, Method, Request, Response};
use hyper::body::Incoming;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use telemetry::{Event, Millis, Recorder};
use tokio::time::{sleep, timeout};

/// Calls to one server at a time. More wait.
const CALLS: usize = 32;
const APART: Apart = Apart { name: "objects", calls: CALLS };
/// How long a server may take from the last byte of a request to the head of its answer, and for each piece of a body.
const HEAD: Duration = Duration::from_secs(10);

/// Connects `object_store` with servers of object storage, and with the ones that give a machine its credentials. Unlike upstreams, which
/// callers of the API may name, all of them are named by the operator or by `object_store`, so no address is forbidden: clouds hand out
/// the credentials of a machine at link-local ones.
#[derive(Debug, Clone)]
pub struct ObjectConnector {
    hosts: Arc<Hosts>,
}

impl ObjectConnector {
    /// No server is called yet.
    pub fn new(recorder: Arc<Recorder>) -> Self {
        Self::with(
            recorder,
            Timeouts { connect: Duration::from_secs(5), idle: HEAD, head: HEAD, ..Timeouts::default() },
        )
    }

    /// The same with other timeouts.
    pub(super) fn with(recorder: Arc<Recorder>, timeouts: Timeouts) -> Self {
        let options = HostsOptions {
            called: "object storage",
            calls: CALLS,
            waiting: 1024,
            kept: CALLS / 2,
            // One that hangs opens it at once. One that is away for a moment, as at its restart, is asked again: no other can answer
            // in its place.
            circuit: CircuitOptions { failures: 20, rest_max: Duration::from_secs(10), ..CircuitOptions::default() },
            wait_for_retry: Duration::from_secs(10),
            timeouts,
            ..HostsOptions::default()
        };
        Self { hosts: Hosts::new(recorder, options) }
    }
}

impl HttpConnector for ObjectConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        Ok(HttpClient::new(ObjectCalls { hosts: self.hosts.clone(), plain }))
    }
}

/// The calls of one purpose: of the storage itself, or of the credentials for it.
#[derive(Debug)]
struct ObjectCalls {
    hosts: Arc<Hosts>,
    /// Whether it may call without TLS.
    plain: bool,
}

impl HttpService for ObjectCalls {
    // This is how the trait looks that `async_trait` makes.
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async { self.answer(request).await.map_err(error_kind::of) })
    }
}

impl ObjectCalls {
    async fn answer(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        let target = Target::of(&request.uri().to_string())?;
        if !target.origin.tls && !self.plain {
            // Its query may have a token.
            return Err(Error::NotAUrl { url: format!("http://{}", target.authority) });
        }
        let host = self.hosts.of(&target.origin, Some(APART));
        let mut event = Event::job("object_call", self.hosts.now());
        let mut slot = self.enter(&host, &mut event).await?;
        let (connection, answer) = match slot.unless_hung(self.exchange(&host, &target, request, &mut event)).await {
            Ok(came) => came,
            Err(error) => {
                slot.failed(&error);
                return Err(error);
            }
        };
        let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        slot.answered(&target.path, answer.status().as_u16(), retry_after);
        let idle = self.hosts.timeouts().idle;
        Ok(answer.map(|body| HttpResponseBody::new(AnswerBody::new(&target.authority, idle, body, connection, slot))))
    }

    /// Waits for a place at the host, and until a pause ends that it has asked for. `object_store` does not read `Retry-After`: its next
    /// try of the same call waits here.
    async fn enter(&self, host: &Arc<Host>, event: &mut Event) -> Result<CallSlot, Error> {
        let mut left = self.hosts.wait_for_retry();
        loop {
            let until = match host.enter(self.hosts.timeouts().slot, event).await {
                Err(Error::Paused { until, .. }) => until,
                entered => return entered,
            };
            let pause = pause(self.hosts.now(), until);
            left = left.checked_sub(pause).ok_or_else(|| Error::Paused { host: host.name().to_owned(), until })?;
            sleep(pause).await;
        }
    }

    async fn exchange(
        &self,
        host: &Host,
        target: &Target,
        request: HttpRequest,
        event: &mut Event,
    ) -> Result<(HttpConnection, Response<Incoming>), Error> {
        if let Some(mut connection) = host.pool.take(PoolKey::MACHINE) {
            match self.send(&mut connection, target, request.clone()).await {
                // The server may close an idle connection, which is noticed only at the next call.
                Err(Error::Cut { .. }) => host.pool.lost(PoolKey::MACHINE, connection.closed_by()),
                Err(error) => return Err(error),
                Ok(answer) => return Ok((connection, answer)),
            }
        }
        let mut connection = self.connect(target, event).await?;
        let answer = self.send(&mut connection, target, request).await?;
        Ok((connection, answer))
    }

    async fn connect(&self, target: &Target, event: &mut Event) -> Result<HttpConnection, Error> {
        let limit = self.hosts.timeouts().connect;
        let options = DialOptions {
            tls: &Tls::MACHINE,
            own: false,
            proxy: None,
            address_policy: AddressPolicy::Anywhere,
            pin: None,
            resolver: self.hosts.resolver(),
            // A server that writes an upload to a slow disk acknowledges nothing for a while.
            lost_after: Some(self.hosts.timeouts().head),
        };
        let mut set_up = SetUp::of(event);
        let connect = timeout(limit, async {
            let dialled = dial(&target.origin, options, &mut set_up).await?;
            HttpConnection::open(&target.authority, dialled).await
        });
        connect.await.unwrap_or_else(|_| Err(silent(&target.authority, limit)))
    }

    /// Sends a request, and waits for the head of its answer: as long as the body moves, and then as long as an answer may take.
    async fn send(
        &self,
        connection: &mut HttpConnection,
        target: &Target,
        request: HttpRequest,
    ) -> Result<Response<Incoming>, Error> {
        let moved = Arc::new(AtomicU64::new(0));
        let request = prepared(target, request, moved.clone())?;
        let (limit, mut seen) = (self.hosts.timeouts().head, 0);
        let mut answer = pin!(connection.send(request));
        loop {
            if let Ok(answer) = timeout(limit, &mut answer).await {
                return answer;
            }
            let now = moved.load(Relaxed);
            if std::mem::replace(&mut seen, now) == now {
                return Err(silent(&target.authority, limit));
            }
        }
    }
}

/// The request as it is sent. Its signature covers the headers that `object_store` has set; these stay.
fn prepared(target: &Target, request: HttpRequest, moved: Arc<AtomicU64>) -> Result<Request<RequestBody>, Error> {
    let host = HeaderValue::from_str(&target.authority);
    let host = host.map_err(|_| Error::NotAUrl { url: target.authority.clone() })?;
    let mut request = request.map(|body| RequestBody::of_object(body, moved));
    *request.uri_mut() = target.path.clone();
    // Without a body, hyper sends no length; servers want one here (RFC 9110 8.6).
    let has_body = matches!(*request.method(), Method::PUT | Method::POST);
    let headers = request.headers_mut();
    headers.entry(HOST).or_insert(host);
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static("daylight"));
    if has_body && hyper::body::Body::is_end_stream(request.body()) {
        request.headers_mut().entry(CONTENT_LENGTH).or_insert(HeaderValue::from_static("0"));
    }
    Ok(request)
}

fn pause(now: Millis, until: Millis) -> Duration {
    // At least a millisecond, so that a pause that is over by now is not an endless loop.
    Duration::from_millis(u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0).max(1))
}
