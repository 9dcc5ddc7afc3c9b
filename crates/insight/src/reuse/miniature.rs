//! A small copy of a cache: it has a part of the size and sees the same part of the keys, so it answers the same share of lookups
//! (Waldspurger et al., "Cache modeling and optimization using miniature simulations", USENIX ATC 2017). No cache is touched.

use super::doorkeeper::Doorkeeper;
use super::policy::Shape;
use crate::hash::Seed;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};

/// An entry: what it takes, as the requests tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cached {
    /// Without compression, or whole.
    pub(super) plain: u32,
    /// The compressed form. 0: there is none.
    pub(super) coded: u32,
}

impl Cached {
    pub(super) fn weight(self) -> u64 {
        u64::from(self.plain) + u64::from(self.coded)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Weigh;

impl Weighter<u64, Cached> for Weigh {
    fn weight(&self, _: &u64, entry: &Cached) -> u64 {
        entry.weight()
    }
}

type Entries = Cache<u64, Cached, Weigh, Seed, DefaultLifecycle<u64, Cached>>;

/// A lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    /// The hash of the key.
    pub(crate) key: u64,
    /// What the answer takes, if the request tells.
    pub(crate) weight: Option<u32>,
    /// The real cache had no entry, or one that was no longer valid.
    pub(crate) missed: bool,
    /// The real cache had an entry that was no longer valid.
    pub(crate) stale: bool,
    /// The key came so recently that no size of the cache was too small for it.
    pub(crate) soon: bool,
}

/// A simulated cache of one size.
#[derive(Debug)]
pub(super) struct Miniature {
    pub(super) shape: Shape,
    /// The most entries.
    most: usize,
    /// A key is sampled if its hash begins with this many zero bits.
    zeros: u32,
    /// What an entry takes in the real cache, as a multiple of what requests tell.
    scale: f64,
    /// The same when `entries` were made: the number of evicted ones that they remember follows their capacity.
    scale_made: f64,
    entries: Entries,
    doorkeeper: Option<Doorkeeper>,
}

impl Miniature {
    /// An empty one of at most `most` entries.
    pub(super) fn new(shape: Shape, most: usize) -> Self {
        let (zeros, scale) = (0, 1.0);
        let doorkeeper = (shape.places > 0).then(|| Doorkeeper::new(shape.places.min(PLACES_MAX)));
        let entries = entries(&shape, zeros, scale, most);
        Self { shape, most, zeros, scale, scale_made: scale, entries, doorkeeper }
    }

    /// How many keys each sampled one stands for. `None`: this one is not sampled.
    pub(super) fn stands_for(&self, key: u64) -> Option<f64> {
        (key.leading_zeros() >= self.zeros).then(|| (1_u64 << self.zeros) as f64)
    }

    /// The entry of a key.
    pub(super) fn peek(&self, key: u64) -> Option<Cached> {
        self.entries.peek(&key)
    }

    /// Counts a lookup of a sampled key. `usual`: what its entry takes if it is stored. Returns whether it is a hit.
    pub(super) fn refer(&mut self, one: &Use, usual: Cached) -> bool {
        if let Some(there) = self.entries.get(&one.key) {
            // It was made again because it had changed, or nobody would know its new length.
            let changed = one.missed && one.weight.is_some_and(|weight| weight != there.plain);
            if !one.stale && !changed {
                if there != usual && there.coded == 0 {
                    let _ = self.entries.replace(one.key, usual, true);
                }
                return true;
            }
            self.entries.remove(&one.key);
        }
        if self.admits(one.key) && usual.weight() <= self.real(self.shape.heaviest) {
            self.entries.insert(one.key, usual);
            if self.entries.len() > self.most {
                self.sample_fewer();
            }
        }
        false
    }

    fn admits(&mut self, key: u64) -> bool {
        let Some(doorkeeper) = &mut self.doorkeeper else { return true };
        let roomy = self.shape.roomy as f64 / self.scale / (1_u64 << self.zeros) as f64;
        // The weight is a sum over all shards.
        roomy > 0.0 && (self.entries.weight() as f64) < roomy || doorkeeper.again(key)
    }

    /// A weight in the real cache, as requests tell it.
    fn real(&self, weight: u64) -> u64 {
        if weight == u64::MAX { weight } else { (weight as f64 / self.scale) as u64 }
    }

    /// What its entries take on average, as requests tell it.
    pub(super) fn mean(&self) -> Option<f64> {
        let entries = self.entries.len();
        (entries > 0).then(|| self.entries.weight() as f64 / entries as f64)
    }

    /// Sets what an entry takes in the real cache, as a multiple of what requests tell.
    pub(super) fn scale(&mut self, scale: f64) {
        // Smaller differences change nothing.
        if (scale / self.scale - 1.0).abs() > 0.01 {
            self.scale = scale;
            if (1.0 / SCALED_MAX..=SCALED_MAX).contains(&(self.scale_made / scale)) {
                self.entries.set_capacity(capacity(&self.shape, self.zeros, scale));
            } else {
                self.make_again();
            }
        }
    }

    /// Makes the entries again, with the keys that are still sampled.
    fn make_again(&mut self) {
        let again = entries(&self.shape, self.zeros, self.scale, self.most);
        let stays = |key: &u64| key.leading_zeros() >= self.zeros;
        self.entries.iter().filter(|(key, _)| stays(key)).for_each(|(key, entry)| again.insert(key, entry));
        (self.entries, self.scale_made) = (again, self.scale);
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Half of the keys are enough.
    pub(super) fn sample_fewer(&mut self) {
        self.zeros += 1;
        self.make_again();
        // Others come half as often between two requests for one page, too.
        let places = (self.shape.places >> self.zeros).clamp(PLACES_MIN, PLACES_MAX);
        self.doorkeeper.iter_mut().for_each(|doorkeeper| doorkeeper.shrink(places));
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.entries.memory_used().total() + self.doorkeeper.as_ref().map_or(0, Doorkeeper::bytes)
    }
}

/// The limits of the places of a doorkeeper.
const PLACES_MIN: usize = 1 << 6;
const PLACES_MAX: usize = 1 << 13;

/// The expected entries for each of the most. Half of them are remembered after their eviction, however few heavy ones there are.
const ITEMS_EACH: usize = 2;
/// A capacity changes by this factor before the entries are made again.
const SCALED_MAX: f64 = 1.5;

fn capacity(shape: &Shape, zeros: u32, scale: f64) -> u64 {
    (shape.size as f64 / (1_u64 << zeros) as f64 / scale) as u64
}

fn entries(shape: &Shape, zeros: u32, scale: f64, most: usize) -> Entries {
    let capacity = capacity(shape, zeros, scale);
    let options = OptionsBuilder::new()
        .shards((shape.parts >> zeros).max(1))
        .estimated_items_capacity((shape.items >> zeros).min(most.saturating_mul(ITEMS_EACH)))
        .weight_capacity(capacity)
        .build();
    match options {
        Ok(options) => Cache::with_options(options, Weigh, Seed::default(), DefaultLifecycle::default()),
        Err(_) => Cache::with(0, capacity, Weigh, Seed::default(), DefaultLifecycle::default()),
    }
}
