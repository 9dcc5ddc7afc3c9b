//! The doorkeeper of a simulated cache of pages: it remembers which pages were requested once, as that of `front/src/pages` does.

/// The last hash at each place, 16 bits of it.
#[derive(Debug)]
pub(super) struct Doorkeeper(Box<[u16]>);

impl Doorkeeper {
    /// A doorkeeper with this number of places, a power of two.
    pub(super) fn new(places: usize) -> Self {
        Self(vec![0; places].into())
    }

    /// Whether this key is remembered. Adds it if not.
    pub(super) fn again(&mut self, key: u64) -> bool {
        // The keys of a sample begin with the same bits.
        let mixed = (key ^ key >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let place = mixed as usize & (self.0.len() - 1);
        let print = ((mixed >> 48) as u16).max(1);
        std::mem::replace(&mut self.0[place], print) == print
    }

    /// Keeps at least this number of places, a power of two. Keys that are remembered mostly stay so.
    pub(super) fn shrink(&mut self, places: usize) {
        while self.0.len() > places {
            let (low, high) = self.0.split_at(self.0.len() / 2);
            self.0 = low.iter().zip(high).map(|(low, high)| if *low > 0 { *low } else { *high }).collect();
        }
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_a_key_that_came_before_also_if_all_begin_with_the_same_bits() {
        let mut doorkeeper = Doorkeeper::new(1 << 12);
        let key = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12;
        let known = (0..20_000).filter(|number| doorkeeper.again(key(*number))).count();
        assert!(known < 20, "{known}");
        assert!(doorkeeper.again(key(19_999)));
        let mut sparse = Doorkeeper::new(1 << 12);
        (0..100).for_each(|number| assert!(!sparse.again(key(number))));
        sparse.shrink(1 << 10);
        let known = (0..100).filter(|number| sparse.again(key(*number))).count();
        assert!(sparse.0.len() == 1 << 10 && known > 80, "{known}");
    }
}
