//! hyper's machine, from the first byte of a request that needs it until its reply has left. Between requests only the socket is kept:
//! the machine's buffers are 16 KiB, and what can be answered directly costs less than half of what it costs through the machine.

use crate::connection::protocol::{Fault, Machine};
use crate::connection::socket::Wire;
use crate::handler::Handler;
use crate::http1::fast_path::{Direct, Leaving};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1::{Connection, Parts};
use hyper::service::HttpService;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A machine that is put together by `make` around a socket, and taken apart again.
pub(crate) struct Resting<S: HttpService<Incoming>, H, F> {
    direct: Direct<H>,
    make: F,
    state: State<S>,
}

enum State<S: HttpService<Incoming>> {
    Works(Box<Connection<Wire, S>>),
    /// Perhaps with a reply that was made without it.
    Rests(Wire, Option<Leaving>),
    /// Between the two.
    None,
}

impl<S: HttpService<Incoming>, H: Handler, F> Resting<S, H, F> {
    /// At rest, as nothing was asked yet.
    pub(crate) fn new(wire: Wire, direct: Direct<H>, make: F) -> Self {
        Self { direct, make, state: State::Rests(wire, None) }
    }

    /// Answers what it can. Ready when the connection has ended, or the machine is needed.
    fn poll_at_rest(&mut self, cx: &mut Context<'_>) -> Poll<Result<Next, Fault>> {
        let State::Rests(wire, leaving) = &mut self.state else { return Poll::Ready(Ok(Next::Machine)) };
        loop {
            if let Some(reply) = leaving {
                ready!(reply.poll(wire, cx))?;
                *leaving = None;
            }
            if !ready!(wire.poll_heard(cx)) {
                return Poll::Ready(Ok(Next::End));
            }
            *leaving = self.direct.answer(wire, cx);
            if leaving.is_none() {
                return Poll::Ready(Ok(Next::Machine));
            }
        }
    }
}

/// What comes after a rest.
enum Next {
    Machine,
    End,
}

impl<S, B, H, F> Machine for Resting<S, H, F>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    H: Handler,
    F: Fn(Wire) -> Connection<Wire, S>,
{
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        if let Next::End = ready!(self.poll_at_rest(cx))? {
            return Poll::Ready(Ok(()));
        }
        self.state = match std::mem::replace(&mut self.state, State::None) {
            State::Rests(wire, _) => State::Works(Box::new((self.make)(wire))),
            state => state,
        };
        match &mut self.state {
            State::Works(machine) => Pin::new(machine).poll(cx).map_err(Fault::from),
            State::Rests(..) | State::None => Poll::Pending,
        }
    }

    fn may_rest(&self) -> bool {
        matches!(self.state, State::Works(_))
    }

    /// Only while nothing is under way, and all that was written has left.
    fn rest(&mut self) {
        if let State::Works(machine) = std::mem::replace(&mut self.state, State::None) {
            let Parts { mut io, read_buf, .. } = machine.into_parts();
            io.take_back(&read_buf);
            self.state = State::Rests(io, None);
        }
    }
}
