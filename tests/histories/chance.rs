//! What chance decides in a history. The same seed makes the same decisions again; the order in which threads act is not one of them.

/// The decisions of one thread (SplitMix64).
pub(super) struct Chance(u64);

impl Chance {
    /// Those of a thread of a history.
    pub(super) fn of(seed: u64, history: usize, thread: usize) -> Self {
        let mut chance = Self(seed);
        for number in [history, thread] {
            chance.0 = chance.next() ^ number as u64;
        }
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number that is less than this one.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}
