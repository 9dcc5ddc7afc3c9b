//! The fast path: requests that are answered within their turn, such as pages. They are parsed and answered here with
//! much less work than in hyper, because they have no body and need no wait. All other requests go to hyper.

use crate::body::OutgoingBody;
use crate::body::chunk::Chunk;
use crate::conditional::sends_body;
use crate::connection::protocol::ProtocolError;
use crate::connection::socket::Socket;
use crate::connection::state::ConnectionState;
use crate::date;
use crate::exchange::attempt::RequestFacts;
use crate::exchange::context::ConnectionContext;
use crate::exchange::{exchange, method_name, prepared};
use crate::http1::plain_request::{self, PlainRequest};
use crate::http1::response_head;
use crate::pages::accept_encoding::accepts_gzip;
use crate::pages::browser::is_browser;
use crate::pages::{PageSearch, PreparedPage};
use crate::reply::DAYLIGHT_EVENT;
use crate::request::upload::Upload;
use crate::stored::{PlainHead, StoredReply};
use bytes::{Buf, Bytes};
use http::{Method, Response, header};
use std::cell::Cell;
use std::io::{self, IoSlice, Write};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use telemetry::{Class, Layer, Millis, Op, Tick};

/// An exchange that has begun. hyper is given the same bytes, and continues with it instead of beginning another.
pub(crate) type BegunExchange = Pin<Box<dyn Future<Output = Response<OutgoingBody>>>>;

/// What becomes of the bytes that were read.
pub(crate) enum Answer {
    /// The reply to them.
    Reply(FastReply),
    /// They are a request whose handler waits.
    Working(WaitingExchange),
    /// The client has disconnected.
    Gone,
    /// hyper reads them.
    Hyper,
}

/// A plain request whose handler waits. Its bytes stay with the socket: hyper is given them if it has to write the reply.
pub(crate) struct WaitingExchange {
    exchange: BegunExchange,
    /// How many bytes it has.
    len: usize,
    get: bool,
}

/// Answers the requests that need nothing of hyper.
pub(crate) struct FastPath {
    connection: Rc<ConnectionContext>,
    /// The exchange that hyper continues with.
    begun: Rc<Cell<Option<BegunExchange>>>,
}

impl FastPath {
    pub(crate) fn new(connection: Rc<ConnectionContext>, begun: Rc<Cell<Option<BegunExchange>>>) -> Self {
        Self { connection, begun }
    }

    /// The state of the connection.
    pub(crate) fn state(&self) -> Rc<ConnectionState> {
        self.connection.state.clone()
    }

    /// Answers the bytes that were read, if they are exactly one plain request.
    pub(crate) fn answer(&self, socket: &mut Socket, cx: &mut Context<'_>) -> Answer {
        let mut lines = plain_request::lines();
        let Some(bytes) = socket.waiting() else { return Answer::Hyper };
        let len = bytes.len();
        let Some(plain) = PlainRequest::read(bytes, &mut lines, &self.connection.limits) else { return Answer::Hyper };
        let mut search = PageSearch::All;
        if let Some(reply) = self.page(&plain, &mut search) {
            socket.consume(len);
            return Answer::Reply(reply);
        }
        let get = plain.method == Method::GET;
        let Some(exchange) = self.begin(&plain, search) else { return Answer::Hyper };
        let mut waiting = WaitingExchange { exchange, len, get };
        match self.poll(&mut waiting, socket, cx) {
            Poll::Ready(answer) => answer,
            Poll::Pending => Answer::Working(waiting),
        }
    }

    /// Continues with a request whose handler waits; never ready with [`Answer::Working`]. hyper gets the exchange if the reply comes in
    /// parts, or has something that only hyper writes.
    pub(crate) fn poll(
        &self,
        waiting: &mut WaitingExchange,
        socket: &mut Socket,
        cx: &mut Context<'_>,
    ) -> Poll<Answer> {
        let Poll::Ready(response) = waiting.exchange.as_mut().poll(cx) else {
            if self.connection.state.interims.wait() {
                let exchange = std::mem::replace(&mut waiting.exchange, Box::pin(std::future::pending()));
                self.begun.set(Some(exchange));
                return Poll::Ready(Answer::Hyper);
            }
            let is_there = socket.poll_connected(cx, waiting.len);
            return if is_there { Poll::Pending } else { Poll::Ready(Answer::Gone) };
        };
        let ends = response.headers().contains_key(header::CONNECTION);
        // Only hyper writes a reason phrase.
        if ends || !response.extensions().is_empty() || !response.body().is_at_once() {
            self.begun.set(Some(Box::pin(std::future::ready(response))));
            return Poll::Ready(Answer::Hyper);
        }
        socket.consume(waiting.len);
        let (parts, body) = response.into_parts();
        let len = body.left().filter(|_| waiting.get).and_then(|len| usize::try_from(len).ok());
        let mut head = response_head::begin(parts.status, parts.headers.iter(), len);
        let date = parts.headers.get(header::DATE).cloned();
        let now = || self.connection.state.recorder().clock().now();
        response_head::end(&mut head, &date.unwrap_or_else(|| date::at(now())));
        Poll::Ready(FastReply::new(head, body).map_or(Answer::Gone, Answer::Reply))
    }

    /// Answers from a page, without a future and without a table of headers. A request that depends on more than path,
    /// query and coding goes through the exchange; `search` then holds the pages that are still to be searched.
    fn page(&self, plain: &PlainRequest<'_>, search: &mut PageSearch) -> Option<FastReply> {
        let ConnectionContext { handler, limits, proxies, client, state, .. } = &*self.connection;
        if plain.special || plain.hosts != 1 || plain.target.len() > limits.uri {
            return None;
        }
        if state.closing() || proxies.trust(*client) {
            return None;
        }
        let (path, query) = match plain.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (plain.target, None),
        };
        let now = self.now();
        let Some(pages) = handler.pages() else { return self.stored(plain, path, now) };
        let (gzip, browser) = (|| accepts_gzip(|| plain.codings()), || is_browser(plain.agent, || plain.accepts()));
        let page = match pages.prepared(path, query, &gzip, &browser, now) {
            Ok(page) => page,
            Err(miss) => {
                *search = PageSearch::AccessClass(miss);
                return None;
            }
        };
        // The lookup includes parsing the head, which takes no longer than reading the clock.
        let found = Tick::now();
        let (method, agent) = (method_name(&plain.method), plain.agent);
        let facts = RequestFacts { method, protocol: "HTTP/1.1", path, agent, forwarded: None };
        let mut head = Vec::with_capacity(page.head.len() + OWN);
        head.extend_from_slice(&page.head);
        let (id, body) = prepared(&self.connection, &facts, page, found, sends_body(&plain.method), |event, nanos| {
            event.add(Op::PageLookup, nanos);
            event.layer = Layer::Page;
        });
        response_head::line(&mut head, &DAYLIGHT_EVENT, &id.digits());
        response_head::end(&mut head, &date::at(now));
        FastReply::new(head, body)
    }

    /// Answers with a reply that the handler has stored, also without a future and without a table of headers.
    fn stored(&self, plain: &PlainRequest<'_>, path: &str, now: Millis) -> Option<FastReply> {
        let PlainRequest { method, target, lines, .. } = plain;
        let asked = PlainHead { method, target, tls: self.connection.tls, lines };
        let StoredReply { status, head: kept, age, body, file, layer, subject } =
            self.connection.handler.stored(&asked, now)?;
        let found = Tick::now();
        let (method, agent) = (method_name(&plain.method), plain.agent);
        let facts = RequestFacts { method, protocol: "HTTP/1.1", path, agent, forwarded: None };
        let mut head = Vec::with_capacity(kept.len() + OWN);
        head.extend_from_slice(&kept);
        write!(head, "age: {age}\r\n").ok()?;
        let page = PreparedPage { status, head: kept, body, file, subject, reason: None };
        let (id, body) = prepared(&self.connection, &facts, page, found, sends_body(&plain.method), |event, nanos| {
            event.add(Op::AppCacheLookup, nanos);
            (event.layer, event.class) = (layer, Some(Class::Apps));
        });
        response_head::line(&mut head, &DAYLIGHT_EVENT, &id.digits());
        head.extend_from_slice(b"\r\n");
        FastReply::new(head, body)
    }

    /// Has the handler begin with a request that no page answers.
    fn begin(&self, plain: &PlainRequest<'_>, search: PageSearch) -> Option<BegunExchange> {
        let head = plain.parts()?;
        let (connection, upload) = (self.connection.clone(), Upload::none(&self.connection.limits));
        Some(Box::pin(exchange(connection, head, upload, search)))
    }

    /// When the request arrived.
    fn now(&self) -> Millis {
        let state = &self.connection.state;
        state.recorder().clock().at_tick(state.head_last_byte.get())
    }
}

/// Capacity for the headers that differ in each reply.
const OWN: usize = 96;

/// A reply that is being written.
pub(crate) struct FastReply {
    head: Bytes,
    /// `None` once it has been written.
    piece: Option<Chunk>,
}

impl FastReply {
    /// `None`: the body is not available at once.
    fn new(head: Vec<u8>, mut body: OutgoingBody) -> Option<Self> {
        Some(Self { head: head.into(), piece: Some(body.whole()?) })
    }

    /// Writes head and body, both in one call if the socket takes them.
    pub(crate) fn poll(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(piece) = &mut self.piece {
            let slices = [IoSlice::new(&self.head), IoSlice::new(piece.chunk())];
            let left = if self.head.is_empty() { &slices[1..] } else { &slices };
            let wrote = ready!(socket.poll_send(cx, left))?;
            if wrote == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_head = wrote.min(self.head.len());
            self.head.advance(of_head);
            piece.advance(wrote - of_head);
            if !self.head.has_remaining() && !piece.has_remaining() {
                self.piece = None;
            }
        }
        socket.poll_flushed(cx)
    }
}

impl From<io::Error> for ProtocolError {
    fn from(error: io::Error) -> Self {
        Self { malformed: None, detail: error.to_string() }
    }
}
