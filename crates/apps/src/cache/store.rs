//! The stored responses of an application, bounded in bytes. All responses of a URL are one entry, so a lookup is one hash and a comparison
//! of the headers that select among them.

use super::key::{Key, KeyRef};
use super::purges::Purges;
use super::rules::fields::Fields;
use super::stored::Stored;
use front::KernelCopies;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Lifecycle, Weighter};
use std::cell::Cell;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Miss, Recorder, lock};

/// A body takes at most a 64th of the store, and never more than this.
const LARGEST: u64 = 8 << 20;
/// The heads of an entry take at most this much.
const HEADS: u64 = 64 << 10;
/// Used for the size of the tables.
const TYPICAL: u64 = 8 << 10;
/// The most bodies with a copy in the kernel's memory. Each takes a descriptor.
const COPIES: u64 = 256;
/// The most responses of one URL. The one that was stored first makes room.
const VARIANTS: usize = 32;

/// The responses of a URL, the newest first.
#[derive(Debug)]
pub(crate) struct Variants {
    list: Vec<Arc<Stored>>,
    weight: u64,
}

/// What a lookup found.
#[derive(Debug)]
pub(crate) enum Found {
    /// The response for these headers, fresh or not.
    Response(Arc<Stored>),
    /// Only responses for other headers.
    Others(Arc<Variants>),
    /// Nothing, and why.
    Nothing(Miss),
}

/// The stored responses of an application.
pub(crate) struct Store {
    cache: Cache<Key, Arc<Variants>, Weight, DefaultHashBuilder, Collect>,
    largest: usize,
    heaviest: u64,
    hasher: DefaultHashBuilder,
    bound: Arc<Bound>,
    copies: KernelCopies,
    /// Held while the responses of a URL change.
    turn: Mutex<()>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<Variants>> for Weight {
    fn weight(&self, _: &Key, variants: &Arc<Variants>) -> u64 {
        variants.weight
    }
}

/// Collects the entries that leave the store when another one is added.
#[derive(Clone)]
struct Collect;

impl Lifecycle<Key, Arc<Variants>> for Collect {
    type RequestState = Vec<(Key, Arc<Variants>)>;

    fn on_evict(&self, gone: &mut Self::RequestState, key: Key, variants: Arc<Variants>) {
        gone.push((key, variants));
    }
}

impl Store {
    /// A store of `bytes` for the application `app`, whose bound is registered at `recorder`.
    pub(crate) fn new(app: &str, bytes: u64, recorder: &Recorder) -> Self {
        let items = usize::try_from(bytes / TYPICAL).unwrap_or(usize::MAX).max(64);
        let hasher = DefaultHashBuilder::default();
        let cache = Cache::with(items, bytes, Weight, hasher.clone(), Collect);
        let largest = (bytes / 64).min(LARGEST);
        // A body may also have a copy in the kernel's memory.
        let heaviest = (2 * largest + HEADS).min(cache.shard_capacity() / 2);
        let largest = usize::try_from(largest.min(heaviest / 2)).unwrap_or(usize::MAX);
        let bound = Bound::new(BoundName::AppCache, app, bytes);
        recorder.register(bound.clone());
        Self {
            cache,
            largest,
            heaviest,
            hasher,
            bound,
            copies: KernelCopies::new(app, COPIES, recorder),
            turn: Mutex::new(()),
        }
    }

    /// Its figures.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The copies of large bodies for the kernel.
    pub(crate) fn copies(&self) -> &KernelCopies {
        &self.copies
    }

    /// The most bytes that a body may have.
    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    /// Looks for the response to a request with these headers.
    pub(crate) fn find(&self, key: &KeyRef<'_>, request: &dyn Fields, purges: &Purges) -> Found {
        let Some(variants) = self.cache.get(key) else {
            return Found::Nothing(self.bound.cache().why_absent(|| self.hasher.hash_one(key)));
        };
        match variants.list.iter().find(|stored| stored.is_for(request) && purges.holds(&stored.stamp)) {
            Some(stored) => Found::Response(stored.clone()),
            None if variants.list.iter().any(|stored| purges.holds(&stored.stamp)) => Found::Others(variants),
            None => Found::Nothing(Miss::Stale),
        }
    }

    /// Stores a response to a request with these headers, in place of the one that answered such requests. Returns whether it is stored:
    /// not if it is too heavy, if it was purged while it came, or if a later one is there.
    pub(crate) fn put(&self, key: &KeyRef<'_>, request: &dyn Fields, stored: Arc<Stored>, purges: &Purges) -> bool {
        // Freed after the turn.
        let mut gone = Vec::new();
        let _turn = lock(&self.turn);
        let owned = key.key();
        let mut weight = owned.weight() as u64 + size_of::<Variants>() as u64 + stored.weight;
        let known = self.cache.peek(key);
        let known = known.iter().flat_map(|variants| &variants.list).filter(|known| purges.holds(&known.stamp));
        let (replaced, others): (Vec<_>, Vec<_>) = known.partition(|known| known.is_for(request));
        let is_late = replaced.iter().any(|known| known.freshness.answered() > stored.freshness.answered());
        if weight > self.heaviest || stored.body.len() > self.largest || is_late || !purges.holds(&stored.stamp) {
            self.bound.cache().refuse(self.hasher.hash_one(key));
            return false;
        }
        let mut list = vec![stored];
        for other in others.into_iter().take(VARIANTS - 1) {
            if weight + other.weight <= self.heaviest {
                weight += other.weight;
                list.push(other.clone());
            }
        }
        let (hash, variants) = (self.hasher.hash_one(key), Arc::new(Variants { list, weight }));
        self.cache.insert_with_lifecycle(owned, variants.clone(), &mut gone);
        self.bound.cache().store(hash, &variants, &gone, |key| self.hasher.hash_one(key));
        self.observe();
        !gone.iter().any(|(_, other)| Arc::ptr_eq(other, &variants))
    }

    /// Removes the entries that no longer hold. Returns how many responses there were that `is_meant`.
    pub(crate) fn sweep(&self, purges: &Purges, is_meant: impl Fn(&KeyRef<'_>, &Stored) -> bool) -> u64 {
        let _turn = lock(&self.turn);
        let meant = Cell::new(0);
        self.cache.retain(|key, variants| {
            let key = key.borrowed();
            let mut holds = false;
            for stored in &variants.list {
                let this = purges.holds(&stored.stamp);
                holds |= this;
                meant.set(meant.get() + u64::from(!this && stored.stamp.sweep() && is_meant(&key, stored)));
            }
            holds
        });
        self.observe();
        meant.get()
    }

    fn observe(&self) {
        self.bound.observe(self.cache.weight());
        self.bound.cache().observe(self.cache.len() as u64);
    }
}

impl Variants {
    /// The response that was stored last.
    pub(crate) fn newest(&self) -> Option<&Stored> {
        self.list.first().map(|stored| &**stored)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("bound", &self.bound).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
