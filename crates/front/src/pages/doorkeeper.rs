//! Who came once: where there is little room, a page is kept from the second request on. Most of what is asked for once is never
//! asked for again (a crawler, a scanner, a query that changes with each request), and would drive out what everyone wants.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// 16 bits of the hash of whatever came last to each place of a table that never grows. Forgetting costs a page its
/// second chance, and one in 65,536 strangers is taken for somebody known: neither does harm.
#[derive(Debug)]
pub(super) struct Doorkeeper(Box<[AtomicU16]>);

impl Doorkeeper {
    /// Places for each page that the shelf may hold: so many strangers may come between two visits, about.
    const EACH: usize = 8;
    const LEAST: usize = 1 << 10;
    /// 2 MiB.
    const MOST: usize = 1 << 20;

    /// The doorkeeper of a shelf for so many pages.
    pub(super) fn new(pages: usize) -> Self {
        let places = pages.saturating_mul(Self::EACH).clamp(Self::LEAST, Self::MOST).next_power_of_two();
        Self((0..places).map(|_| AtomicU16::new(0)).collect())
    }

    /// Whether the one with this hash came before and is remembered.
    pub(super) fn again(&self, hash: u64) -> bool {
        // The place and the print are taken from opposite ends; no print is what an empty place holds.
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
    fn it_knows_who_came_last_and_takes_few_strangers_for_somebody_known() {
        let (doorkeeper, hasher) = (Doorkeeper::new(1000), DefaultHashBuilder::default());
        let strangers = 200_000_u64;
        let known = (0..strangers).filter(|stranger| doorkeeper.again(hasher.hash_one(stranger))).count();
        assert!(known < 100, "{known} of {strangers}");
        assert!(doorkeeper.again(hasher.hash_one(strangers - 1)));
    }

    #[test]
    fn its_table_is_small_whatever_the_shelf() {
        assert_eq!(Doorkeeper::new(0).0.len(), Doorkeeper::LEAST);
        assert_eq!(Doorkeeper::new(usize::MAX).0.len(), Doorkeeper::MOST);
    }
}
