//! When the bytes of kept files were last held against their digests: disks flip bits, and nobody else would notice.
//!
//! A table of a fixed size, a slot for each beginning of a digest. What falls out of its slot is looked at again sooner.

use crate::Digest;
use std::sync::atomic::{AtomicU64, Ordering};
use telemetry::Millis;

/// A file that is opened is looked at again once so many milliseconds have passed: a day.
const AGAIN_AFTER: i64 = 86_400_000;
/// Slots: half a megabyte.
const SLOTS: usize = 1 << 16;
const MINUTE: i64 = 60_000;

/// Each slot holds 32 bits of a digest, and the minute of the look.
#[derive(Debug)]
pub(crate) struct Looked(Box<[AtomicU64]>);

impl Default for Looked {
    fn default() -> Self {
        Self((0..SLOTS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Looked {
    /// Whether nobody looked at these bytes for long.
    pub(crate) fn is_due(&self, digest: &Digest, now: Millis) -> bool {
        let noted = self.slot(digest).load(Ordering::Relaxed);
        let age = minute(now).wrapping_sub(noted as u32);
        noted >> 32 != tag(digest) || i64::from(age) * MINUTE >= AGAIN_AFTER
    }

    /// Notes that these bytes were looked at.
    pub(crate) fn note(&self, digest: &Digest, now: Millis) {
        self.slot(digest).store(tag(digest) << 32 | u64::from(minute(now)), Ordering::Relaxed);
    }

    fn slot(&self, digest: &Digest) -> &AtomicU64 {
        &self.0[usize::from(u16::from_be_bytes([digest.0[0], digest.0[1]]))]
    }
}

fn tag(digest: &Digest) -> u64 {
    u64::from(u32::from_be_bytes(std::array::from_fn(|at| digest.0[at + 2])))
}

fn minute(now: Millis) -> u32 {
    u32::try_from(now.0 / MINUTE).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hashes;

    #[test]
    fn what_was_looked_at_is_due_again_a_day_later_or_once_its_slot_is_another_s() {
        let (looked, lamp) = (Looked::default(), Hashes::of(b"lamp").sha256);
        let now = Millis(1_800_000_000_000);
        assert!(looked.is_due(&lamp, now));
        looked.note(&lamp, now);
        assert!(!looked.is_due(&lamp, now) && !looked.is_due(&lamp, Millis(now.0 + AGAIN_AFTER - MINUTE)));
        assert!(looked.is_due(&lamp, Millis(now.0 + AGAIN_AFTER)));
        assert!(looked.is_due(&lamp, Millis(now.0 - MINUTE)), "a clock that was put back proves nothing");
        let mut other = lamp;
        other.0[5] ^= 1;
        assert!(looked.is_due(&other, now));
        looked.note(&other, now);
        assert!(looked.is_due(&lamp, now));
    }
}
