//! When the bytes of cached files were last compared with their digests. Disks flip bits, and nothing else would notice.
//!
//! A table of fixed size with one slot per prefix of a digest. If another file overwrites a file's slot, the file is verified
//! sooner.

use crate::blobs::digest::Digest;
use std::sync::atomic::{AtomicU64, Ordering};
use telemetry::Millis;

/// An opened file is verified again after this many milliseconds: a day.
const INTERVAL: i64 = 86_400_000;
/// Half a megabyte of slots.
const SLOTS: usize = 1 << 16;
const MINUTE: i64 = 60_000;

/// Each slot holds 32 bits of a digest and the minute of the verification.
#[derive(Debug)]
pub(crate) struct LastVerified(Box<[AtomicU64]>);

impl Default for LastVerified {
    fn default() -> Self {
        Self((0..SLOTS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl LastVerified {
    /// Whether the bytes are due for verification.
    pub(crate) fn is_due(&self, digest: &Digest, now: Millis) -> bool {
        let slot = self.slot(digest).load(Ordering::Relaxed);
        let age = minute(now).wrapping_sub(slot as u32);
        slot >> 32 != tag(digest) || i64::from(age) * MINUTE >= INTERVAL
    }

    /// Records that these bytes were verified.
    pub(crate) fn record(&self, digest: &Digest, now: Millis) {
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
    fn a_verified_file_is_due_again_a_day_later_or_once_another_took_its_slot() {
        let (verified, lamp) = (LastVerified::default(), Hashes::of(b"lamp").sha256);
        let now = Millis(1_800_000_000_000);
        assert!(verified.is_due(&lamp, now));
        verified.record(&lamp, now);
        assert!(!verified.is_due(&lamp, now) && !verified.is_due(&lamp, Millis(now.0 + INTERVAL - MINUTE)));
        assert!(verified.is_due(&lamp, Millis(now.0 + INTERVAL)));
        assert!(verified.is_due(&lamp, Millis(now.0 - MINUTE)), "a clock that was set back proves nothing");
        let mut other = lamp;
        other.0[5] ^= 1;
        assert!(verified.is_due(&other, now));
        verified.record(&other, now);
        assert!(verified.is_due(&lamp, now));
    }
}
