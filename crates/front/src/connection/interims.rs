//! The interim responses of the request in progress on a connection, and on HTTP/1 their bytes: hyper sends no interim responses but 100
//! and 101. They are written while hyper has nothing to write, and the reply waits until they are.

use crate::http1::response_head;
use crate::request::interim::{Interim, InterimQueue};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// The interim responses of a connection.
#[derive(Default)]
pub(crate) struct Interims {
    /// Of the request that was begun last.
    current: RefCell<Option<Arc<InterimQueue>>>,
    /// A queue that is not in use, for the next request.
    spare: RefCell<Option<Arc<InterimQueue>>>,
    /// Bytes of one that are being written.
    bytes: RefCell<Vec<u8>>,
    /// How many of them are written.
    written: Cell<usize>,
}

/// The interim responses of a request, until its exchange ends.
pub(crate) struct OpenInterims {
    pub(crate) queue: Arc<InterimQueue>,
    interims: Rc<Interims>,
}

impl OpenInterims {
    /// A request begins that may have interim responses.
    pub(crate) fn begin(interims: &Rc<Interims>) -> Self {
        let queue = interims.spare.borrow_mut().take().unwrap_or_default();
        *interims.current.borrow_mut() = Some(queue.clone());
        Self { queue, interims: interims.clone() }
    }

    /// The handler's side.
    pub(crate) fn interim(&self) -> Interim {
        Interim::through(self.queue.clone())
    }
}

impl Drop for OpenInterims {
    fn drop(&mut self) {
        let mut current = self.interims.current.borrow_mut();
        if current.as_ref().is_some_and(|queue| Arc::ptr_eq(queue, &self.queue)) {
            *current = None;
        }
        if let Some(queue) = Arc::get_mut(&mut self.queue) {
            queue.reset();
            *self.interims.spare.borrow_mut() = Some(self.queue.clone());
        }
    }
}

impl Interims {
    /// HTTP/2: the interim responses of the request that was begun just now. Its stream sends them.
    pub(crate) fn take(&self) -> Option<Arc<InterimQueue>> {
        self.current.borrow_mut().take()
    }

    /// HTTP/1: whether one waits to be written.
    pub(crate) fn wait(&self) -> bool {
        self.current.borrow().as_ref().is_some_and(|queue| queue.has_some())
    }

    /// HTTP/1: has `write` write what waits, and returns its first result that is not a number of bytes. `begun`: only the rest of a
    /// response that was begun.
    pub(crate) fn write<E>(&self, begun: bool, mut write: impl FnMut(&[u8]) -> Result<usize, E>) -> Result<(), E> {
        loop {
            let mut bytes = self.bytes.borrow_mut();
            while let Some(left) = bytes.get(self.written.get()..).filter(|left| !left.is_empty()) {
                self.written.set(self.written.get() + write(left)?);
            }
            let current = self.current.borrow();
            let Some(queue) = current.as_ref().filter(|_| !begun) else { return Ok(()) };
            let Some((status, headers)) = queue.next() else {
                queue.written();
                return Ok(());
            };
            *bytes = response_head::begin(status, headers.iter(), None);
            bytes.extend_from_slice(b"\r\n");
            self.written.set(0);
        }
    }
}
