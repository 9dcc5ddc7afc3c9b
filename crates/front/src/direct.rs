//! Requests that are answered in their turn, as pages are: read and answered here, in a third of the steps that hyper's machine
//! takes, as there is no body to come and nothing to wait for. Whatever is not so plain is left to that machine.

use crate::Limits;
use crate::body::{Piece, Sending};
use crate::connection::Fault;
use crate::date;
use crate::exchange::{Connection, Handler, exchange};
use crate::request::Upload;
use crate::wire::Wire;
use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use httparse::{Header, Status};
use hyper::rt::Write;
use std::cell::Cell;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use telemetry::Millis;

/// Header lines of a plain request, at most.
const LINES: usize = 48;
/// Room for the head of a reply.
const HEAD: usize = 640;

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
        let limits = &self.connection.limits;
        let head = read(wire.look(), limits)?;
        let get = head.method == Method::GET;
        let mut exchange = Box::pin(exchange(self.connection.clone(), head, Upload::none(limits)));
        let Poll::Ready(mut response) = exchange.as_mut().poll(cx) else {
            self.begun.set(Some(exchange));
            return None;
        };
        let ends = response.headers().contains_key(header::CONNECTION);
        let Some(piece) = (!ends).then(|| response.body_mut().whole()).flatten() else {
            self.begun.set(Some(Box::pin(std::future::ready(response))));
            return None;
        };
        wire.taken();
        let ledger = &self.connection.ledger;
        let head = written(
            &response,
            get.then(|| piece.remaining()),
            ledger.recorder().clock().at_tick(ledger.head_until.get()),
        );
        Some(Leaving { head: head.into(), piece: Some(piece) })
    }
}

/// The head of a request that has no body, leaves the connection as it is, and ends where `bytes` end. `None`: it is something else, or
/// broken.
fn read(bytes: &[u8], limits: &Limits) -> Option<Parts> {
    if bytes.len() > limits.head || !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let mut lines = [const { MaybeUninit::<Header<'_>>::uninit() }; LINES];
    let mut parsed = httparse::Request::new(&mut []);
    let Ok(Status::Complete(len)) = parsed.parse_with_uninit_headers(bytes, &mut lines) else { return None };
    let method = match parsed.method? {
        "GET" => Method::GET,
        "HEAD" => Method::HEAD,
        _ => return None,
    };
    let path = parsed.path.filter(|path| path.starts_with('/'))?;
    if len != bytes.len() || parsed.version != Some(1) || parsed.headers.len() > limits.headers {
        return None;
    }
    let (mut head, ()) = Request::new(()).into_parts();
    let all = Bytes::copy_from_slice(bytes);
    head.method = method;
    head.uri = Uri::from_maybe_shared(all.slice(place(bytes, path.as_bytes())?)).ok()?;
    head.headers.reserve(parsed.headers.len());
    for line in parsed.headers.iter() {
        let name = HeaderName::from_bytes(line.name.as_bytes()).ok()?;
        if !leaves_it(&name, line.value) {
            return None;
        }
        let value = match line.value {
            b"" => HeaderValue::from_static(""),
            value => HeaderValue::from_maybe_shared(all.slice(place(bytes, value)?)).ok()?,
        };
        head.headers.append(name, value);
    }
    Some(head)
}

/// Whether a header says nothing of a body, of the connection, or of another protocol.
fn leaves_it(name: &HeaderName, value: &[u8]) -> bool {
    match *name {
        header::CONNECTION => value.eq_ignore_ascii_case(b"keep-alive"),
        header::CONTENT_LENGTH | header::TRANSFER_ENCODING | header::EXPECT | header::UPGRADE => false,
        _ => true,
    }
}

/// Where `part` lies in `whole`.
fn place(whole: &[u8], part: &[u8]) -> Option<std::ops::Range<usize>> {
    let from = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    (from + part.len() <= whole.len()).then(|| from..from + part.len())
}

/// A reply's head, as hyper writes it. `body`: its length, where the request was for it.
fn written(response: &Response<Sending>, body: Option<usize>, now: Millis) -> Vec<u8> {
    let (status, headers) = (response.status(), response.headers());
    let mut head = Vec::with_capacity(HEAD);
    head.extend_from_slice(b"HTTP/1.1 ");
    head.extend_from_slice(status.as_str().as_bytes());
    head.push(b' ');
    head.extend_from_slice(status.canonical_reason().unwrap_or("<none>").as_bytes());
    head.extend_from_slice(b"\r\n");
    for (name, value) in headers {
        line(&mut head, name, value.as_bytes());
    }
    let bare = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if let Some(len) = body.filter(|_| !bare && !headers.contains_key(header::CONTENT_LENGTH)) {
        line(&mut head, &header::CONTENT_LENGTH, HeaderValue::from(len).as_bytes());
    }
    if !headers.contains_key(header::DATE) {
        line(&mut head, &header::DATE, date::at(now).as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}

fn line(head: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
        head.extend_from_slice(part);
    }
}

/// A reply on its way into the socket.
pub(crate) struct Leaving {
    head: Bytes,
    /// Until it has gone.
    piece: Option<Piece>,
}

impl Leaving {
    /// Writes it all, head and body at once.
    pub(crate) fn poll(&mut self, wire: &mut Wire, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(piece) = &mut self.piece {
            let slices = [IoSlice::new(&self.head), IoSlice::new(piece.chunk())];
            let wrote = ready!(Pin::new(&mut *wire).poll_write_vectored(cx, &slices))?;
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
