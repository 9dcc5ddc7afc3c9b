//! An in-memory cache with a bound. It evicts the least used entries.

use quick_cache::sync::{Cache, DefaultLifecycle, PlaceholderGuard};
use quick_cache::{DefaultHashBuilder, Equivalent, OptionsBuilder, Weighter};
use std::hash::Hash;
use std::sync::Arc;
use telemetry::Bound;

/// A cache with a bound. A hit clones an `Arc` and allocates nothing.
#[derive(Debug)]
pub(crate) struct BoundedCache<K, V> {
    cache: Cache<K, Arc<V>, Weigh<K, V>>,
    bound: Arc<Bound>,
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

type Guard<'a, K, V, W> = PlaceholderGuard<'a, K, V, W, DefaultHashBuilder, DefaultLifecycle<K, V>>;

/// The turn of the one task that makes an entry while others wait for it. If it is dropped without a value, the next
/// task gets the turn.
pub(crate) struct Turn<'a, K, V> {
    guard: Guard<'a, K, Arc<V>, Weigh<K, V>>,
    cache: &'a BoundedCache<K, V>,
}

impl<K: Eq + Hash, V> BoundedCache<K, V> {
    /// An empty cache for about this number of entries, whose total weight does not exceed the capacity of `bound`.
    pub(crate) fn new(bound: Arc<Bound>, entries: usize, weigh: fn(&K, &V) -> u64) -> Self {
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self { cache: Cache::with(entries, bound.capacity(), Weigh(weigh), hasher, lifecycle), bound }
    }

    /// The same in one shard, so that one entry may take the whole bound.
    pub(crate) fn in_one_shard(bound: Arc<Bound>, entries: usize, weigh: fn(&K, &V) -> u64) -> Self {
        let capacity = bound.capacity();
        let options =
            OptionsBuilder::new().shards(1).estimated_items_capacity(entries).weight_capacity(capacity).build();
        let Ok(options) = options else { return Self::new(bound, entries, weigh) };
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self { cache: Cache::with_options(options, Weigh(weigh), hasher, lifecycle), bound }
    }

    /// The bound.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The entry of this key.
    pub(crate) fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<Arc<V>> {
        self.cache.get(key)
    }

    /// Stores an entry and replaces an entry with the same key.
    pub(crate) fn insert(&self, key: K, value: Arc<V>) {
        self.cache.insert(key, value);
        self.observe();
    }

    /// Removes the entry of this key.
    pub(crate) fn remove<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) {
        self.cache.remove(key);
        self.observe();
    }

    /// Removes the entries that do not satisfy `keep`.
    pub(crate) fn retain(&self, keep: impl Fn(&V) -> bool) {
        self.cache.retain(|_, value| keep(value));
        self.observe();
    }

    /// Removes this entry, unless another one has replaced it.
    pub(crate) fn remove_same<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q, value: &Arc<V>) {
        self.cache.remove_if(key, |there| Arc::ptr_eq(there, value));
        self.observe();
    }

    /// Returns the entry of this key, or the turn to make it. While another task has the turn, this waits.
    pub(crate) async fn get_or_turn<'a>(&'a self, key: &K) -> Result<Arc<V>, Turn<'a, K, V>>
    where
        K: Clone,
    {
        self.cache.get_value_or_guard_async(key).await.map_err(|guard| Turn { guard, cache: self })
    }

    fn observe(&self) {
        self.bound.observe(self.cache.weight());
    }
}

impl<K: Eq + Hash, V> Turn<'_, K, V> {
    /// Stores the entry and returns it to all tasks that wait for it.
    pub(crate) fn insert(self, value: Arc<V>) {
        // If the key was removed meanwhile, no task waits.
        let _ = self.guard.insert(value);
        self.cache.observe();
    }
}
