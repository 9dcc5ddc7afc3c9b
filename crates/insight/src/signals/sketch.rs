//! About how many different texts were seen: HyperLogLog with 128 registers, a standard error of 9 %.

/// Bits of a hash that choose the register.
const BITS: u32 = 7;
const REGISTERS: usize = 1 << BITS;

/// Different texts, by their hashes. Two of them add up to that of both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sketch {
    /// For each register the highest rank: the zeros in front of a hash and one. `None`: there is no text yet.
    ranks: Option<Box<[u8; REGISTERS]>>,
}

impl Sketch {
    /// Adds a text. The hash has no seed, because sketches of different windows are added. A client that chooses texts
    /// which collide makes the count too small.
    pub(crate) fn add(&mut self, text: &str) {
        let hash = hash(text);
        let register = (hash >> (64 - BITS)) as usize;
        let zeros = (hash << BITS).leading_zeros().min(64 - BITS);
        let rank = &mut self.ranks.get_or_insert_with(|| Box::new([0; REGISTERS]))[register];
        *rank = (*rank).max(zeros as u8 + 1);
    }

    /// Adds the texts of another one.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (&mut self.ranks, &other.ranks) {
            (Some(mine), Some(theirs)) => {
                mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            }
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }

    /// About how many different texts there are.
    pub(crate) fn count(&self) -> u64 {
        let Some(ranks) = &self.ranks else { return 0 };
        let count = REGISTERS as f64;
        let sum: f64 = ranks.iter().map(|rank| 0.5f64.powi(i32::from(*rank))).sum();
        let estimate = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        let empty = ranks.iter().filter(|rank| **rank == 0).count();
        // Flajolet and others: below this the empty registers tell more.
        let linear = count * (count / empty.max(1) as f64).ln();
        if estimate <= 2.5 * count && empty > 0 { linear.round() as u64 } else { estimate.round() as u64 }
    }
}

/// FNV-1a with a final mix, so that the first bits differ as well.
fn hash(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    // The finaliser of SplitMix64.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_come_again_count_once_and_many_within_three_standard_errors() {
        for count in [0, 1, 10, 100, 1000, 20_000_u64] {
            let (mut one, mut other) = (Sketch::default(), Sketch::default());
            for n in (0..count).chain(0..count) {
                let into = if n % 2 == 0 { &mut one } else { &mut other };
                into.add(&format!("org/example/lamp/{n}"));
            }
            one.merge(&other);
            let error = (one.count() as f64 - count as f64).abs();
            assert!(error <= 1.0 + 0.27 * count as f64, "{count}: {}", one.count());
        }
    }
}
