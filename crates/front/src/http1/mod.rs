//! HTTP/1 on one connection, one exchange after the other: plain ones here, all others by hyper's machine.

pub(crate) mod fast_path;
pub(crate) mod idle;
pub(crate) mod line_ends;
pub(crate) mod plain_request;
pub(crate) mod response_head;

use crate::connection::socket::Wire;
use crate::connection::{Fault, Machine};
use crate::exchange::{Connection, Handler, exchange};
use crate::http1::fast_path::{Begun, Direct};
use crate::http1::idle::Resting;
use crate::limits::Limits;
use crate::request::Upload;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;
use telemetry::Reason;

/// hyper takes no smaller one.
const SMALLEST_BUFFER: usize = 8192;

/// The header lines that hyper takes when it is told nothing.
const HYPERS_HEADERS: usize = 100;

pub(crate) fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new();
    if limits.headers != HYPERS_HEADERS {
        // Told a number, hyper clears tables of that size for each head, which costs more than a page's lookup.
        builder.max_headers(limits.headers);
    }
    builder
        .max_header_size(limits.head)
        // Also what hyper queues of a body before it insists on a flush: one piece, where its default takes several.
        .max_buf_size(limits.head.max(SMALLEST_BUFFER))
        // hyper's own timer would start anew for each head and count idle time with it; ours tells them apart.
        .header_read_timeout(None);
    builder
}

/// What serves a connection until either side ends it.
pub(crate) fn machine<H: Handler>(builder: &Builder, wire: Wire, state: Rc<Connection<H>>) -> impl Machine {
    let begun = Rc::<Cell<Option<Begun>>>::default();
    Resting::new(wire, Direct::new(state.clone(), begun.clone()), move |wire| {
        let (state, begun) = (state.clone(), begun.clone());
        let service = service_fn(move |request: hyper::Request<_>| {
            let answered = begun.take().unwrap_or_else(|| {
                let (head, incoming) = request.into_parts();
                let upload = Upload::wire(incoming, &state.limits);
                Box::pin(exchange(state.clone(), head, upload, false))
            });
            async move { Ok::<_, Infallible>(answered.await) }
        });
        builder.serve_connection(wire, service)
    })
}

impl From<hyper::Error> for Fault {
    fn from(error: hyper::Error) -> Self {
        let malformed = if error.is_parse_too_large() {
            Some((431, Reason::TooLarge))
        } else if error.is_parse() {
            Some((400, Reason::InputInvalid))
        } else {
            None
        };
        Self { malformed, detail: error.to_string() }
    }
}
