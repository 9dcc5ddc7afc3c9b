//! Pseudo-random numbers that are the same in every run (SplitMix64, public domain algorithm of Steele, Lea and Flood).

/// A stream of numbers.
pub(crate) struct Random(u64);

impl Random {
    /// The stream with this number of this seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to less than 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From 0 to less than `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }

    /// True in `percent` of all cases.
    pub(crate) fn chance(&mut self, percent: f64) -> bool {
        self.unit() * 100.0 < percent
    }

    /// One of these values.
    pub(crate) fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())]
    }

    /// 1 or more, with this mean, from a geometric distribution.
    pub(crate) fn geometric(&mut self, mean: f64) -> usize {
        1 + ((1.0 - self.unit()).ln() / (1.0 - 1.0 / mean).ln()) as usize
    }
}
