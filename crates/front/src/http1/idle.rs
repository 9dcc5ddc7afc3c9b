//! HTTP/1 with or without hyper. hyper's connection exists from the first byte of a request that needs it until its
//! reply is sent. Between requests only the socket is kept, because hyper's buffers take 16 KiB, and a request on the
//! fast path costs less than half of one through hyper.

use crate::connection::protocol::{Protocol, ProtocolError};
use crate::connection::running_tunnel::RunningTunnel;
use crate::connection::socket::Socket;
use crate::http1::fast_path::{Answer, FastPath, WaitingRequest};
use crate::http1::fast_reply::FastReply;
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1::{Connection, Parts};
use hyper::service::HttpService;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A connection of HTTP/1. `make` wraps the socket into hyper's connection, which is taken apart again when it is
/// idle.
pub(crate) struct Http1<S: HttpService<Incoming>, F> {
    fast_path: FastPath,
    make: F,
    state: State<S>,
}

enum State<S: HttpService<Incoming>> {
    Busy(Box<Connection<Socket, S>>),
    /// Without hyper.
    Idle(Socket, Step),
    /// After a 101.
    Tunnel(RunningTunnel),
    /// In transition between the other states.
    Switching,
}

/// What a connection does without hyper.
enum Step {
    /// It waits for a request.
    Free,
    /// A request waits for its answer.
    Waiting(WaitingRequest),
    /// A reply is being written.
    Reply(FastReply),
}

impl<S: HttpService<Incoming>, F> Http1<S, F> {
    /// Starts idle, because there was no request yet.
    pub(crate) fn new(socket: Socket, fast_path: FastPath, make: F) -> Self {
        Self { fast_path, make, state: State::Idle(socket, Step::Free) }
    }

    /// Answers on the fast path. Ready when the connection has ended, or hyper is needed.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<Next, ProtocolError>> {
        let State::Idle(socket, step) = &mut self.state else { return Poll::Ready(Ok(Next::Hyper)) };
        loop {
            let answer = match step {
                Step::Free => {
                    if !ready!(socket.poll_for_bytes(cx)) {
                        return Poll::Ready(Ok(Next::End));
                    }
                    self.fast_path.answer(socket, cx)
                }
                Step::Waiting(waiting) => ready!(self.fast_path.poll(waiting, socket, cx)),
                Step::Reply(reply) => {
                    ready!(reply.poll(socket, cx))?;
                    *step = Step::Free;
                    continue;
                }
            };
            match answer {
                Answer::Reply(reply) => *step = Step::Reply(reply),
                Answer::Waiting(waiting) => {
                    *step = Step::Waiting(waiting);
                    return Poll::Pending;
                }
                Answer::Hyper => return Poll::Ready(Ok(Next::Hyper)),
                Answer::Gone => return Poll::Ready(Ok(Next::End)),
            }
        }
    }
}

impl<S, B, F> Http1<S, F>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    /// hyper has ended. Returns whether it ended with a 101: the socket then belongs to a tunnel.
    fn begin_tunnel(&mut self) -> bool {
        let state = self.fast_path.state();
        let Some(tunnel) = state.take_tunnel() else { return false };
        let State::Busy(hyper) = std::mem::replace(&mut self.state, State::Switching) else { return false };
        let Parts { mut io, read_buf, .. } = hyper.into_parts();
        if io.has_replaced() {
            // The client sent bytes before it had the 101, and they were checked as a head.
            return false;
        }
        io.take_back(&read_buf);
        self.state = State::Tunnel(RunningTunnel::begin(tunnel, io, state));
        true
    }
}

/// The next state after an idle time.
enum Next {
    Hyper,
    End,
}

impl<S, B, F> Protocol for Http1<S, F>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
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
        loop {
            match &mut self.state {
                State::Busy(hyper) => {
                    ready!(Pin::new(hyper).poll(cx)).map_err(ProtocolError::from)?;
                    if !self.begin_tunnel() {
                        return Poll::Ready(Ok(()));
                    }
                }
                State::Tunnel(tunnel) => return tunnel.poll(cx).map(Ok),
                State::Idle(..) | State::Switching => return Poll::Pending,
            }
        }
    }

    fn may_go_idle(&self) -> bool {
        matches!(self.state, State::Busy(_))
    }

    /// Called only while no request is in progress and every written byte is sent.
    fn go_idle(&mut self) {
        if let State::Busy(hyper) = std::mem::replace(&mut self.state, State::Switching) {
            let Parts { mut io, read_buf, .. } = hyper.into_parts();
            io.take_back(&read_buf);
            self.state = State::Idle(io, Step::Free);
        }
    }
}
