//! An open connection to a backend, driven by hyper in the task that uses it.

use super::body::{BackendBody, SentBody};
use super::own_wakes::OwnWakes;
use super::response_head;
use super::upgraded::{BackendStream, Upgraded};
use super::watched::{Arrived, Watched};
use crate::error::Error;
use crate::failed::broken;
use crate::http_connection::HEAD_MAX_BYTES;
use crate::stream::Stream;
use bytes::Bytes;
use http::header::UPGRADE;
use http::{HeaderMap, Request, Response, StatusCode, Version};
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::{TrySendError, http1};
use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The most interim responses to one request.
const INTERIM_MAX: u32 = 16;

/// Is called for each interim response, on the task of the call.
pub type OnInterim = Box<dyn Fn(StatusCode, &HeaderMap) + Send + Sync>;

/// A request that got no response.
#[derive(Debug)]
pub struct SendError {
    /// Why.
    pub error: Error,
    /// The request, if not one byte of it was sent: it may be sent again, whatever its method is.
    pub unsent: Option<Request<BackendBody>>,
    /// Whether the connection ended before one byte of a response. On a connection that was used before, the server had probably
    /// closed it already, so an idempotent request may be sent again.
    pub unanswered: bool,
}

/// An open connection, for one request at a time. It is driven by the task that uses it.
pub struct BackendConnection {
    /// The name of the backend, for messages.
    name: Arc<str>,
    sender: http1::SendRequest<SentBody>,
    /// `None` once it was dropped, so that hyper ends the calls that wait.
    machine: Option<Box<http1::Connection<Watched, SentBody>>>,
    arrived: Arc<Arrived>,
    wakes: OwnWakes,
    /// Nothing comes any more, and why, if that was an error.
    ended: bool,
    cause: Option<hyper::Error>,
    /// No further request may be sent, although the connection is open.
    last: bool,
    idle_limit: Option<Duration>,
}

impl BackendConnection {
    pub(super) async fn open(name: Arc<str>, stream: Stream) -> Result<Self, Error> {
        let arrived = Arc::<Arrived>::default();
        let stream = Watched { stream, arrived: arrived.clone() };
        let handshake =
            http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).max_header_size(HEAD_MAX_BYTES).handshake(stream).await;
        let (sender, machine) = handshake.map_err(|error| broken(&name, error))?;
        let machine = Some(Box::new(machine));
        let wakes = OwnWakes::default();
        Ok(Self { name, sender, machine, arrived, wakes, ended: false, cause: None, last: false, idle_limit: None })
    }

    /// Sends a request with a relative URL and `Host`, and waits for the head of its response. Interim responses go to `on_interim`.
    /// The headers that frame the body are made from the body. The head of the response has no `Transfer-Encoding`, and at most one
    /// `Content-Length`, which is a number. After an error the connection cannot be used.
    pub async fn send(
        &mut self,
        request: Request<BackendBody>,
        on_interim: Option<OnInterim>,
    ) -> Result<Response<Incoming>, SendError> {
        let (mut head, body) = request.into_parts();
        let body = SentBody::new(body);
        body.frame(&mut head.headers);
        head.version = Version::HTTP_11;
        let (method, asked_to_upgrade) = (head.method.clone(), head.headers.contains_key(UPGRADE));
        let mut request = Request::from_parts(head, body);
        let before = self.arrived.bytes.load(Relaxed);
        self.arrived.interim.store(0, Relaxed);
        let arrived = self.arrived.clone();
        hyper::ext::on_informational(&mut request, move |response| {
            if arrived.interim.fetch_add(1, Relaxed) < INTERIM_MAX
                && let Some(on_interim) = &on_interim
            {
                on_interim(response.status(), response.headers());
            }
        });
        let sent = self.sent(request).await;
        let wrong = |error| SendError { error, unsent: None, unanswered: false };
        if self.arrived.interim.load(Relaxed) > INTERIM_MAX {
            self.end();
            return Err(wrong(self.invalid("it follows more than 16 interim responses")));
        }
        let mut response = sent.map_err(|mut failed| {
            self.end();
            let unsent = failed.take_message().map(|request| request.map(SentBody::into_body));
            let unanswered = !failed.error().is_user() && self.arrived.bytes.load(Relaxed) == before;
            SendError { error: self.why(failed.into_error()), unsent, unanswered }
        })?;
        if let Err(why) = response_head::check(&mut response, &method, asked_to_upgrade) {
            self.end();
            return Err(wrong(self.invalid(why)));
        }
        if response.status() == StatusCode::SWITCHING_PROTOCOLS && !self.ended {
            self.end();
            return Err(wrong(self.invalid("it changes the protocol before it has read the request")));
        }
        // hyper would send the next request as HTTP/1.0, and a body of unknown length not at all.
        self.last |= response.version() != Version::HTTP_11;
        self.idle_limit = response_head::idle_limit(response.headers());
        Ok(response)
    }

    /// The next frame of the body of the last response: bytes, or trailers. `None` after the last one.
    pub fn poll_frame(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let own = self.wakes.begin(cx);
        let frame = self.frame(body, &mut Context::from_waker(&own));
        self.wakes.end(frame).map(|frame| frame.map(|frame| frame.map_err(|error| self.why(error))))
    }

    /// Whether it can be used for another request: the last response was read to its end, and the server has neither closed it nor sent
    /// anything that nobody asked for.
    pub fn is_reusable(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        let is_usable = !self.last && !self.arrived.is_deaf.load(Relaxed);
        is_usable && !self.ended && self.sender.is_ready()
    }

    /// How long the server keeps it open while no request uses it, where the last response said so.
    pub fn idle_limit(&self) -> Option<Duration> {
        self.idle_limit
    }

    /// The stream, after a 101.
    pub fn into_stream(self) -> Pin<Box<dyn BackendStream>> {
        match self.machine.map(|machine| machine.into_parts()) {
            Some(parts) => Box::pin(Upgraded { read_ahead: parts.read_buf, stream: parts.io.stream }),
            // Only a connection without a 101 comes here.
            None => Box::pin(tokio::io::join(tokio::io::empty(), tokio::io::sink())),
        }
    }

    async fn sent(
        &mut self,
        request: Request<SentBody>,
    ) -> Result<Response<Incoming>, TrySendError<Request<SentBody>>> {
        let mut answer = pin!(self.sender.try_send_request(request));
        std::future::poll_fn(|cx| {
            let own = self.wakes.begin(cx);
            self.drive(&mut Context::from_waker(&own));
            // The rest of a flood is not read.
            let flooded = self.arrived.interim.load(Relaxed) > INTERIM_MAX;
            let mut quiet = Context::from_waker(Waker::noop());
            let mut answered = answer.as_mut().poll(&mut quiet);
            if answered.is_pending() && (self.ended || flooded) {
                self.machine = None;
                answered = answer.as_mut().poll(&mut quiet);
            }
            self.wakes.end(answered)
        })
        .await
    }

    fn frame(&mut self, body: &mut Incoming, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        // Only the connection can make the body ready, so only the connection needs to wake the task.
        let mut quiet = Context::from_waker(Waker::noop());
        let mut frame = Pin::new(&mut *body).poll_frame(&mut quiet);
        if frame.is_pending() {
            self.drive(cx);
            frame = Pin::new(&mut *body).poll_frame(&mut quiet);
        }
        if frame.is_pending() && self.ended {
            self.machine = None;
            frame = Pin::new(body).poll_frame(&mut quiet);
        }
        frame
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        let Some(machine) = self.machine.as_mut().filter(|_| !self.ended) else { return };
        if let Poll::Ready(end) = machine.poll_without_shutdown(cx) {
            (self.ended, self.cause) = (true, end.err());
        }
    }

    /// Closes the connection.
    fn end(&mut self) {
        (self.machine, self.ended) = (None, true);
    }

    fn invalid(&self, why: &'static str) -> Error {
        Error::BadResponse { host: self.name.to_string(), why }
    }

    fn why(&mut self, error: hyper::Error) -> Error {
        let cause = self.cause.take().filter(|_| error.is_canceled() || error.is_closed());
        let error = cause.unwrap_or(error);
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<io::Error>());
        let kind = source.map(io::Error::kind);
        match kind {
            _ if error.is_user() => Error::NotRead { host: self.name.to_string(), source: io::Error::other(error) },
            // hyper tells it apart to servers only.
            _ if error.is_parse() && error.to_string().contains("too large") => {
                self.invalid("its head has more than 64 KiB or more than 100 lines")
            }
            Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => self.invalid("its chunks are not valid"),
            _ => broken(&self.name, error),
        }
    }
}

impl fmt::Debug for BackendConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackendConnection").field("name", &self.name).finish_non_exhaustive()
    }
}
