//! How many different values a group has: a list of hashes while there are few, then HyperLogLog.

use serde::{Deserialize, Serialize};

/// Different values, by their hashes. Up to [`Distinct::FEW`] of them are counted exactly, more with a standard error of 1.6 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Distinct {
    /// The hashes.
    Few(Vec<u64>),
    /// Too many for a list.
    Many(Box<Registers>),
}

/// The registers of HyperLogLog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Registers {
    /// For each register the highest rank: the zeros in front of a hash and one.
    #[serde(with = "stored")]
    ranks: [u8; Distinct::REGISTERS],
    /// At most so many values differ: the hashes of the list, and all later ones.
    most: u64,
}

/// Ranks as a text with a letter for each.
mod stored {
    use super::{Deserialize, Distinct};
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    /// The letter of the rank 0. The highest rank is 53.
    const FIRST: u8 = b'0';

    pub(super) fn serialize<S: Serializer>(ranks: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&ranks.iter().map(|rank| char::from(FIRST + rank)).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; Distinct::REGISTERS], D::Error> {
        let text = String::deserialize(from)?;
        let ranks = text.bytes().map(|letter| letter.saturating_sub(FIRST).min(64)).collect::<Vec<_>>();
        ranks.try_into().map_err(|_| D::Error::custom("there are not as many registers as here"))
    }
}

impl Default for Distinct {
    fn default() -> Self {
        Distinct::Few(Vec::new())
    }
}

impl Distinct {
    /// The longest list.
    const FEW: usize = 64;
    /// The bits of a hash that choose the register.
    const BITS: u32 = 12;
    const REGISTERS: usize = 1 << Self::BITS;

    /// Adds the hash of a value. Returns the bytes of memory that this took.
    pub(super) fn add(&mut self, hash: u64) -> usize {
        match self {
            Distinct::Few(list) if list.contains(&hash) => 0,
            Distinct::Few(list) if list.len() < Self::FEW => {
                let before = list.capacity();
                list.push(hash);
                (list.capacity() - before) * size_of::<u64>()
            }
            Distinct::Few(_) | Distinct::Many(_) => self.widen(|registers| registers.add(hash)),
        }
    }

    /// Adds the values of another one, whose hashes have the same seed. Returns the bytes of memory that this took.
    pub(super) fn join(&mut self, other: &Distinct) -> usize {
        match other {
            Distinct::Few(list) => list.iter().map(|hash| self.add(*hash)).sum(),
            Distinct::Many(other) => self.widen(|registers| registers.join(other)),
        }
    }

    /// Adds to registers, which it then has.
    fn widen(&mut self, add: impl FnOnce(&mut Registers)) -> usize {
        match self {
            Distinct::Few(list) => {
                let mut registers = Box::new(Registers { ranks: [0; Self::REGISTERS], most: 0 });
                list.iter().for_each(|hash| registers.add(*hash));
                add(&mut registers);
                *self = Distinct::Many(registers);
                size_of::<Registers>()
            }
            Distinct::Many(registers) => {
                add(registers);
                0
            }
        }
    }

    /// The bytes of memory behind it.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Distinct::Few(list) => list.capacity() * size_of::<u64>(),
            Distinct::Many(_) => size_of::<Registers>(),
        }
    }

    /// How many different values there are: never more than were added.
    pub(super) fn count(&self) -> u64 {
        match self {
            Distinct::Few(list) => list.len() as u64,
            Distinct::Many(registers) => registers.estimate().min(registers.most),
        }
    }
}

impl Registers {
    fn add(&mut self, hash: u64) {
        let register = (hash >> (64 - Distinct::BITS)) as usize;
        let zeros = (hash << Distinct::BITS).leading_zeros().min(64 - Distinct::BITS);
        self.ranks[register] = self.ranks[register].max(zeros as u8 + 1);
        self.most += 1;
    }

    fn join(&mut self, other: &Registers) {
        self.ranks.iter_mut().zip(&other.ranks).for_each(|(mine, other)| *mine = (*mine).max(*other));
        self.most = self.most.saturating_add(other.most);
    }

    fn estimate(&self) -> u64 {
        let count = Distinct::REGISTERS as f64;
        let sum: f64 = self.ranks.iter().map(|rank| 0.5f64.powi(i32::from(*rank))).sum();
        let estimate = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        let empty = self.ranks.iter().filter(|rank| **rank == 0).count();
        // Flajolet and others: below this the empty registers tell more.
        let linear = count * (count / empty.max(1) as f64).ln();
        if estimate <= 2.5 * count && empty > 0 { linear.round() as u64 } else { estimate.round() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Seed;
    use std::hash::BuildHasher;

    #[test]
    fn few_values_are_counted_exactly_and_many_within_five_standard_errors() {
        for count in [0, 1, 64, 65, 500, 5000, 20_000, 300_000_i64] {
            let (mut distinct, seed) = (Distinct::default(), Seed::default());
            for n in (0..count).chain(0..count) {
                distinct.add(if count % 2 == 0 { seed.hash_one(n) } else { seed.hash_one(format!("rack-{n}")) });
            }
            let found = distinct.count() as f64;
            // Five standard errors, and a few hashes that share a register.
            let error = if count <= 64 { 0.0 } else { 4.0 + 0.08 * count as f64 };
            assert!((found - count as f64).abs() <= error, "{count}: {found}");
        }
    }

    #[test]
    fn there_are_never_more_values_than_were_added() {
        for count in 65..2000_i64 {
            let (mut distinct, seed) = (Distinct::default(), Seed::default());
            (0..count).for_each(|n| _ = distinct.add(seed.hash_one(n)));
            assert!(distinct.count() <= count.cast_unsigned(), "{count}: {}", distinct.count());
        }
    }
}
