//! A copy of a body that passes through a queue.

use super::{Queue, State};
use bytes::{Bytes, BytesMut};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A copy of the whole body, once it has come.
pub(crate) struct Copying(Rc<RefCell<State>>);

/// The bytes so far.
pub(super) struct Copy {
    bytes: BytesMut,
    limit: usize,
}

impl Queue {
    /// A copy of the whole body, up to `limit`, to be begun before its reader begins. There is none where bytes are in files already.
    pub(crate) fn copy(&self, limit: usize) -> Copying {
        let mut state = self.0.borrow_mut();
        let is_here = state.files.is_empty() && state.memory_bytes <= limit && !matches!(state.end, Some(Err(_)));
        let copy = is_here.then(|| {
            let mut bytes = BytesMut::with_capacity(state.memory_bytes);
            state.memory.iter().for_each(|piece| bytes.extend_from_slice(piece));
            Copy { bytes, limit }
        });
        state.copy = copy;
        drop(state);
        Copying(self.0.clone())
    }

    pub(super) fn add_to_copy(&self, bytes: &Bytes) {
        let mut state = self.0.borrow_mut();
        let Some(copy) = &mut state.copy else { return };
        if copy.bytes.len() + bytes.len() > copy.limit {
            state.copy = None;
            state.wake(|state| &mut state.copier);
        } else {
            copy.bytes.extend_from_slice(bytes);
        }
    }
}

impl Future for Copying {
    type Output = Option<Bytes>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.0.borrow_mut();
        if state.end.is_some() || state.copy.is_none() {
            return Poll::Ready(state.copy.take().map(|copy| copy.bytes.freeze()));
        }
        state.copier = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        let state = &mut *self.0.borrow_mut();
        state.copy = None;
        state.wake(|state| &mut state.writer);
    }
}
