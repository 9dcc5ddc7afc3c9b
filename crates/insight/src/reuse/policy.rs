//! How caches choose their entries, so that a miniature of another size chooses as they do. A test of the suite compares both.

use crate::hash::Seed;
use quick_cache::UnitWeighter;
use quick_cache::sync::{Cache, DefaultLifecycle};

/// A cache whose policy is simulated. All of them evict as `quick_cache` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Pages that were found (`front/src/pages/page_cache.rs`): admitted at once while half of the space is free, else on the second request.
    Pages,
    /// Pages with status 404: admitted on the second request.
    MissingPages,
    /// Whatever was asked for is stored, and counts as one entry of the size.
    Entries,
    /// Whatever was asked for is stored. The cache expects this number of entries, whatever its size.
    Expecting(usize),
}

/// A cache with one of its possible sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Its size, in the unit of its bound.
    pub(super) size: u64,
    /// The expected number of entries, from which the number of remembered evicted ones derives.
    pub(super) items: usize,
    /// Parts with a capacity of their own.
    pub(super) parts: usize,
    /// A heavier entry is not stored.
    pub(super) heaviest: u64,
    /// While the entries take less, each one is admitted.
    pub(super) roomy: u64,
    /// Places of the doorkeeper. 0: the cache has none.
    pub(super) places: usize,
}

/// The heaviest page of the largest cache.
const HEAVIEST: u64 = 4 << 20;
/// From this the cache of pages derives its expected number of entries.
const TYPICAL: u64 = 4 << 10;
/// The places of its doorkeeper for each of them, and the limits of their number.
const PLACES_EACH: usize = 8;
const PLACES: (usize, usize) = (1 << 10, 1 << 20);

impl Policy {
    /// A cache of this size.
    pub(super) fn shape(self, size: u64) -> Shape {
        let number = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        let items = match self {
            Self::Pages | Self::MissingPages => number(size / TYPICAL),
            Self::Entries => number(size),
            Self::Expecting(items) => items,
        };
        // Empty, it takes next to no memory. It tells how many parts a cache of this size has on this machine.
        let whole: Cache<u64, (), _, _> =
            Cache::with(items, size, UnitWeighter, Seed::default(), DefaultLifecycle::default());
        let shape = Shape { size, items, parts: whole.num_shards(), heaviest: u64::MAX, roomy: u64::MAX, places: 0 };
        let places = items.saturating_mul(PLACES_EACH).clamp(PLACES.0, PLACES.1).next_power_of_two();
        let heaviest = (size / 64).min(HEAVIEST).min(whole.shard_capacity() / 2);
        match self {
            Self::Pages => Shape { heaviest, roomy: size / 2, places, ..shape },
            Self::MissingPages => Shape { heaviest, roomy: 0, places, ..shape },
            Self::Entries | Self::Expecting(_) => shape,
        }
    }
}
