//! Buffers for parts of files that the kernel does not send itself.
//!
//! A reply holds one buffer at a time, and the number of buffers is fixed. So memory is bounded, however many clients
//! read and however slowly. When all buffers are in use, a reply continues in small chunks instead of waiting. So slow
//! clients do not delay other replies.

use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, lock};

/// Size of a buffer.
pub(crate) const SIZE: usize = 64 << 10;
/// Size of a buffer when the pool is empty. It is small compared with the memory of a connection.
const SMALL: usize = 4 << 10;
/// Free buffers that are kept for the next reply. The memory of further buffers is freed.
const SPARE: usize = 64;

/// The buffers of all cores.
#[derive(Debug)]
pub(crate) struct BufferPool {
    spare: Mutex<Vec<Box<[u8]>>>,
    bound: Arc<Bound>,
}

/// A buffer of the pool, or a small one. Dropping it, on any thread, returns it to the pool.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Box<[u8]>,
    /// How many of its bytes are in use.
    filled: usize,
    /// The pool that it returns to; `None` for a small one.
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
        let spare = lock(&self.spare).pop();
        let bytes = spare.unwrap_or_else(|| vec![0; SIZE].into_boxed_slice());
        Buffer { bytes, filled: 0, home: Some(self.clone()) }
    }
}

impl Buffer {
    /// The first `len` bytes at most, to be written.
    pub(crate) fn room(&mut self, len: u64) -> &mut [u8] {
        let fits = usize::try_from(len).map_or(self.bytes.len(), |len| len.min(self.bytes.len()));
        &mut self.bytes[..fits]
    }

    /// Marks the first `len` bytes as in use.
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
        let mut spare = lock(&home.spare);
        if spare.len() < SPARE {
            spare.push(std::mem::take(&mut self.bytes));
        }
        home.bound.give(1);
    }
}
