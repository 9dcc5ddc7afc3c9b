//! Remembers which pages were requested once. When a cache is nearly full, it admits a page only at the second request.
//! Crawlers, scanners and changing queries request most pages only once, and would evict the pages that many clients
//! use.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// Each entry holds 16 bits of the last hash that was written to it. The table never grows. If a hash is overwritten,
/// its page is admitted one request later; one in 65,536 new hashes is mistaken for a known one. Both are harmless.
#[derive(Debug)]
pub(super) struct Doorkeeper(Box<[AtomicU16]>);

impl Doorkeeper {
    /// Entries for each page that the cache may hold: about this many other pages may be requested between two requests
    /// for one page.
    const EACH: usize = 8;
    const LEAST: usize = 1 << 10;
    /// 2 MiB.
    const MOST: usize = 1 << 20;

    /// A doorkeeper for a cache of this many pages.
    pub(super) fn new(pages: usize) -> Self {
        let places = pages.saturating_mul(Self::EACH).clamp(Self::LEAST, Self::MOST).next_power_of_two();
        Self((0..places).map(|_| AtomicU16::new(0)).collect())
    }

    /// Whether this hash is remembered. Adds it if not.
    pub(super) fn again(&self, hash: u64) -> bool {
        // The index and the fingerprint are taken from opposite ends of the hash. A fingerprint is never 0, which marks
        // an empty entry.
        let place = &self.0[hash as usize & (self.0.len() - 1)];
        let print = ((hash >> 48) as u16).max(1);
        place.load(Relaxed) == print || {
            place.store(print, Relaxed);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_cache::DefaultHashBuilder;
    use std::hash::BuildHasher;

    #[test]
    fn it_remembers_the_last_hashes_and_mistakes_few_new_ones_for_known() {
        let (doorkeeper, hasher) = (Doorkeeper::new(1000), DefaultHashBuilder::default());
        let others = 200_000_u64;
        let known = (0..others).filter(|other| doorkeeper.again(hasher.hash_one(other))).count();
        assert!(known < 100, "{known} of {others}");
        assert!(doorkeeper.again(hasher.hash_one(others - 1)));
    }

    #[test]
    fn its_table_is_small_whatever_the_cache() {
        assert_eq!(Doorkeeper::new(0).0.len(), Doorkeeper::LEAST);
        assert_eq!(Doorkeeper::new(usize::MAX).0.len(), Doorkeeper::MOST);
    }
}
