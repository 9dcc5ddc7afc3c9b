//! hyper's machine, while there is something for it to do: its buffers are 16 KiB, and most connections most of the time only
//! wait for what their clients ask next. At rest only the socket is kept.

use crate::connection::{Fault, Machine};
use crate::wire::Wire;
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1::{Connection, Parts};
use hyper::service::HttpService;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A machine that is put together by `make` around a socket, and taken apart again.
pub(crate) struct Resting<S: HttpService<Incoming>, F> {
    make: F,
    state: State<S>,
}

enum State<S: HttpService<Incoming>> {
    Works(Box<Connection<Wire, S>>),
    Rests(Wire),
    /// Between the two.
    None,
}

impl<S: HttpService<Incoming>, F> Resting<S, F> {
    /// At rest, as nothing was asked yet.
    pub(crate) fn new(wire: Wire, make: F) -> Self {
        Self { make, state: State::Rests(wire) }
    }
}

impl<S, B, F> Machine for Resting<S, F>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    F: Fn(Wire) -> Connection<Wire, S>,
{
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        if let State::Rests(wire) = &mut self.state {
            if !ready!(wire.poll_heard(cx)) {
                return Poll::Ready(Ok(()));
            }
            if let State::Rests(wire) = std::mem::replace(&mut self.state, State::None) {
                self.state = State::Works(Box::new((self.make)(wire)));
            }
        }
        match &mut self.state {
            State::Works(machine) => Pin::new(machine).poll(cx).map_err(Fault::from),
            State::Rests(_) | State::None => Poll::Pending,
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
            self.state = State::Rests(io);
        }
    }
}
