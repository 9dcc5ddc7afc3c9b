//! The sampled keys of one cache, with their weights and the order of their last use.

use super::pace::Pace;
use super::recency::Recency;
use crate::hash::HashedMap;
use telemetry::Tick;

/// The weight of a key whose weight no request has told yet.
const UNKNOWN: u64 = 4 << 10;
/// This many uses of sampled keys cost a millisecond of processor time. If they come within a second, half of the keys are enough.
const USES_A_SECOND: u32 = 4096;
/// With so few keys they cost less.
const FEW: usize = 64;
/// The largest weight, so that sums of them do not overflow.
const WEIGHT_MAX: u64 = 1 << 40;

/// The sampled keys of one cache.
#[derive(Debug)]
pub(crate) struct Shards {
    most: usize,
    /// A key is sampled if its hash begins with this many zero bits.
    zeros: u32,
    keys: HashedMap<Key>,
    order: Recency,
    /// How fast sampled keys are used.
    pace: Pace,
}

#[derive(Debug, Clone, Copy)]
struct Key {
    position: u32,
    weight: u64,
}

/// A use of a sampled key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reuse {
    /// The weight of the keys that were used since its last use, its own included. `None`: this is its first use.
    pub(crate) distance: Option<u64>,
    /// How many uses this one stands for.
    pub(crate) uses: f64,
}

impl Shards {
    /// Follows at most `most` keys. Memory is taken at the first use of a key: 40 bytes for each of them.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, zeros: 0, keys: HashedMap::default(), order: Recency::new(0), pace: Pace::new(USES_A_SECOND) }
    }

    /// Whether the key with this hash is sampled.
    pub(crate) fn samples(&self, hash: u64) -> bool {
        hash.leading_zeros() >= self.zeros
    }

    /// Counts a use of the key with this hash at this time. `weight`: its weight, if the request tells it. `None`: it is not sampled.
    pub(crate) fn refer(&mut self, hash: u64, weight: Option<u64>, now: Tick) -> Option<Reuse> {
        if !self.samples(hash) {
            return None;
        }
        let scale = 1_u64 << self.zeros;
        let former = self.keys.get(&hash).copied();
        let weight = weight.or_else(|| former.map(|key| key.weight)).unwrap_or(UNKNOWN).clamp(1, WEIGHT_MAX);
        let distance = former.map(|key| {
            let newer = self.order.after(key.position);
            self.order.remove(key.position, key.weight);
            // Of the sampled keys themselves this one is a part that is not to be multiplied.
            newer.saturating_mul(scale).saturating_add(weight)
        });
        let position = match self.order.push(weight) {
            Some(position) => position,
            None => {
                self.keys.remove(&hash);
                self.pack();
                self.order.push(weight)?
            }
        };
        self.keys.insert(hash, Key { position, weight });
        if self.keys.len() > self.most || (self.pace.is_busy(now) && self.keys.len() > FEW) {
            self.zeros += 1;
            let zeros = self.zeros;
            self.keys.retain(|hash, _| hash.leading_zeros() >= zeros);
            self.pack();
        }
        Some(Reuse { distance, uses: scale as f64 })
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        // A table has an eighth to a half of its places free.
        self.keys.capacity() * 8 / 7 * (size_of::<u64>() + size_of::<Key>() + 1) + self.order.bytes()
    }

    /// Gives all keys the lowest positions, in the same order.
    fn pack(&mut self) {
        self.order = Recency::new(2 * self.most);
        let mut keys: Vec<&mut Key> = self.keys.values_mut().collect();
        keys.sort_unstable_by_key(|key| key.position);
        for key in keys {
            key.position = self.order.push(key.weight).unwrap_or_default();
        }
    }
}
