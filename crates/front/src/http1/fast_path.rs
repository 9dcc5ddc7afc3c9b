//! The fast path: requests that are answered within their turn, such as pages. They are parsed and answered here with
//! much less work than in hyper, because they have no body and need no wait. All other requests go to hyper.

use crate::body::OutgoingBody;
use crate::conditional::sends_body;
use crate::connection::socket::Socket;
use crate::connection::state::ConnectionState;
use crate::date;
use crate::exchange::attempt::{OpenEvent, RequestFacts};
use crate::exchange::context::ConnectionContext;
use crate::exchange::{continued, exchange, method_name, prepared};
use crate::http1::fast_reply::{self, FastReply};
use crate::http1::plain_request::{self, PlainRequest};
use crate::http1::response_head;
use crate::pages::accept_encoding::accepts_gzip;
use crate::pages::browser::is_browser;
use crate::pages::{PageSearch, PreparedPage};
use crate::request::upload::Upload;
use crate::stored::{Confirmation, Confirming, PlainHead, StoredReply};
use http::{Method, Response, header};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use telemetry::{Class, Event, Layer, Millis, Op, Tick, works_at};

/// An exchange that has begun. hyper is given the same bytes, and continues with it instead of beginning another.
pub(crate) type BegunExchange = Pin<Box<dyn Future<Output = Response<OutgoingBody>>>>;

/// What becomes of the bytes that were read.
pub(crate) enum Answer {
    /// The reply to them.
    Reply(FastReply),
    /// They are a request whose answer waits.
    Waiting(WaitingRequest),
    /// The client has disconnected.
    Gone,
    /// hyper reads them.
    Hyper,
}

/// A plain request whose answer waits. Its bytes stay with the socket: hyper is given them if it has to write the reply.
pub(crate) struct WaitingRequest {
    waits: Waits,
    /// How many bytes it has.
    len: usize,
    get: bool,
}

enum Waits {
    /// For the handler.
    Exchange(BegunExchange),
    /// For the confirmation of a stored reply, since then.
    Confirming(Confirmation, OpenEvent, Tick),
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
        let (get, mut search) = (plain.method == Method::GET, PageSearch::All);
        let waits = match self.page(&plain, &mut search) {
            Some(Ok(reply)) => {
                socket.consume(len);
                return Answer::Reply(reply);
            }
            Some(Err(confirming)) => confirming,
            None => match self.begin(&plain, None, search) {
                Some(exchange) => Waits::Exchange(exchange),
                None => return Answer::Hyper,
            },
        };
        let mut waiting = WaitingRequest { waits, len, get };
        match self.poll(&mut waiting, socket, cx) {
            Poll::Ready(answer) => answer,
            Poll::Pending => Answer::Waiting(waiting),
        }
    }

    /// Continues with a request whose answer waits; never ready with [`Answer::Waiting`]. hyper gets the exchange if the reply comes in
    /// parts, or has something that only hyper writes.
    pub(crate) fn poll(&self, waiting: &mut WaitingRequest, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Answer> {
        let WaitingRequest { waits, len, get } = waiting;
        if let Waits::Confirming(confirming, ..) = waits {
            // After a panic the handler answers.
            let reply = catch_unwind(AssertUnwindSafe(|| confirming.as_mut().poll(cx))).unwrap_or(Poll::Ready(None));
            let Poll::Ready(reply) = reply else { return connected(socket, cx, *len) };
            let begun = std::mem::replace(waits, Waits::Exchange(Box::pin(std::future::pending())));
            let Waits::Confirming(_, mut open_event, began) = begun else { return Poll::Ready(Answer::Gone) };
            let now = Tick::now();
            if let Some(reply) = reply {
                socket.consume(*len);
                let reply = self.send_stored(open_event, reply, now, *get, |event, nanos| {
                    let waited = now.since(began);
                    event.add(Op::AppCacheLookup, nanos.saturating_sub(waited));
                    event.add(Op::AppPagesRead, waited);
                });
                return Poll::Ready(Answer::Reply(reply));
            }
            open_event.not_confirmed(began, now);
            let mut lines = plain_request::lines();
            let plain = PlainRequest::read(socket.request(*len), &mut lines, &self.connection.limits);
            let exchange = plain.and_then(|plain| self.begin(&plain, Some(open_event), PageSearch::All));
            let Some(exchange) = exchange else { return Poll::Ready(Answer::Gone) };
            *waits = Waits::Exchange(exchange);
        }
        let Waits::Exchange(exchange) = waits else { return Poll::Ready(Answer::Gone) };
        let Poll::Ready(response) = exchange.as_mut().poll(cx) else {
            if self.connection.state.interims.wait() {
                self.begun.set(Some(std::mem::replace(exchange, Box::pin(std::future::pending()))));
                return Poll::Ready(Answer::Hyper);
            }
            return connected(socket, cx, *len);
        };
        let ends = response.headers().contains_key(header::CONNECTION);
        // Only hyper writes a reason phrase.
        if ends || !response.extensions().is_empty() || !response.body().is_at_once() {
            self.begun.set(Some(Box::pin(std::future::ready(response))));
            return Poll::Ready(Answer::Hyper);
        }
        socket.consume(*len);
        let (parts, mut body) = response.into_parts();
        let len = body.left().filter(|_| *get).and_then(|len| usize::try_from(len).ok());
        let mut head = response_head::begin(parts.status, parts.headers.iter(), len);
        match parts.headers.get(header::DATE) {
            Some(date) => response_head::end(&mut head, date.as_bytes()),
            None => response_head::end(
                &mut head,
                &date::text(self.connection.state.recorder().clock().at_tick(Tick::now())),
            ),
        }
        Poll::Ready(body.whole().map_or(Answer::Gone, |body| Answer::Reply(FastReply::new(head, body))))
    }

    /// Answers from a page, without a future and without a table of headers. A request that depends on more than path,
    /// query and coding goes through the exchange; `search` then holds the pages that are still to be searched.
    fn page(&self, plain: &PlainRequest<'_>, search: &mut PageSearch) -> Option<Result<FastReply, Waits>> {
        let ConnectionContext { handler, limits, proxies, client, state, .. } = &*self.connection;
        if plain.special || plain.hosts != 1 || plain.target.len() > limits.uri {
            return None;
        }
        if state.closing() || proxies.trust(*client) {
            return None;
        }
        let (path, query) = match memchr::memchr(b'?', plain.target.as_bytes()) {
            Some(at) => (&plain.target[..at], Some(&plain.target[at + 1..])),
            None => (plain.target, None),
        };
        let now = self.now();
        let Some(pages) = handler.pages() else { return self.stored(plain, path, now) };
        let (gzip, browser) = (|| accepts_gzip(|| plain.codings()), || is_browser(plain.agent, || plain.accepts()));
        let (mut head, page) = match pages.prepared(path, query, &gzip, &browser, now, fast_reply::head) {
            Ok(page) => page,
            Err(miss) => {
                *search = PageSearch::AccessClass(miss);
                return None;
            }
        };
        works_at(Op::ReplyWrite);
        // The lookup includes parsing the head, which takes no longer than reading the clock.
        let found = Tick::now();
        let (method, agent) = (method_name(&plain.method), plain.agent);
        let facts = RequestFacts { method, protocol: "HTTP/1.1", path, agent, forwarded: None, is_probe: false };
        let open_event = OpenEvent::begin(&self.connection, &facts);
        let (id, body) =
            prepared(&self.connection, open_event, page, found, sends_body(&plain.method), |event, nanos| {
                event.add(Op::PageLookup, nanos);
                event.layer = Layer::Page;
            });
        response_head::own(&mut head, id, &date::text(now));
        Some(Ok(FastReply::new(head, body)))
    }

    /// Answers with a reply that the handler has stored, also without a future and without a table of headers; or has it confirmed.
    fn stored(&self, plain: &PlainRequest<'_>, path: &str, now: Millis) -> Option<Result<FastReply, Waits>> {
        let PlainRequest { method, target, lines, .. } = plain;
        let asked = PlainHead { method, target, tls: self.connection.tls, lines };
        let (stored, confirming) = match self.connection.handler.stored(&asked, now) {
            Some(stored) => (Some(stored), None),
            None => (None, Some(self.connection.handler.confirmed(&asked)?)),
        };
        let found = Tick::now();
        let (method, agent) = (method_name(&plain.method), plain.agent);
        let facts = RequestFacts { method, protocol: "HTTP/1.1", path, agent, forwarded: None, is_probe: false };
        let mut open_event = OpenEvent::begin(&self.connection, &facts);
        if let Some(Confirming { subject, reply }) = confirming {
            open_event.is_about(Class::Apps, subject);
            return Some(Err(Waits::Confirming(reply, open_event, found)));
        }
        let record = |event: &mut Event, nanos| event.add(Op::AppCacheLookup, nanos);
        Some(Ok(self.send_stored(open_event, stored?, found, sends_body(&plain.method), record)))
    }

    /// Answers with a stored reply that was found at `found`.
    fn send_stored(
        &self,
        open_event: OpenEvent,
        stored: StoredReply,
        found: Tick,
        sends_body: bool,
        record: impl FnOnce(&mut Event, u64),
    ) -> FastReply {
        let StoredReply { status, head: kept, age, body, file, layer, subject } = stored;
        let mut head = fast_reply::head(&kept);
        let page = PreparedPage { status, body, file, subject, reason: None };
        let (id, body) = prepared(&self.connection, open_event, page, found, sends_body, |event, nanos| {
            record(event, nanos);
            (event.layer, event.class) = (layer, Some(Class::Apps));
        });
        match age {
            Some(age) => response_head::aged(&mut head, age, id),
            None => response_head::own(&mut head, id, &date::text(self.now())),
        }
        FastReply::new(head, body)
    }

    /// Has the handler begin with a request that no page answers. `open_event`: that of a stored reply which did not hold.
    fn begin(
        &self,
        plain: &PlainRequest<'_>,
        open_event: Option<OpenEvent>,
        search: PageSearch,
    ) -> Option<BegunExchange> {
        let head = plain.parts()?;
        let (connection, upload) = (self.connection.clone(), Upload::none(&self.connection.limits));
        Some(match open_event {
            Some(open_event) => Box::pin(continued(connection, open_event, head, upload, search)),
            None => Box::pin(exchange(connection, head, upload, search)),
        })
    }

    /// When the request arrived.
    fn now(&self) -> Millis {
        let state = &self.connection.state;
        state.recorder().clock().at_tick(state.head_last_byte.get())
    }
}

/// Waits, as long as the client is there.
fn connected(socket: &mut Socket, cx: &mut Context<'_>, len: usize) -> Poll<Answer> {
    if socket.poll_connected(cx, len) { Poll::Pending } else { Poll::Ready(Answer::Gone) }
}
