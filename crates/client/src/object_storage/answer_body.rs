//! The body of an answer of object storage, read as it arrives.

use super::error_kind;
use crate::error::Error;
use crate::failed::silent;
use crate::host::CallSlot;
use crate::http_connection::HttpConnection;
use crate::pool::PoolKey;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use object_store::client::HttpError;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use telemetry::ClosedBy;
use tokio::time::{Instant, Sleep, sleep};

/// A body with the connection that it comes from. The connection is kept once the body has ended, and closed if nobody reads it to the
/// end.
pub(super) struct AnswerBody {
    /// Used in messages.
    authority: String,
    /// How long a piece may take.
    idle: Duration,
    /// When the piece that is awaited comes too late.
    late: Pin<Box<Sleep>>,
    /// Whether a piece is awaited: the time in which the reader does something else does not count.
    awaited: bool,
    open: Option<Open>,
}

struct Open {
    body: Incoming,
    connection: HttpConnection,
    slot: CallSlot,
}

impl AnswerBody {
    pub(super) fn new(
        authority: &str,
        idle: Duration,
        body: Incoming,
        connection: HttpConnection,
        slot: CallSlot,
    ) -> Self {
        let open = Some(Open { body, connection, slot });
        let mut made =
            Self { authority: authority.to_owned(), idle, late: Box::pin(sleep(idle)), awaited: false, open };
        if made.open.as_ref().is_some_and(|open| open.body.is_end_stream()) {
            made.end();
        }
        made
    }

    /// The body is complete, so its connection can serve another call.
    fn end(&mut self) {
        if let Some(open) = self.open.take() {
            open.slot.host.pool.put(PoolKey::MACHINE, open.connection);
        }
    }

    fn close(&mut self, by: ClosedBy) {
        if let Some(open) = self.open.take() {
            open.slot.host.pool.lost(PoolKey::MACHINE, by);
        }
    }

    fn fail(&mut self, error: Error) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if let Some(open) = &mut self.open {
            open.slot.failed(&error);
        }
        self.close(ClosedBy::Error);
        Poll::Ready(Some(Err(error_kind::of(error))))
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let this = self.get_mut();
        let Some(open) = &mut this.open else { return Poll::Ready(None) };
        // A piece has no state of its own, so each poll may begin one.
        let piece = pin!(open.connection.piece(&mut open.body)).poll(cx);
        if piece.is_pending() {
            if !std::mem::replace(&mut this.awaited, true) {
                this.late.as_mut().reset(Instant::now() + this.idle);
            }
            ready!(this.late.as_mut().poll(cx));
            let error = silent(&this.authority, this.idle);
            return this.fail(error);
        }
        this.awaited = false;
        match ready!(piece) {
            Some(Ok(bytes)) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Some(Err(error)) => this.fail(error),
            None => {
                this.end();
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.open.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.open.as_ref().map_or_else(|| SizeHint::with_exact(0), |open| open.body.size_hint())
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.close(ClosedBy::Us);
    }
}
