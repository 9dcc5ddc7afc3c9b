//! A response that is passed on piece by piece: an event stream, or one whose application declines buffering. It holds no slot.

use super::answered::Answered;
use super::error::PassError;
use super::response_head::Buffering;
use crate::backends::Lease;
use crate::spool::Broken;
use crate::streams::OpenStream;
use front::{Piece, StreamSource};
use hyper::body::{Body, Incoming};
use std::fmt;
use std::io;
use std::task::{Context, Poll};
use telemetry::Event;

/// A response that is passed on piece by piece.
pub(crate) struct Endless {
    lease: Option<Lease>,
    incoming: Incoming,
    open: OpenStream,
    is_events: bool,
    broken: Option<Broken>,
}

impl Endless {
    /// Gives the slot back.
    pub(super) fn new(answered: Answered, open: OpenStream, buffering: Buffering) -> Self {
        let Answered { incoming, mut lease, .. } = answered;
        lease.is_endless();
        Self { lease: Some(lease), incoming, open, is_events: buffering == Buffering::Events, broken: None }
    }

    /// Its declared length.
    pub(super) fn len(&self) -> Option<u64> {
        self.incoming.size_hint().exact()
    }
}

impl StreamSource for Endless {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Piece>>> {
        loop {
            let Some(lease) = &mut self.lease else { return Poll::Ready(None) };
            match lease.connection().poll_frame(&mut self.incoming, cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) if bytes.is_empty() => {}
                    Ok(bytes) => return Poll::Ready(Some(Ok(Piece::Bytes(bytes)))),
                    Err(frame) => {
                        return Poll::Ready(frame.into_trailers().ok().map(|trailers| Ok(Piece::Trailers(trailers))));
                    }
                },
                Poll::Ready(Some(Err(error))) => {
                    let (reason, detail) = (PassError::of_call(&error).reason(), error.to_string());
                    lease.failed(reason);
                    self.broken = Some(Broken { reason, detail: detail.clone() });
                    return Poll::Ready(Some(Err(io::Error::other(detail))));
                }
                Poll::Ready(None) => {
                    self.lease.take().into_iter().for_each(Lease::give_back);
                    return Poll::Ready(None);
                }
                // At a restart. A client of events takes it for the end, and asks again. Any other one must not take a part for the whole.
                Poll::Pending => {
                    let restarts = || io::Error::other("the server restarts");
                    return self.open.poll_ended(cx).map(|()| (!self.is_events).then(|| Err(restarts())));
                }
            }
        }
    }

    fn is_endless(&self) -> bool {
        true
    }

    fn record(&mut self, event: &mut Event) {
        if let Some(broken) = self.broken.take() {
            broken.record(event);
        }
    }
}

impl fmt::Debug for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endless").field("lease", &self.lease).finish_non_exhaustive()
    }
}
