//! Known MD5 states along a body, so that proving a prefix never hashes all of the body.

use md5::{Digest as _, Md5};
use std::sync::Arc;

/// MD5 states of a body, one for each [`Checkpoints::EVERY`] bytes from its beginning. Without any, a proof hashes
/// from the beginning, which is fine for small bodies.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints(Option<Arc<[Md5]>>);

impl Checkpoints {
    /// Bytes between two states, and so the most that a proof hashes.
    pub const EVERY: u64 = 64 << 10;

    /// The first of `states` is the MD5 state after [`Checkpoints::EVERY`] bytes, the second after twice as many, and
    /// so on.
    pub fn new(states: Arc<[Md5]>) -> Self {
        Self(Some(states).filter(|states| !states.is_empty()))
    }

    /// The last state that is not beyond `at`, and the number of bytes that it has hashed.
    pub(super) fn before(&self, at: u64) -> (u64, Md5) {
        let states = self.0.as_deref().unwrap_or_default();
        let passed = usize::try_from(at / Self::EVERY).unwrap_or(usize::MAX).min(states.len());
        let state = passed.checked_sub(1).map_or_else(Md5::new, |last| states[last].clone());
        (passed as u64 * Self::EVERY, state)
    }
}
