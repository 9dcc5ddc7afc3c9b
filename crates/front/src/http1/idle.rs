//! hyper's machine, from the first byte of a request that needs it until its reply has left. Between requests only the socket is kept:
//! the machine's buffers are 16 KiB, and what can be answered directly costs less than half of what it costs through the machine.

use crate::connection::protocol::{Protocol, ProtocolError};
use crate::connection::socket::Socket;
use crate::handler::Handler;
use crate::http1::fast_path::{FastPath, FastReply};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1::{Connection, Parts};
use hyper::service::HttpService;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A machine that is put together by `make` around a socket, and taken apart again.
pub(crate) struct Http1<S: HttpService<Incoming>, H, F> {
    fast_path: FastPath<H>,
    make: F,
    state: State<S>,
}

enum State<S: HttpService<Incoming>> {
    Busy(Box<Connection<Socket, S>>),
    /// Perhaps with a reply that was made without it.
    Idle(Socket, Option<FastReply>),
    /// Between the two.
    Switching,
}

impl<S: HttpService<Incoming>, H: Handler, F> Http1<S, H, F> {
    /// At rest, as nothing was asked yet.
    pub(crate) fn new(socket: Socket, fast_path: FastPath<H>, make: F) -> Self {
        Self { fast_path, make, state: State::Idle(socket, None) }
    }

    /// Answers what it can. Ready when the connection has ended, or the machine is needed.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<Next, ProtocolError>> {
        let State::Idle(socket, reply) = &mut self.state else { return Poll::Ready(Ok(Next::Protocol)) };
        loop {
            if let Some(leaving) = reply {
                ready!(leaving.poll(socket, cx))?;
                *reply = None;
            }
            if !ready!(socket.poll_heard(cx)) {
                return Poll::Ready(Ok(Next::End));
            }
            *reply = self.fast_path.answer(socket, cx);
            if reply.is_none() {
                return Poll::Ready(Ok(Next::Protocol));
            }
        }
    }
}

/// What comes after a rest.
enum Next {
    Protocol,
    End,
}

impl<S, B, H, F> Protocol for Http1<S, H, F>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    H: Handler,
    F: Fn(Socket) -> Connection<Socket, S>,
{
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ProtocolError>> {
        if let Next::End = ready!(self.poll_idle(cx))? {
            return Poll::Ready(Ok(()));
        }
        self.state = match std::mem::replace(&mut self.state, State::Switching) {
            State::Idle(socket, _) => State::Busy(Box::new((self.make)(socket))),
            state => state,
        };
        match &mut self.state {
            State::Busy(machine) => Pin::new(machine).poll(cx).map_err(ProtocolError::from),
            State::Idle(..) | State::Switching => Poll::Pending,
        }
    }

    fn may_go_idle(&self) -> bool {
        matches!(self.state, State::Busy(_))
    }

    /// Only while nothing is under way, and all that was written has left.
    fn go_idle(&mut self) {
        if let State::Busy(machine) = std::mem::replace(&mut self.state, State::Switching) {
            let Parts { mut io, read_buf, .. } = machine.into_parts();
            io.take_back(&read_buf);
            self.state = State::Idle(io, None);
        }
    }
}
