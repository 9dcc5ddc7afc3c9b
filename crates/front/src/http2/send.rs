//! A reply on its stream: handed to the machine at once where the client's windows have room for it, else piece by piece.

use crate::body::OutgoingBody;
use crate::body::chunk::Chunk;
use crate::body::delivery::Delivery;
use crate::connection::reply_stream::ReplyStream;
use crate::connection::state::ConnectionState;
use crate::connection::stream_slots::{StreamSlot, StreamSlots, why};
use crate::date;
use h2::server::SendResponse;
use h2::{Reason as Code, SendStream};
use http::response::Parts;
use http::{Response, StatusCode, header};
use http_body::Body as _;
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, ready};
use telemetry::Millis;

/// A reply that the client's windows hold back beyond this takes a slot of its own.
pub(super) const SEND_BUFFER: usize = 1 << 20;

/// Sends what can go at once. Returns what sees to the rest.
pub(super) fn send<H>(
    response: Response<OutgoingBody>,
    mut respond: SendResponse<Chunk>,
    slot: Option<StreamSlot>,
    slots: &StreamSlots<H>,
    state: &Rc<ConnectionState>,
) -> Option<impl Future<Output = ()> + use<H>> {
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
        // Only the socket can keep it now, and that is watched for the whole connection.
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

/// The headers of every reply that hyper sees to on HTTP/1.
fn complete(head: &mut Parts, len: Option<u64>, now: Millis) {
    // There is one connection for many requests: whether it ends is not said in a reply (RFC 9113, 8.2.2).
    head.headers.remove(header::CONNECTION);
    if !head.headers.contains_key(header::DATE) {
        head.headers.insert(header::DATE, date::at(now));
    }
    let bare = matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    // That of a reply to HEAD is there, where it is known; of another without a body the head says that it ends with it.
    if let Some(len) = len.filter(|len| *len > 0)
        && !bare
        && !head.headers.contains_key(header::CONTENT_LENGTH)
    {
        head.headers.insert(header::CONTENT_LENGTH, len.into());
    }
}

/// The next piece when the one before has gone.
async fn piece_by_piece(
    mut body: OutgoingBody,
    delivery: Rc<Delivery>,
    sending: Rc<RefCell<SendStream<Chunk>>>,
    state: Rc<ConnectionState>,
) {
    loop {
        let next = poll_fn(|cx| {
            // Reset by the client, by the watch over it, or with the connection.
            if sending.borrow_mut().poll_reset(cx).is_ready() {
                return Poll::Ready(None);
            }
            ready!(delivery.poll_gone(cx));
            Pin::new(&mut body).poll_frame(cx).map(Some)
        });
        let piece = match next.await {
            Some(Some(Ok(frame))) => frame.into_data().ok(),
            Some(Some(Err(_))) => {
                sending.borrow_mut().send_reset(Code::INTERNAL_ERROR);
                None
            }
            // It turned out to have ended with the piece before.
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
