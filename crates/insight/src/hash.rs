//! A fast hash for tables whose keys clients choose. Its seed is random, so clients cannot choose paths whose hashes collide.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::LazyLock;

/// A table with the fast hash.
pub(crate) type FastMap<K, V> = HashMap<K, V, Seed>;

/// A table whose keys are hashes already.
pub(crate) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<Hashed>>;

/// The seed of the hash of one table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(u64);

impl Seed {
    /// A seed that several machines share.
    pub(crate) fn shared(seed: u64) -> Self {
        Self(seed)
    }
}

impl Default for Seed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Seed {
    type Hasher = Fold;

    fn build_hasher(&self) -> Fold {
        Fold(self.0)
    }
}

/// Multiplies and folds the halves of the product.
#[derive(Debug)]
pub(crate) struct Fold(u64);

impl Fold {
    fn add(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, 0x9e37_79b9_7f4a_7c15);
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last));
        self.add(bytes.len() as u64);
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_i64(&mut self, number: i64) {
        self.add(number.cast_unsigned());
    }

    // Follows the bytes of a text.
    fn write_u8(&mut self, _number: u8) {}

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        fold(self.0, 0xd6e8_feb8_6659_fd93)
    }
}

/// One seed for all texts whose hashes are kept or compared beyond one table.
static TEXTS: LazyLock<Seed> = LazyLock::new(Seed::default);

/// The hash of texts, the same everywhere until the process ends.
pub(crate) fn hash_of(texts: &[&str]) -> u64 {
    let mut hasher = TEXTS.build_hasher();
    texts.iter().for_each(|text| hasher.write(text.as_bytes()));
    hasher.finish()
}

/// Whether two texts are the same. Empty ones have no memory, and a processor that compares as if they had takes a hundred cycles.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && (one.is_empty() || std::ptr::eq(one, other) || one == other)
}

/// Takes a hash as it is.
#[derive(Debug, Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    // Only whole hashes are keys.
    fn write(&mut self, _bytes: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    // The first bits of the keys may all be 0, and a table marks its places with the first bits.
    fn finish(&self) -> u64 {
        self.0.rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn texts_and_numbers_that_differ_have_different_hashes() {
        let seed = Seed(1);
        let texts: HashSet<u64> = (0..100_000).map(|n| seed.hash_one(format!("/gems/lamp-{n}.gem"))).collect();
        let numbers: HashSet<u64> = (0..100_000_i64).map(|n| seed.hash_one(n * 1024)).collect();
        assert_eq!((texts.len(), numbers.len()), (100_000, 100_000));
    }

    #[test]
    fn numbers_in_a_row_are_spread_over_all_bits() {
        let seed = Seed(7);
        // A table takes its place from the low bits and a mark from the high ones.
        for shift in [0, 57] {
            let places: HashSet<u64> = (0..1000_u64).map(|n| (seed.hash_one(n) >> shift) & 127).collect();
            assert!(places.len() > 120, "{}", places.len());
        }
    }

    #[test]
    fn texts_are_the_same_if_all_bytes_are() {
        let lamp = String::from("lamp");
        assert!(same(&lamp, "lamp") && same(&lamp, &lamp) && same("", &lamp[4..]));
        assert!(!same(&lamp, "lams") && !same(&lamp, "lam") && !same("", &lamp));
        assert_eq!(hash_of(&[&lamp]), hash_of(&["lamp"]));
        assert_ne!(hash_of(&["la", "mp"]), hash_of(&["lam", "p"]));
    }

    #[test]
    fn two_tables_have_different_seeds() {
        assert_ne!(Seed::default().hash_one(1_u64), Seed::default().hash_one(1_u64));
    }
}
