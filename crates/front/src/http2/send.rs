//! Sends a reply on its stream: at once if the client's windows allow it, else chunk by chunk.

use crate::body::OutgoingBody;
use crate::body::chunk::Chunk;
use crate::body::delivery::Delivery;
use crate::conditional::is_bodiless;
use crate::connection::reply_stream::ReplyStream;
use crate::connection::state::ConnectionState;
use crate::connection::stream_slots::{StreamSlot, StreamSlots, why};
use crate::date;
use h2::server::SendResponse;
use h2::{Reason as Code, SendStream};
use http::response::Parts;
use http::{HeaderMap, Response, header};
use http_body::Body as _;
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, ready};
use telemetry::Millis;

/// A reply takes a slot of its own if more than this many bytes of it wait for the client's windows.
pub(super) const SEND_BUFFER: usize = 1 << 20;

/// Sends as much as possible at once. Returns a future for the rest.
pub(super) fn send(
    response: Response<OutgoingBody>,
    mut respond: SendResponse<Chunk>,
    slot: Option<StreamSlot>,
    slots: &StreamSlots,
    state: &Rc<ConnectionState>,
) -> Option<impl Future<Output = ()> + use<>> {
    let (mut head, mut body) = response.into_parts();
    let (delivery, len) = (body.delivery().clone(), body.left());
    complete(&mut head, len, state.recorder().clock().now());
    let Ok(mut stream) = respond.send_response(Response::from_parts(head, ()), len == Some(0)) else {
        // The client has reset the stream.
        state.abort_reply(&delivery, None);
        return None;
    };
    if len == Some(0) {
        delivery.hold_head();
        return None;
    }
    let whole = body.whole();
    let room = len.and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX);
    stream.reserve_capacity(room.min(SEND_BUFFER));
    if whole.is_some() && stream.capacity() >= room && !state.stalled() {
        // Only the socket can delay it now, and the deadlines of the connection watch that.
        let _ = whole.map(|piece| stream.send_data(piece, true));
        return None;
    }
    let slot = match slot.map_or_else(|| slots.take(), Ok) {
        Ok(slot) => slot,
        Err(full) => {
            stream.send_reset(Code::REFUSED_STREAM);
            state.abort_reply(&delivery, Some(why(full)));
            return None;
        }
    };
    let sending = Rc::new(RefCell::new(stream));
    state.attach_stream(&delivery, ReplyStream::new(sending.clone(), slot));
    match whole {
        Some(piece) => {
            if sending.borrow_mut().send_data(piece, true).is_err() {
                state.abort_reply(&delivery, None);
            }
            None
        }
        None => Some(piece_by_piece(body, delivery, sending, state.clone())),
    }
}

/// Adds the headers that hyper adds on HTTP/1.
fn complete(head: &mut Parts, len: Option<u64>, now: Millis) {
    // One connection carries many requests, so a reply does not contain whether it ends (RFC 9113, 8.2.2).
    head.headers.remove(header::CONNECTION);
    if !head.headers.contains_key(header::DATE) {
        head.headers.insert(header::DATE, date::value(now));
    }
    let bare = is_bodiless(head.status);
    // A reply to `HEAD` already has its length, if it is known. The head of another reply without a body ends the
    // stream.
    if let Some(len) = len.filter(|len| *len > 0)
        && !bare
        && !head.headers.contains_key(header::CONTENT_LENGTH)
    {
        head.headers.insert(header::CONTENT_LENGTH, len.into());
    }
}

/// Sends the next chunk when the one before has been sent.
async fn piece_by_piece(
    mut body: OutgoingBody,
    delivery: Rc<Delivery>,
    sending: Rc<RefCell<SendStream<Chunk>>>,
    state: Rc<ConnectionState>,
) {
    loop {
        let next = poll_fn(|cx| {
            // The client, the watch over stalled streams, or the end of the connection has reset the stream.
            if sending.borrow_mut().poll_reset(cx).is_ready() {
                return Poll::Ready(None);
            }
            ready!(delivery.poll_gone(cx));
            let polled = Pin::new(&mut body).poll_frame(cx).map(Some);
            if polled.is_pending() {
                state.show_reply(&delivery);
            }
            polled
        });
        let piece = match next.await {
            Some(Some(Ok(frame))) => match frame.into_data() {
                Ok(piece) => Some(piece),
                Err(frame) => return end_with(frame.into_trailers().unwrap_or_default(), &delivery, &sending, &state),
            },
            Some(Some(Err(_))) => {
                sending.borrow_mut().send_reset(Code::INTERNAL_ERROR);
                None
            }
            // The body ended with the chunk before.
            Some(None) => Some(Chunk::nothing(delivery.clone())),
            None => None,
        };
        let last = body.is_end_stream();
        let taken = piece.is_some_and(|piece| sending.borrow_mut().send_data(piece, last).is_ok());
        if !taken {
            return state.abort_reply(&delivery, None);
        }
        if last {
            return;
        }
    }
}

/// Ends a body with its trailers.
fn end_with(
    trailers: HeaderMap,
    delivery: &Rc<Delivery>,
    sending: &Rc<RefCell<SendStream<Chunk>>>,
    state: &ConnectionState,
) {
    match sending.borrow_mut().send_trailers(trailers) {
        Ok(()) => delivery.hold_head(),
        Err(_) => state.abort_reply(delivery, None),
    }
}
