//! The reading end of a queue, for the client.

use super::{Broken, FILE, Queue, State};
use front::{Piece, StreamSource};
use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use telemetry::{Event, Op, Tick};

/// The reading end. Dropping it tells the writer that the client has gone.
pub(crate) struct QueueReader(Rc<RefCell<State>>);

impl Queue {
    /// The reading end. There is one.
    pub(crate) fn reader(&self) -> QueueReader {
        self.0.borrow_mut().has_reader = true;
        QueueReader(self.0.clone())
    }

    /// The reading end, which begins when the whole body has come. It breaks off where there is no room for all of it.
    pub(crate) fn late_reader(&self) -> QueueReader {
        self.0.borrow_mut().held_back = true;
        self.reader()
    }

    /// Waits for the end of the body. Returns its length, if it is complete.
    pub(crate) async fn whole(&self) -> Result<u64, Broken> {
        poll_fn(|cx| {
            let mut state = self.0.borrow_mut();
            match &state.end {
                Some(Ok(_)) => {
                    let in_files: u64 = state.files.iter().map(|segment| segment.written - segment.read).sum();
                    Poll::Ready(Ok(in_files + state.memory_bytes as u64))
                }
                Some(Err(broken)) => Poll::Ready(Err(broken.clone())),
                None => {
                    state.reader = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl StreamSource for QueueReader {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Piece>>> {
        let state = &mut *self.0.borrow_mut();
        state.sending = None;
        if let Some(bytes) = state.memory.pop_front() {
            state.memory_bytes -= bytes.len();
            state.wake(|state| &mut state.writer);
            return Poll::Ready(Some(Ok(Piece::Bytes(bytes))));
        }
        if let Some(segment) = state.files.front_mut().filter(|segment| segment.read < segment.written) {
            let (file, from, len) = (segment.file.clone(), segment.read, segment.written - segment.read);
            segment.read = segment.written;
            if segment.written >= FILE {
                state.sending = state.files.pop_front();
            }
            state.wake(|state| &mut state.writer);
            return Poll::Ready(Some(Ok(Piece::File { file, from, len })));
        }
        match &mut state.end {
            Some(Ok(trailers)) => Poll::Ready(trailers.take().map(|trailers| Ok(Piece::Trailers(trailers)))),
            Some(Err(broken)) => Poll::Ready(Some(Err(io::Error::other(broken.detail.clone())))),
            None => {
                state.reader = Some(cx.waker().clone());
                state.wake(|state| &mut state.writer);
                Poll::Pending
            }
        }
    }

    fn record(&mut self, event: &mut Event) {
        let state = self.0.borrow();
        event.add_all(Op::SpoolWrite, state.writes);
        event.add(Op::AppBody, state.body_nanos.unwrap_or_else(|| Tick::now().since(state.began)));
        if let Some(Err(broken)) = &state.end {
            broken.record(event);
        }
    }
}

impl Drop for QueueReader {
    fn drop(&mut self) {
        let state = &mut *self.0.borrow_mut();
        (state.has_reader, state.sending, state.memory_bytes) = (false, None, 0);
        state.memory.clear();
        state.files.clear();
        state.wake(|state| &mut state.writer);
    }
}

impl fmt::Debug for QueueReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueReader").finish_non_exhaustive()
    }
}
