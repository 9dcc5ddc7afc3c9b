//! URLs whose last response could not be shared: requests for them never wait for each other. Remembered for two minutes, in bounded
//! memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use telemetry::Millis;

/// How long a URL is remembered, in seconds.
const REMEMBERED: i64 = 120;
/// 128 KiB, from the first such URL on. A newer URL takes the place of an older one: then one more request waits.
const PLACES: usize = 1 << 14;
/// The bits of the time. The others are of the hash.
const TIME: u64 = (1 << 24) - 1;

/// Hashes of such URLs.
#[derive(Debug, Default)]
pub(crate) struct Uncollapsed(OnceLock<Box<[AtomicU64]>>);

impl Uncollapsed {
    /// Remembers a URL.
    pub(crate) fn add(&self, hash: u64, now: Millis) {
        let places = self.0.get_or_init(|| (0..PLACES).map(|_| AtomicU64::new(0)).collect());
        place(places, hash).store(hash & !TIME | seconds(now), Relaxed);
    }

    /// Forgets a URL: its response can be shared now.
    pub(crate) fn remove(&self, hash: u64) {
        if let Some(places) = self.0.get() {
            let place = place(places, hash);
            if place.load(Relaxed) & !TIME == hash & !TIME {
                place.store(0, Relaxed);
            }
        }
    }

    /// Whether a URL is remembered.
    pub(crate) fn has(&self, hash: u64, now: Millis) -> bool {
        let Some(places) = self.0.get() else { return false };
        let there = place(places, hash).load(Relaxed);
        let age = seconds(now).wrapping_sub(there & TIME) & TIME;
        there & !TIME == hash & !TIME && age < REMEMBERED.cast_unsigned()
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
    fn a_url_is_remembered_for_two_minutes() {
        let (uncollapsed, hash, now) = (Uncollapsed::default(), 0x1234_5678_9abc_def0, 1_793_534_400);
        let at = |seconds: i64| Millis((now + seconds) * 1000);
        assert!(!uncollapsed.has(hash, at(0)));
        uncollapsed.add(hash, at(0));
        assert_eq!([0, 119, 120, 500].map(|after| uncollapsed.has(hash, at(after))), [true, true, false, false]);
        assert!(!uncollapsed.has(hash ^ 1 << 60, at(0)));
        uncollapsed.remove(hash);
        assert!(!uncollapsed.has(hash, at(0)));
    }

    #[test]
    fn the_time_may_begin_again() {
        let (uncollapsed, turn) = (Uncollapsed::default(), TIME.cast_signed() * 1000);
        uncollapsed.add(u64::MAX, Millis(turn));
        assert!(uncollapsed.has(u64::MAX, Millis(turn + 5000)));
    }
}
