//! A body whose pieces are sent as they come, without a known end: events for a client that listens.

use bytes::Bytes;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// Gives the pieces of a [`Live`] body. It is dropped when the client has gone.
pub trait LiveSource: fmt::Debug + Send {
    /// The next piece, when there is one. `None`: the body ends here. It is asked for the next piece when the client's socket has taken
    /// the last one, so pieces for a slow client gather in the source, which limits them.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// A body whose pieces are sent as they come. A client cannot tell whether it got all of it, so the pieces must tell themselves where it
/// ends, if that matters. When the server stops, its source must end; a client has [`crate::Limits::linger`] to read the last piece.
/// The duration of its event ends with the first byte.
pub struct Live(Box<LiveState>);

struct LiveState {
    source: Box<dyn LiveSource>,
    /// Sent after a silence of this length.
    heartbeat: (Duration, Bytes),
    /// Ends with that silence.
    silence: Option<Pin<Box<Sleep>>>,
    /// Bytes handed out.
    given: u64,
    ended: bool,
}

impl Live {
    /// The pieces of `source`. After each silence of the length `every` the client gets `heartbeat`, which is not empty: otherwise a
    /// proxy closes the connection, and a client that has gone is never noticed.
    pub fn new(source: impl LiveSource + 'static, every: Duration, heartbeat: Bytes) -> Self {
        let (source, heartbeat) = (Box::new(source), (every, heartbeat));
        Self(Box::new(LiveState { source, heartbeat, silence: None, given: 0, ended: false }))
    }

    /// The next piece, which is not empty. `None` at the end.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let state = &mut *self.0;
        let piece = loop {
            match state.source.poll_piece(cx) {
                Poll::Ready(Some(piece)) if piece.is_empty() => {}
                Poll::Ready(piece) => break piece,
                Poll::Pending => break Some(ready!(state.poll_heartbeat(cx))),
            }
        };
        state.silence = None;
        state.given += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        state.ended = piece.is_none();
        Poll::Ready(piece)
    }

    /// The number of bytes of the whole body, once it has ended.
    pub(crate) fn len(&self) -> Option<u64> {
        self.0.ended.then_some(self.0.given)
    }
}

impl LiveState {
    /// The heartbeat, once the silence has lasted long enough.
    fn poll_heartbeat(&mut self, cx: &mut Context<'_>) -> Poll<Bytes> {
        let (every, heartbeat) = &self.heartbeat;
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(*every)));
        silence.as_mut().poll(cx).map(|()| heartbeat.clone())
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("source", &self.0.source).field("given", &self.0.given).finish_non_exhaustive()
    }
}
