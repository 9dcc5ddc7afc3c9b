//! An in-memory cache with a bound. It evicts the least used entries.

use ahash::RandomState;
use quick_cache::sync::{Cache, PlaceholderGuard};
use quick_cache::{Equivalent, Lifecycle, OptionsBuilder, Weighter};
use std::hash::Hash;
use std::sync::Arc;
use telemetry::{Bound, Miss};

/// A cache with a bound. A hit clones an `Arc` and allocates nothing.
#[derive(Debug)]
pub(crate) struct BoundedCache<K, V> {
    cache: Cache<K, Arc<V>, Weigh<K, V>, RandomState, Collect>,
    hasher: RandomState,
    bound: Arc<Bound>,
}

/// Collects the entries that leave the cache when another one is stored. They are dropped after the lock is released.
#[derive(Debug, Clone)]
struct Collect;

impl<K, V> Lifecycle<K, Arc<V>> for Collect {
    type RequestState = Vec<(K, Arc<V>)>;

    fn on_evict(&self, gone: &mut Self::RequestState, key: K, value: Arc<V>) {
        gone.push((key, value));
    }
}

/// An entry's share of the bound.
#[derive(Debug)]
struct Weigh<K, V>(fn(&K, &V) -> u64);

impl<K, V> Clone for Weigh<K, V> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<K, V> Weighter<K, Arc<V>> for Weigh<K, V> {
    fn weight(&self, key: &K, value: &Arc<V>) -> u64 {
        (self.0)(key, value)
    }
}

type Guard<'a, K, V, W> = PlaceholderGuard<'a, K, V, W, RandomState, Collect>;

/// The turn of the one task that makes an entry while others wait for it. If it is dropped without a value, the next
/// task gets the turn.
pub(crate) struct Turn<'a, K, V> {
    guard: Guard<'a, K, Arc<V>, Weigh<K, V>>,
    /// The hash of the key.
    hash: u64,
    cache: &'a BoundedCache<K, V>,
}

impl<K: Eq + Hash, V> BoundedCache<K, V> {
    /// An empty cache for about this number of entries, whose total weight does not exceed the capacity of `bound`.
    pub(crate) fn new(bound: Arc<Bound>, entries: usize, weigh: fn(&K, &V) -> u64) -> Self {
        let hasher = RandomState::new();
        let cache = Cache::with(entries, bound.capacity(), Weigh(weigh), hasher.clone(), Collect);
        Self { cache, hasher, bound }
    }

    /// The same in one shard, so that one entry may take the whole bound.
    pub(crate) fn in_one_shard(bound: Arc<Bound>, entries: usize, weigh: fn(&K, &V) -> u64) -> Self {
        let capacity = bound.capacity();
        let options =
            OptionsBuilder::new().shards(1).estimated_items_capacity(entries).weight_capacity(capacity).build();
        let Ok(options) = options else { return Self::new(bound, entries, weigh) };
        let hasher = RandomState::new();
        Self { cache: Cache::with_options(options, Weigh(weigh), hasher.clone(), Collect), hasher, bound }
    }

    /// The bound.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The entry of this key, without counting the lookup.
    pub(crate) fn peek<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<Arc<V>> {
        self.cache.peek(key)
    }

    /// The entry of this key, if it is `valid`. Counts a hit or a miss.
    pub(crate) fn lookup<Q: Hash + Equivalent<K> + ?Sized>(
        &self,
        key: &Q,
        valid: impl FnOnce(&V) -> bool,
    ) -> Option<Arc<V>> {
        let found = self.cache.get(key);
        let counts = self.bound.cache();
        let miss = match &found {
            Some(found) if valid(found) => None,
            Some(_) => Some(Miss::Stale),
            None => Some(counts.why_absent(|| self.hasher.hash_one(key))),
        };
        match miss {
            None => counts.hit(),
            Some(kind) => counts.miss(kind),
        }
        found.filter(|_| miss.is_none())
    }

    /// Stores an entry and replaces an entry with the same key.
    pub(crate) fn insert(&self, key: K, value: Arc<V>) {
        let (hash, mut gone) = (self.hasher.hash_one(&key), Vec::new());
        self.cache.insert_with_lifecycle(key, value.clone(), &mut gone);
        self.count(hash, &value, &gone);
    }

    /// Removes the entry of this key, because it is no longer valid.
    pub(crate) fn remove<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) {
        if self.cache.remove(key).is_some() {
            self.bound.cache().outdate(self.hasher.hash_one(key));
        }
        self.observe();
    }

    /// Removes the entries that do not satisfy `keep`, because they are no longer valid.
    pub(crate) fn retain(&self, keep: impl Fn(&V) -> bool) {
        self.cache.retain(|key, value| {
            let keep = keep(value);
            if !keep {
                self.bound.cache().outdate(self.hasher.hash_one(key));
            }
            keep
        });
        self.observe();
    }

    /// Removes the entry of this key, if it satisfies `gone`.
    pub(crate) fn remove_if<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q, gone: impl FnOnce(&V) -> bool) {
        self.cache.remove_if(key, |there| gone(there));
        self.observe();
    }

    /// Removes this entry, unless another one has replaced it.
    pub(crate) fn remove_same<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q, value: &Arc<V>) {
        self.cache.remove_if(key, |there| Arc::ptr_eq(there, value));
        self.observe();
    }

    /// Returns the entry of this key, or the turn to make it. While another task has the turn, this waits. `stale`: an entry of this key was
    /// removed, because it was no longer valid. Counts a miss for the task that gets the turn; for an entry the caller does.
    pub(crate) async fn get_or_turn<'a>(&'a self, key: &K, stale: bool) -> Result<Arc<V>, Turn<'a, K, V>>
    where
        K: Clone,
    {
        self.cache.get_value_or_guard_async(key).await.map_err(|guard| {
            let (counts, hash) = (self.bound.cache(), self.hasher.hash_one(key));
            counts.miss(if stale { Miss::Stale } else { counts.why_absent(|| hash) });
            Turn { guard, hash, cache: self }
        })
    }

    fn count(&self, hash: u64, value: &Arc<V>, gone: &[(K, Arc<V>)]) {
        self.bound.cache().store(hash, value, gone, |key| self.hasher.hash_one(key));
        self.observe();
    }

    fn observe(&self) {
        self.bound.observe(self.cache.weight());
        self.bound.cache().observe(self.cache.len() as u64);
    }
}

impl<K: Eq + Hash, V> Turn<'_, K, V> {
    /// Stores the entry and returns it to all tasks that wait for it.
    pub(crate) fn insert(self, value: Arc<V>) {
        let mut gone = Vec::new();
        // If the key was removed meanwhile, no task waits.
        let _ = self.guard.insert_with_lifecycle(value.clone(), &mut gone);
        self.cache.count(self.hash, &value, &gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{BoundName, CacheCounts};

    fn counted(counts: &CacheCounts) -> [u64; 7] {
        let [absent, refused, stale] = [Miss::Absent, Miss::Refused, Miss::Stale].map(|miss| counts.misses(miss));
        [counts.hits(), absent, refused, stale, counts.inserts(), counts.evictions(), counts.entries()]
    }

    #[test]
    fn lookups_are_counted_with_the_reason_of_each_miss() {
        let bound = Bound::new(BoundName::Folders, "", 100);
        let cache = BoundedCache::<u32, u64>::in_one_shard(bound.clone(), 10, |_, value| *value);
        let find = |key: u32| cache.lookup(&key, |_| true).map(|value| *value);
        assert_eq!(find(1), None);
        cache.insert(1, Arc::new(10));
        assert_eq!(find(1), Some(10));
        assert!(cache.lookup(&1, |_| false).is_none(), "it is no longer valid");
        assert_eq!(counted(bound.cache()), [1, 1, 0, 1, 1, 0, 1]);

        cache.insert(2, Arc::new(1_000));
        assert_eq!(find(2), None, "it is too heavy");
        cache.insert(1, Arc::new(20));
        cache.remove(&1);
        assert_eq!(find(1), None, "it was removed because it was no longer valid");
        assert_eq!(counted(bound.cache()), [1, 1, 1, 2, 2, 0, 0]);

        (10..20).for_each(|key| cache.insert(key, Arc::new(30)));
        let [.., inserts, evictions, entries] = counted(bound.cache());
        assert_eq!((inserts, evictions + entries, bound.used()), (12, 10, entries * 30));
        assert!(entries <= 3);
    }

    #[tokio::test]
    async fn the_task_that_makes_an_entry_counts_the_miss_and_the_insert() {
        let bound = Bound::new(BoundName::Views, "", 100);
        let cache = BoundedCache::<u32, u64>::in_one_shard(bound.clone(), 10, |_, value| *value);
        for (value, inserts) in [(10, 1), (1_000, 1)] {
            let Err(turn) = cache.get_or_turn(&(value as u32), false).await else { panic!("it is there") };
            turn.insert(Arc::new(value));
            assert_eq!(bound.cache().inserts(), inserts);
        }
        assert!(cache.get_or_turn(&10, false).await.is_ok());
        assert!(cache.get_or_turn(&1_000, false).await.is_err(), "it was too heavy");
        assert_eq!(counted(bound.cache())[..4], [0, 2, 1, 0]);
    }
}
