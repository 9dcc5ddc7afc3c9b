//! The lookups of every cache: hits, three kinds of miss, inserts and evictions. A [`crate::Bound`] has the capacity, the bytes and the setting
//! of a cache, and carries these counts.
//!
//! A hit of a page adds nothing here: the events of requests count it, because their layer is [`crate::Layer::Page`].

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

crate::closed_list! {
    /// Why a lookup found nothing that it could use. A later kind is the better reason.
    #[derive(PartialOrd, Ord)]
    pub enum Miss {
        /// The entry was never made, or was evicted.
        Absent = "absent",
        /// The entry was made and could not be stored: it was too large, or the cache did not admit it.
        Refused = "refused",
        /// The entry was there and no longer valid: its stamp did not hold, or its TTL had ended.
        Stale = "stale",
    }
}

/// The counts of one cache since the start.
#[derive(Debug, Default)]
pub struct CacheCounts {
    hits: AtomicU64,
    misses: [AtomicU64; Miss::COUNT],
    inserts: AtomicU64,
    evictions: AtomicU64,
    entries: AtomicU64,
    gone: Gone,
}

impl CacheCounts {
    /// Counts a hit.
    pub fn hit(&self) {
        self.hits.fetch_add(1, Relaxed);
    }

    /// Counts a miss.
    pub fn miss(&self, kind: Miss) {
        self.misses[kind as usize].fetch_add(1, Relaxed);
    }

    /// Why there is no entry with this hash.
    pub fn why_absent(&self, hash: impl FnOnce() -> u64) -> Miss {
        self.gone.why(hash)
    }

    /// Counts an entry that was stored, unless the cache did not keep `value`. `hash` is that of its key, `gone` has the
    /// entries that left the cache meanwhile.
    pub fn store<K, V>(&self, hash: u64, value: &Arc<V>, gone: &[(K, Arc<V>)], hash_of: impl Fn(&K) -> u64) {
        let others = gone.iter().filter(|(_, other)| !Arc::ptr_eq(other, value));
        // An entry with the same key was replaced.
        self.evict(others.filter(|(key, _)| hash_of(key) != hash).count() as u64);
        if gone.iter().any(|(_, other)| Arc::ptr_eq(other, value)) {
            self.refuse(hash);
        } else {
            self.gone.clear(hash);
            self.insert();
        }
    }

    /// Counts an entry that was stored.
    pub fn insert(&self) {
        self.inserts.fetch_add(1, Relaxed);
    }

    /// Remembers that the entry with this hash could not be stored.
    pub fn refuse(&self, hash: u64) {
        self.gone.add(hash, Miss::Refused);
    }

    /// Remembers that the entry with this hash was removed, because it was no longer valid.
    pub fn outdate(&self, hash: u64) {
        self.gone.add(hash, Miss::Stale);
    }

    /// Counts entries that made room for others.
    pub fn evict(&self, entries: u64) {
        if entries > 0 {
            self.evictions.fetch_add(entries, Relaxed);
        }
    }

    /// Counts one more entry.
    pub fn enter(&self) {
        self.entries.fetch_add(1, Relaxed);
    }

    /// Counts one entry less.
    pub fn leave(&self) {
        self.entries.fetch_sub(1, Relaxed);
    }

    /// Sets how many entries there are now.
    pub fn observe(&self, entries: u64) {
        self.entries.store(entries, Relaxed);
    }

    /// Lookups that found an entry; of pages 0.
    pub fn hits(&self) -> u64 {
        self.hits.load(Relaxed)
    }

    /// Misses of this kind.
    pub fn misses(&self, kind: Miss) -> u64 {
        self.misses[kind as usize].load(Relaxed)
    }

    /// Entries that were stored.
    pub fn inserts(&self) -> u64 {
        self.inserts.load(Relaxed)
    }

    /// Entries that made room for others.
    pub fn evictions(&self) -> u64 {
        self.evictions.load(Relaxed)
    }

    /// Entries that there are now.
    pub fn entries(&self) -> u64 {
        self.entries.load(Relaxed)
    }
}

/// Why entries with these hashes are not there: the last ones that could not be stored, or were no longer valid. Each place holds 15 bits of a
/// hash and one bit for the reason. If a place is overwritten, the next lookup of the former hash counts as [`Miss::Absent`].
#[derive(Debug, Default)]
struct Gone(OnceLock<Box<[AtomicU16]>>);

impl Gone {
    /// 32 KiB. Caches that never refuse an entry have none.
    const PLACES: usize = 1 << 14;

    /// The place of a hash, and the 15 bits. They come from opposite ends of the hash. 0 marks an empty place.
    fn place(places: &[AtomicU16], hash: u64) -> (&AtomicU16, u16) {
        (&places[hash as usize % Self::PLACES], ((hash >> 48) as u16 & !1).max(2))
    }

    fn add(&self, hash: u64, why: Miss) {
        let places = self.0.get_or_init(|| (0..Self::PLACES).map(|_| AtomicU16::new(0)).collect());
        let (place, print) = Self::place(places, hash);
        place.store(print | u16::from(why == Miss::Stale), Relaxed);
    }

    fn clear(&self, hash: u64) {
        let Some(places) = self.0.get() else { return };
        let (place, print) = Self::place(places, hash);
        if place.load(Relaxed) & !1 == print {
            place.store(0, Relaxed);
        }
    }

    fn why(&self, hash: impl FnOnce() -> u64) -> Miss {
        let Some(places) = self.0.get() else { return Miss::Absent };
        let (place, print) = Self::place(places, hash());
        match place.load(Relaxed) {
            there if there == print => Miss::Refused,
            there if there == print | 1 => Miss::Stale,
            _ => Miss::Absent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_has_the_reason_why_its_entry_is_not_there() {
        let counts = CacheCounts::default();
        let (one, other) = (0xabcd_0000_0000_0001, 0xabc0_0000_0000_0001);
        assert_eq!(counts.why_absent(|| one), Miss::Absent);
        counts.refuse(one);
        assert_eq!((counts.why_absent(|| one), counts.why_absent(|| other)), (Miss::Refused, Miss::Absent));
        counts.outdate(other);
        assert_eq!(counts.why_absent(|| one), Miss::Absent, "the place was overwritten");
        assert_eq!(counts.why_absent(|| other), Miss::Stale);
        counts.store::<u64, ()>(other, &Arc::new(()), &[], |key| *key);
        assert_eq!(counts.why_absent(|| other), Miss::Absent, "it was stored again");
    }

    #[test]
    fn an_entry_that_is_stored_evicts_others_but_not_the_one_that_it_replaces_and_may_be_refused_itself() {
        let (counts, value, other) = (CacheCounts::default(), Arc::new(1), Arc::new(2));
        counts.store(1, &value, &[(1, other.clone()), (7, other.clone())], |key| *key);
        assert_eq!((counts.inserts(), counts.evictions()), (1, 1));
        counts.store(1, &value, &[(1, other), (1, value.clone())], |key| *key);
        assert_eq!((counts.inserts(), counts.evictions(), counts.why_absent(|| 1)), (1, 1, Miss::Refused));
    }
}
