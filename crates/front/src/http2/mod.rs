//! HTTP/2 on one connection: each request is an exchange of its own, and replies are sent in the order in which they
//! are ready.
//!
//! A request that is answered within its turn (from a page, or with a refusal) needs no task and no timer. A request
//! that outlasts its turn takes a slot, as a connection does. So a client has no more requests in progress on streams
//! than it could have on connections.

mod flood;
mod frame_socket;
mod send;

use crate::body::chunk::Chunk;
use crate::connection::protocol::{Protocol, ProtocolError};
use crate::connection::socket::Socket;
use crate::connection::state::ConnectionState;
use crate::connection::stream_slots::{StreamSlots, why};
use crate::connection::without_request::turn_away;
use crate::event_loop::timed;
use crate::exchange::context::ConnectionContext;
use crate::exchange::exchange;
use crate::limits::Limits;
use crate::listen::core_context::CoreContext;
use crate::pages::PageSearch;
use crate::request::interim::InterimQueue;
use crate::request::upload::Upload;
use frame_socket::FrameSocket;
use h2::server::{Builder, Handshake, SendResponse};
use h2::{Reason as Code, RecvStream};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use telemetry::Reason;
use tokio::task::JoinSet;

/// Streams that may be refused, or reset for errors of the client, before the connection is closed.
const FORBEARANCE: usize = 200;

/// A connection of HTTP/2.
pub(crate) struct Http2 {
    stage: Stage,
    socket: FrameSocket,
    core: Rc<CoreContext>,
    context: Rc<ConnectionContext>,
    state: Rc<ConnectionState>,
    /// Exchanges and replies that outlast their turn. They end with the connection.
    tasks: JoinSet<()>,
    slots: Rc<StreamSlots>,
    /// The client was notified that the connection ends (GOAWAY).
    closing_sent: bool,
}

enum Stage {
    Handshaking(Box<Handshake<FrameSocket, Chunk>>),
    Open(Box<h2::server::Connection<FrameSocket, Chunk>>),
}

fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
        .initial_window_size(limits.stream_window)
        .initial_connection_window_size(limits.connection_window)
        .max_local_error_reset_streams(Some(FORBEARANCE))
        .max_send_buffer_size(send::SEND_BUFFER);
    builder
}

impl Http2 {
    pub(crate) fn new(
        core: &Rc<CoreContext>,
        socket: Socket,
        context: Rc<ConnectionContext>,
        state: &Rc<ConnectionState>,
    ) -> Self {
        let socket = FrameSocket::new(socket, state.clone());
        let handshake = builder(&core.limits).handshake(socket.clone());
        Self {
            stage: Stage::Handshaking(Box::new(handshake)),
            socket,
            core: core.clone(),
            slots: Rc::new(StreamSlots::new(core.clone(), context.client)),
            context,
            state: state.clone(),
            tasks: JoinSet::new(),
            closing_sent: false,
        }
    }
}

impl Protocol for Http2 {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ProtocolError>> {
        let ended = self.work(cx);
        let sent = self.socket.poll_send(cx);
        if ended.is_pending() {
            match sent {
                Poll::Ready(Ok(())) => self.state.all_written(),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                Poll::Pending => {}
            }
        }
        ended
    }
}

impl Http2 {
    /// Takes incoming requests, and lets h2 write.
    fn work(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ProtocolError>> {
        if let Stage::Handshaking(handshake) = &mut self.stage {
            let connection = ready!(Pin::new(handshake.as_mut()).poll(cx)).map_err(ProtocolError::from)?;
            self.stage = Stage::Open(Box::new(connection));
        }
        while let Poll::Ready(Some(_)) = self.tasks.poll_join_next(cx) {}
        loop {
            let Stage::Open(machine) = &mut self.stage else { return Poll::Pending };
            if self.state.closing() && !self.closing_sent {
                self.closing_sent = true;
                // The client completes its open requests and sends no new ones. Accepted requests are answered (RFC
                // 9113, 6.8).
                machine.graceful_shutdown();
            }
            match machine.poll_accept(cx) {
                Poll::Ready(Some(Ok((request, respond)))) => self.begin(request, respond, cx),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error.into())),
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Pending if self.state.flooded.get() => {
                    machine.abrupt_shutdown(Code::ENHANCE_YOUR_CALM);
                    // The client may read this; nothing waits for it.
                    let _ = machine.poll_closed(cx);
                    return Poll::Ready(Err(ProtocolError::flood()));
                }
                Poll::Pending => break,
            }
        }
        Poll::Pending
    }

    fn begin(&mut self, request: Request<RecvStream>, mut respond: SendResponse<Chunk>, cx: &mut Context<'_>) {
        let (mut head, body) = request.into_parts();
        add_host(&mut head.headers, head.uri.authority());
        let ended = body.is_end_stream();
        let may_be_refused_later = ended && matches!(head.method, Method::GET | Method::HEAD);
        let slot = match (!may_be_refused_later).then(|| self.slots.take()).transpose() {
            Ok(slot) => slot,
            Err(full) => {
                // No work was done for the request, so the client may send it again (RFC 9113, 8.7).
                respond.send_reset(Code::REFUSED_STREAM);
                return turn_away(&self.core.recorder, self.context.client, why(full));
            }
        };
        let expects = head.headers.contains_key(header::EXPECT);
        let upload = Upload::http2(body, &head.headers, &self.core.limits);
        let mut requested = upload.requested().filter(|_| expects);
        let mut answer = Box::pin(exchange(self.context.clone(), head, upload, PageSearch::All));
        let (slots, state) = (self.slots.clone(), self.state.clone());
        match answer.as_mut().poll(cx) {
            Poll::Ready(response) => {
                if let Some(rest) = send::send(response, respond, slot, &slots, &state) {
                    self.tasks.spawn_local(timed(move || rest));
                }
            }
            Poll::Pending => {
                let interims = state.interims.take();
                let slot = match slot.map_or_else(|| slots.take(), Ok) {
                    Ok(slot) => slot,
                    Err(full) => {
                        state.refuse(why(full));
                        return respond.send_reset(Code::REFUSED_STREAM);
                    }
                };
                self.tasks.spawn_local(timed(move || async move {
                    let answered = poll_fn(|cx| match answer.as_mut().poll(cx) {
                        Poll::Ready(response) => Poll::Ready(Some(response)),
                        Poll::Pending => {
                            if requested.take_if(|requested| requested.load(Relaxed)).is_some() {
                                send_continue(&mut respond);
                            }
                            if let Some(queue) = &interims {
                                send_interims(queue, &mut respond);
                            }
                            // A client that resets the stream no longer wants the reply, so the exchange is dropped at
                            // its current await.
                            respond.poll_reset(cx).map(|_| None)
                        }
                    });
                    if let Some(response) = answered.await
                        && let Some(rest) = send::send(response, respond, Some(slot), &slots, &state)
                    {
                        rest.await;
                    }
                }));
            }
        }
    }
}

/// Sends a 100 to a client that waits for it before it sends the body (RFC 9110, 10.1.1). The handler requests the body
/// only after it has checked the head.
fn send_continue(respond: &mut SendResponse<Chunk>) {
    let mut send_continue = Response::new(());
    *send_continue.status_mut() = StatusCode::CONTINUE;
    // Fails if the client has reset the stream, which is handled elsewhere.
    let _ = respond.send_informational(send_continue);
}

/// Sends the interim responses that wait. One that HTTP/2 forbids is left out.
fn send_interims(queue: &InterimQueue, respond: &mut SendResponse<Chunk>) {
    while let Some((status, headers)) = queue.next() {
        let mut interim = Response::new(());
        (*interim.status_mut(), *interim.headers_mut()) = (status, headers);
        let _ = respond.send_informational(interim);
    }
    queue.written();
}

/// Adds the `Host` header for `:authority`, for code that reads headers.
fn add_host(headers: &mut HeaderMap, authority: Option<&Authority>) {
    if let Some(authority) = authority
        && !headers.contains_key(header::HOST)
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        headers.insert(header::HOST, host);
    }
}

impl From<h2::Error> for ProtocolError {
    fn from(error: h2::Error) -> Self {
        // An error that h2 raised itself. Otherwise the client disconnected, or sent a GOAWAY.
        let ours = error.reason().filter(|_| error.is_library());
        let malformed = ours.map(|code| match code {
            Code::ENHANCE_YOUR_CALM => (0, Reason::Flooded),
            _ => (0, Reason::InputInvalid),
        });
        Self { malformed, detail: error.to_string() }
    }
}
