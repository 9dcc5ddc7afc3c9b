//! The last lookups of a cache of pages: whether a key comes again so soon that no size of the cache is too small for it.
//!
//! A full cache refuses a page at its first request. A larger one would have it at the second, but only until it is as full as this one. So
//! such a miss is no reason for a larger cache.

/// What was looked up since the start, when a key came last. Each place holds one key; one that is overwritten counts as long ago.
#[derive(Debug)]
pub(super) struct Recent {
    places: Box<[(u32, u32)]>,
    /// The weight of all lookups, in KiB. It may begin again at 0.
    looked_kib: u32,
    rest: u64,
}

/// 32 KiB.
const PLACES: usize = 1 << 12;

impl Recent {
    pub(super) fn new() -> Self {
        Self { places: vec![(0, 0); PLACES].into(), looked_kib: 0, rest: 0 }
    }

    /// Counts a lookup, and returns the bytes that were looked up since the last one of this key. `None`: that is not known.
    pub(super) fn look(&mut self, key: u64, weight: u64) -> Option<u64> {
        self.rest += weight;
        self.looked_kib = self.looked_kib.wrapping_add((self.rest >> 10) as u32);
        self.rest &= 1023;
        let mixed = (key ^ key >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let (place, print) = (mixed as usize % PLACES, ((mixed >> 32) as u32).max(1));
        let (there, at) = std::mem::replace(&mut self.places[place], (print, self.looked_kib));
        (there == print).then(|| u64::from(self.looked_kib.wrapping_sub(at)) << 10)
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_how_much_was_looked_up_since_a_key_came_last() {
        let mut recent = Recent::new();
        assert_eq!(recent.look(7, 4096), None);
        (100..110).for_each(|key| assert_eq!(recent.look(key, 2048), None));
        assert_eq!((recent.look(7, 4096), recent.look(7, 512)), (Some(24 << 10), Some(0)));
    }
}
