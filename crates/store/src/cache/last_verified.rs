//! When the bytes of cached files were last compared with their digests. Disks flip bits, and nothing else would notice.
//!
//! A table of fixed size with one slot per prefix of a digest. If another file overwrites a file's slot, the file is verified
//! sooner. A stop saves the table in the database. So the first build after a restart reads again only files that were written since
//! the stop.

use crate::blobs::digest::Digest;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use telemetry::Millis;

/// An opened file is verified again after this many milliseconds: a day.
const INTERVAL: i64 = 86_400_000;
/// Half a megabyte of slots.
const SLOTS: usize = 1 << 16;
const MINUTE: i64 = 60_000;

/// The slot is from before the start.
const EARLIER: u64 = 1 << 63;
/// The bytes of a saved slot: its number, and its value.
const SAVED: usize = 10;

/// Each slot holds 31 bits of a digest and the minute of the verification.
#[derive(Debug)]
pub(crate) struct LastVerified {
    slots: Box<[AtomicU64]>,
    /// When the saved slots were last true of all files.
    saved: Option<SystemTime>,
}

impl Default for LastVerified {
    fn default() -> Self {
        Self { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(), saved: None }
    }
}

impl LastVerified {
    /// The table that [`LastVerified::save`] returned. `at`: a moment of the file system's clock at which it was true, or before.
    pub(crate) fn saved(bytes: &[u8], at: Option<SystemTime>) -> Self {
        let verified = Self { saved: at, ..Self::default() };
        for entry in bytes.chunks_exact(SAVED) {
            let (number, slot) = entry.split_at(SAVED - size_of::<u64>());
            let number = u16::from_be_bytes(std::array::from_fn(|at| number[at]));
            let slot = u64::from_be_bytes(std::array::from_fn(|at| slot[at]));
            verified.slots[usize::from(number)].store(slot | EARLIER, Ordering::Relaxed);
        }
        verified
    }

    /// The slots in use, as bytes.
    pub(crate) fn save(&self) -> Vec<u8> {
        let slots =
            self.slots.iter().map(|slot| slot.load(Ordering::Relaxed)).enumerate().filter(|(_, slot)| *slot != 0);
        slots
            .flat_map(|(number, slot)| [&(number as u16).to_be_bytes()[..], &slot.to_be_bytes()[..]].concat())
            .collect()
    }

    /// Whether the bytes are due for verification.
    pub(crate) fn is_due(&self, digest: &Digest, now: Millis) -> bool {
        let slot = self.slot(digest).load(Ordering::Relaxed);
        slot & EARLIER != 0 || !is_of(slot, digest, now)
    }

    /// Whether a file was verified before the start, is not due yet, and was last written before that and before the table was saved.
    pub(crate) fn is_unchanged(&self, digest: &Digest, modified: Option<SystemTime>, now: Millis) -> bool {
        let slot = self.slot(digest).load(Ordering::Relaxed);
        // Within the minute that the slot has.
        let verified = SystemTime::UNIX_EPOCH + Duration::from_secs(60 * (u64::from(slot as u32) + 1));
        let is_before = modified.zip(self.saved).is_some_and(|(modified, saved)| modified <= saved.min(verified));
        is_before && is_of(slot, digest, now)
    }

    /// Records that these bytes were verified.
    pub(crate) fn record(&self, digest: &Digest, now: Millis) {
        self.slot(digest).store(tag(digest) << 32 | u64::from(minute(now)), Ordering::Relaxed);
    }

    fn slot(&self, digest: &Digest) -> &AtomicU64 {
        &self.slots[usize::from(u16::from_be_bytes([digest.0[0], digest.0[1]]))]
    }
}

/// Whether the slot is that of the digest and not too old.
fn is_of(slot: u64, digest: &Digest, now: Millis) -> bool {
    let age = minute(now).wrapping_sub(slot as u32);
    (slot & !EARLIER) >> 32 == tag(digest) && i64::from(age) * MINUTE < INTERVAL
}

fn tag(digest: &Digest) -> u64 {
    u64::from(u32::from_be_bytes(std::array::from_fn(|at| digest.0[at + 2])) >> 1)
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
        other.0[4] ^= 1;
        assert!(verified.is_due(&other, now));
        verified.record(&other, now);
        assert!(verified.is_due(&lamp, now));
    }

    #[test]
    fn a_saved_table_is_believed_of_files_that_were_written_before_it() {
        let (verified, lamp, oil) = (LastVerified::default(), Hashes::of(b"lamp").sha256, Hashes::of(b"oil").sha256);
        let (now, at) = (Millis(1_800_000_000_000), SystemTime::UNIX_EPOCH + Duration::from_secs(9));
        verified.record(&lamp, now);
        let read = LastVerified::saved(&verified.save(), Some(at));
        let second = Duration::from_secs(1);
        let is_unchanged = |digest, modified, now| read.is_unchanged(digest, Some(modified), now);
        assert!(read.is_due(&lamp, now) && is_unchanged(&lamp, at, now) && is_unchanged(&lamp, at - second, now));
        assert!(!is_unchanged(&lamp, at + second, now), "it was written later");
        let saved = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_900);
        let damaged = LastVerified::saved(&verified.save(), Some(saved)).is_unchanged(&lamp, Some(saved), now);
        assert!(!damaged, "it was written after its verification");
        assert!(!is_unchanged(&lamp, at, Millis(now.0 + INTERVAL)), "its day is over");
        assert!(!is_unchanged(&oil, at, now) && !read.is_unchanged(&lamp, None, now));
        assert_eq!(LastVerified::saved(&read.save(), Some(at)).save(), read.save());
        read.record(&lamp, now);
        assert!(!read.is_due(&lamp, now));
        assert!(!LastVerified::saved(&verified.save(), None).is_unchanged(&lamp, Some(at), now));
    }
}
