//! HTTP/1 on one connection, one exchange after the other: plain requests on the fast path, all others through hyper.

pub(crate) mod builder;
pub(crate) mod fast_path;
pub(crate) mod fast_reply;
pub(crate) mod idle;
pub(crate) mod line_ends;
pub(crate) mod plain_request;
pub(crate) mod response_head;

use crate::connection::protocol::{Protocol, ProtocolError};
use crate::connection::socket::Socket;
use crate::exchange::context::ConnectionContext;
use crate::exchange::exchange;
use crate::http1::fast_path::{BegunExchange, FastPath};
use crate::http1::idle::Http1;
use crate::pages::PageSearch;
use crate::request::upload::Upload;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;
use telemetry::Reason;

/// The protocol of an HTTP/1 connection.
pub(crate) fn protocol(builder: &Builder, socket: Socket, context: Rc<ConnectionContext>) -> impl Protocol {
    let begun = Rc::<Cell<Option<BegunExchange>>>::default();
    Http1::new(socket, FastPath::new(context.clone(), begun.clone()), move |socket| {
        let (context, begun) = (context.clone(), begun.clone());
        let service = service_fn(move |request: hyper::Request<_>| {
            let answered = begun.take().unwrap_or_else(|| {
                let (head, incoming) = request.into_parts();
                let upload = Upload::http1(incoming, &context.limits);
                Box::pin(exchange(context.clone(), head, upload, PageSearch::All))
            });
            async move { Ok::<_, Infallible>(answered.await) }
        });
        builder.serve_connection(socket, service)
    })
}

impl From<hyper::Error> for ProtocolError {
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
