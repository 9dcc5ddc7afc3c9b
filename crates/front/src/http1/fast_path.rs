//! Requests that are answered in their turn, as pages are: read and answered here, in a part of the steps that hyper's machine
//! takes, as there is no body to come and nothing to wait for. Whatever is not so plain is left to that machine.

use crate::body::Sending;
use crate::body::chunk::Piece;
use crate::connection::protocol::Fault;
use crate::connection::socket::Wire;
use crate::date;
use crate::exchange::attempt::Asking;
use crate::exchange::context::Connection;
use crate::exchange::{exchange, prepared};
use crate::handler::Handler;
use crate::http1::plain_request::{self, Plain};
use crate::http1::response_head;
use crate::pages::accept_encoding::accepts_gzip;
use crate::reply::DAYLIGHT_EVENT;
use crate::request::upload::Upload;
use bytes::{Buf, Bytes};
use http::{Method, Response, header};
use hyper::rt::Write;
use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use telemetry::{Millis, Tick};

/// An exchange that has begun: hyper is given the same bytes, and finds it where it would begin another.
pub(crate) type Begun = Pin<Box<dyn Future<Output = Response<Sending>>>>;

/// What answers at once what can be answered so.
pub(crate) struct Direct<H> {
    connection: Rc<Connection<H>>,
    /// What hyper is to go on with.
    begun: Rc<Cell<Option<Begun>>>,
}

impl<H: Handler> Direct<H> {
    pub(crate) fn new(connection: Rc<Connection<H>>, begun: Rc<Cell<Option<Begun>>>) -> Self {
        Self { connection, begun }
    }

    /// The reply to what was read, if that is a plain request with nothing behind it and the reply is at hand.
    pub(crate) fn answer(&self, wire: &mut Wire, cx: &mut Context<'_>) -> Option<Leaving> {
        let mut lines = plain_request::lines();
        let plain = Plain::read(wire.look()?, &mut lines, &self.connection.limits)?;
        let mut looked = false;
        let leaving = self.page(&plain, &mut looked).or_else(|| self.exchange(&plain, looked, cx))?;
        wire.taken();
        Some(leaving)
    }

    /// The page that is asked for, with neither a future nor a table of headers. What depends on more than path, query and
    /// coding goes the whole way, and is not `looked` for.
    fn page(&self, plain: &Plain<'_>, looked: &mut bool) -> Option<Leaving> {
        let Connection { handler, limits, proxies, client, ledger, .. } = &*self.connection;
        if plain.conditional || plain.hosts != 1 || plain.target.len() > limits.uri {
            return None;
        }
        if ledger.parting() || proxies.trust(*client) {
            return None;
        }
        let (path, query) = match plain.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (plain.target, None),
        };
        let now = self.now();
        *looked = true;
        let page = handler.prepared(path, query, &|| accepts_gzip(|| plain.codings()), now)?;
        // With the head, which takes no longer than a reading of the clock.
        let nanos = Tick::now().since(ledger.head_until.get());
        let method = if plain.method == Method::HEAD { "HEAD" } else { "GET" };
        let agent = plain.agent;
        let asking = Asking { method, protocol: "HTTP/1.1", path, agent, forwarded: None };
        let mut head = Vec::with_capacity(page.head.len() + OWN);
        head.extend_from_slice(&page.head);
        let (id, body) = prepared(&self.connection, &asking, page, nanos);
        response_head::line(&mut head, &DAYLIGHT_EVENT, &id.digits());
        response_head::end(&mut head, &date::at(now));
        Leaving::new(head, body)
    }

    /// Whatever the handler answers at once from memory. What it begins and does not end so is kept for hyper.
    fn exchange(&self, plain: &Plain<'_>, looked: bool, cx: &mut Context<'_>) -> Option<Leaving> {
        let head = plain.parts()?;
        let get = head.method == Method::GET;
        let (connection, upload) = (self.connection.clone(), Upload::none(&self.connection.limits));
        let mut exchange = Box::pin(exchange(connection, head, upload, looked));
        let Poll::Ready(response) = exchange.as_mut().poll(cx) else {
            self.begun.set(Some(exchange));
            return None;
        };
        let ends = response.headers().contains_key(header::CONNECTION);
        // A status line of its own is hyper's to write.
        if ends || !response.extensions().is_empty() || !response.body().is_whole() {
            self.begun.set(Some(Box::pin(std::future::ready(response))));
            return None;
        }
        let (parts, body) = response.into_parts();
        let len = body.left().filter(|_| get).and_then(|len| usize::try_from(len).ok());
        let mut head = response_head::begin(parts.status, parts.headers.iter(), len);
        let date = parts.headers.get(header::DATE).cloned();
        response_head::end(&mut head, &date.unwrap_or_else(|| date::at(self.now())));
        Leaving::new(head, body)
    }

    /// The time of day when the request came.
    fn now(&self) -> Millis {
        let ledger = &self.connection.ledger;
        ledger.recorder().clock().at_tick(ledger.head_until.get())
    }
}

/// Room for the headers that each reply has of its own.
const OWN: usize = 96;

/// A reply on its way into the socket.
pub(crate) struct Leaving {
    head: Bytes,
    /// Until it has gone.
    piece: Option<Piece>,
}

impl Leaving {
    /// `None`: the body is not at hand.
    fn new(head: Vec<u8>, mut body: Sending) -> Option<Self> {
        Some(Self { head: head.into(), piece: Some(body.whole()?) })
    }

    /// Writes it all, head and body at once.
    pub(crate) fn poll(&mut self, wire: &mut Wire, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(piece) = &mut self.piece {
            let slices = [IoSlice::new(&self.head), IoSlice::new(piece.chunk())];
            let left = if self.head.is_empty() { &slices[1..] } else { &slices };
            let wrote = ready!(Pin::new(&mut *wire).poll_write_vectored(cx, left))?;
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
        Pin::new(wire).poll_flush(cx)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self { malformed: None, detail: error.to_string() }
    }
}
