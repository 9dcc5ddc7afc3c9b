//! The buffers that parts of files pass through where the kernel does not send them itself.
//!
//! A reply holds one at a time, and there is a fixed number, so memory is bounded however many clients read however
//! slowly. When all are taken a reply goes on in small pieces instead of waiting: slow clients hold up nobody.

use std::sync::{Arc, Mutex, PoisonError};
use telemetry::{Bound, BoundName};

/// Bytes of a buffer.
pub(crate) const SIZE: usize = 64 << 10;
/// Bytes of what a reply gets when all are taken: little enough to be part of what any connection costs.
const SMALL: usize = 4 << 10;
/// BufferPool kept for the next reply; more are given back to the system.
const SPARE: usize = 64;

/// All of them, of all cores.
#[derive(Debug)]
pub(crate) struct BufferPool {
    spare: Mutex<Vec<Box<[u8]>>>,
    bound: Arc<Bound>,
}

/// One of them, or a small one. Returns when dropped, on whatever thread.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Box<[u8]>,
    /// How much of it is meant.
    filled: usize,
    /// Where it returns to; a small one does not.
    home: Option<Arc<BufferPool>>,
}

impl BufferPool {
    pub(crate) fn new(count: u64) -> Arc<Self> {
        Arc::new(Self { spare: Mutex::default(), bound: Bound::new(BoundName::FileBuffers, "", count) })
    }

    pub(crate) fn bound(&self) -> Arc<Bound> {
        self.bound.clone()
    }

    pub(crate) fn take(self: &Arc<Self>) -> Buffer {
        if self.bound.take(1).is_err() {
            return Buffer { bytes: vec![0; SMALL].into_boxed_slice(), filled: 0, home: None };
        }
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = spare.unwrap_or_else(|| vec![0; SIZE].into_boxed_slice());
        Buffer { bytes, filled: 0, home: Some(self.clone()) }
    }
}

impl Buffer {
    /// Room for up to `len` bytes.
    pub(crate) fn room(&mut self, len: u64) -> &mut [u8] {
        let fits = usize::try_from(len).map_or(self.bytes.len(), |len| len.min(self.bytes.len()));
        &mut self.bytes[..fits]
    }

    /// Its first `len` bytes are meant.
    pub(crate) fn fill(&mut self, len: usize) {
        self.filled = len;
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some(home) = &self.home else { return };
        let mut spare = home.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE {
            spare.push(std::mem::take(&mut self.bytes));
        }
        home.bound.give(1);
    }
}
