//! Numbers that look random, the same ones each time (xorshift, Marsaglia 2003).

/// Numbers that look random.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random {
    /// Others for each seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
