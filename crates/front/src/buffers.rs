//! The buffers that parts of files pass through where the kernel cannot send them itself.
//!
//! A reply holds one at a time, so memory is bounded however many clients read however slowly. When none is left, replies
//! wait their turn.

use std::sync::{Arc, Mutex, PoisonError};
use telemetry::{Bound, BoundName};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of a buffer.
pub(crate) const SIZE: usize = 64 << 10;
/// Buffers kept for the next reply; more are given back to the system.
const SPARE: usize = 64;

/// All of them, of all cores.
#[derive(Debug)]
pub(crate) struct Buffers {
    spare: Mutex<Vec<Box<[u8]>>>,
    places: Arc<Semaphore>,
    bound: Arc<Bound>,
}

/// One of them. Returns when dropped, on whatever thread.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Box<[u8]>,
    /// How much of it is meant.
    filled: usize,
    buffers: Arc<Buffers>,
    _place: OwnedSemaphorePermit,
}

impl Buffers {
    pub(crate) fn new(count: u64) -> Arc<Self> {
        let places = usize::try_from(count).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        let bound = Bound::new(BoundName::FileBuffers, "", places as u64);
        Arc::new(Self { spare: Mutex::default(), places: Arc::new(Semaphore::new(places)), bound })
    }

    pub(crate) fn bound(&self) -> Arc<Bound> {
        self.bound.clone()
    }

    /// One, if one is left.
    pub(crate) fn take_now(self: &Arc<Self>) -> Option<Buffer> {
        self.places.clone().try_acquire_owned().ok().map(|place| self.clone().hand_out(place))
    }

    /// One, when it is our turn. `None` never comes to pass: the places are never closed.
    pub(crate) async fn take(self: Arc<Self>) -> Option<Buffer> {
        let waiting = self.bound.wait();
        let place = self.places.clone().acquire_owned().await.ok()?;
        drop(waiting);
        Some(self.hand_out(place))
    }

    fn hand_out(self: Arc<Self>, place: OwnedSemaphorePermit) -> Buffer {
        // There is room: the places are as many.
        let _ = self.bound.take(1);
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = spare.unwrap_or_else(|| vec![0; SIZE].into_boxed_slice());
        Buffer { bytes, filled: 0, buffers: self, _place: place }
    }
}

impl Buffer {
    /// Room for up to `len` bytes.
    pub(crate) fn room(&mut self, len: u64) -> &mut [u8] {
        let len = usize::try_from(len).map_or(SIZE, |len| len.min(SIZE));
        &mut self.bytes[..len]
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
        let mut spare = self.buffers.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE {
            spare.push(std::mem::take(&mut self.bytes));
        }
        self.buffers.bound.give(1);
    }
}
