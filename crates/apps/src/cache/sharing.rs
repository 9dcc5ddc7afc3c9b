//! Whether the last response of a URL could be shared. Requests for a URL that had one for one user only never wait for each other, and
//! requests of users wait only for a URL that had one for all. Remembered in bounded memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use telemetry::Millis;

/// How long it is remembered that a response could not be shared, in seconds.
const FOR_ONE: u64 = 120;
/// How long it is remembered that it could, also after a purge, in seconds.
const FOR_ALL: u64 = 3600;
/// 128 KiB, from the first response on. A newer URL takes the place of an older one, which is then not known.
const PLACES: usize = 1 << 14;
/// The bits of the time. One more is whether the response was for all, the others are of the hash.
const TIME: u64 = (1 << 24) - 1;
const ALL: u64 = 1 << 24;
const HASH: u64 = !(TIME | ALL);

/// Hashes of URLs.
#[derive(Debug, Default)]
pub(crate) struct Sharing(OnceLock<Box<[AtomicU64]>>);

impl Sharing {
    /// Remembers a response of a URL.
    pub(crate) fn add(&self, hash: u64, for_all: bool, now: Millis) {
        let places = self.0.get_or_init(|| (0..PLACES).map(|_| AtomicU64::new(0)).collect());
        let all = if for_all { ALL } else { 0 };
        place(places, hash).store(hash & HASH | all | seconds(now), Relaxed);
    }

    /// Forgets a URL.
    pub(crate) fn forget(&self, hash: u64) {
        let Some(places) = self.0.get() else { return };
        let there = place(places, hash).load(Relaxed);
        if there & HASH == hash & HASH {
            // One that another thread has just written stays.
            let _ = place(places, hash).compare_exchange(there, 0, Relaxed, Relaxed);
        }
    }

    /// Whether the last response of a URL was for all. `None`: it is not known.
    pub(crate) fn get(&self, hash: u64, now: Millis) -> Option<bool> {
        let there = place(self.0.get()?, hash).load(Relaxed);
        let (for_all, age) = (there & ALL != 0, seconds(now).wrapping_sub(there & TIME) & TIME);
        let lasts = if for_all { FOR_ALL } else { FOR_ONE };
        (there & HASH == hash & HASH && age < lasts).then_some(for_all)
    }
}

fn place(places: &[AtomicU64], hash: u64) -> &AtomicU64 {
    &places[hash as usize % PLACES]
}

/// They begin again after half a year, when a URL could be remembered once too often.
fn seconds(now: Millis) -> u64 {
    now.seconds().cast_unsigned() & TIME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_for_one_user_is_remembered_for_two_minutes_and_one_for_all_for_an_hour() {
        let (sharing, hash, now) = (Sharing::default(), 0x1234_5678_9abc_def0, 1_793_534_400);
        let at = |seconds: i64| Millis((now + seconds) * 1000);
        assert_eq!(sharing.get(hash, at(0)), None);
        sharing.add(hash, false, at(0));
        assert_eq!([0, 119, 120].map(|after| sharing.get(hash, at(after))), [Some(false), Some(false), None]);
        assert_eq!(sharing.get(hash ^ 1 << 60, at(0)), None);
        sharing.forget(hash ^ 1 << 60);
        assert_eq!(sharing.get(hash, at(0)), Some(false));
        sharing.forget(hash);
        assert_eq!(sharing.get(hash, at(0)), None);
        sharing.add(hash, true, at(0));
        assert_eq!([0, 3599, 3600].map(|after| sharing.get(hash, at(after))), [Some(true), Some(true), None]);
    }

    #[test]
    fn the_time_may_begin_again() {
        let (sharing, turn) = (Sharing::default(), TIME.cast_signed() * 1000);
        sharing.add(u64::MAX, true, Millis(turn));
        assert_eq!(sharing.get(u64::MAX, Millis(turn + 5000)), Some(true));
    }
}
