//! Where pages stand: a cache bounded in bytes, with a door that lets in what was asked for twice once there is little room.

use super::doorkeeper::Door;
use super::page::Page;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Equivalent, Weighter};
use std::hash::BuildHasher;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Recorder};

/// What a page is found by. Compared in full: a colliding hash gives nobody another's page.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    path: Box<str>,
    query: Option<Box<str>>,
    class: u64,
}

/// A [`Key`] that is not kept. Fields and their order are the same, so that it hashes alike.
#[derive(Debug, Hash)]
pub(super) struct Wanted<'a> {
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
    pub(super) class: u64,
}

impl Wanted<'_> {
    /// The same, to keep.
    pub(super) fn key(&self) -> Key {
        Key { path: self.path.into(), query: self.query.map(Box::from), class: self.class }
    }

    /// Bytes that the key takes.
    pub(super) fn weight(&self) -> usize {
        self.path.len() + self.query.map_or(0, str::len)
    }
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.class == key.class && self.query == key.query.as_deref() && self.path == &*key.path
    }
}

#[derive(Clone)]
pub(super) struct Weight;

impl<S> Weighter<Key, Arc<Page<S>>> for Weight {
    fn weight(&self, _: &Key, page: &Arc<Page<S>>) -> u64 {
        page.weight
    }
}

/// Pages of one kind.
pub(super) struct Shelf<S> {
    cache: Cache<Key, Arc<Page<S>>, Weight>,
    /// Weight of the heaviest page that is kept.
    heaviest: u64,
    /// While its pages take less than this, whoever comes is let in.
    roomy: u64,
    door: Door,
    hasher: DefaultHashBuilder,
    bound: Arc<Bound>,
}

impl<S> Shelf<S> {
    /// A page takes at most a 64th of a shelf, and never more than this.
    const HEAVIEST: u64 = 4 << 20;
    /// For the size of the tables: an index of a gem is about this large.
    const TYPICAL: u64 = 4 << 10;

    /// A shelf for `bytes` of pages, which tells `recorder` how full it is. Up to `roomy` bytes of them come in at once.
    pub(super) fn new(which: &str, (bytes, roomy): (u64, u64), recorder: &Recorder) -> Self {
        let items = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        let hasher = DefaultHashBuilder::default();
        let cache = Cache::with(items, bytes, Weight, hasher.clone(), DefaultLifecycle::default());
        let heaviest = (bytes / 64).min(Self::HEAVIEST).min(cache.shard_capacity() / 2);
        let bound = Bound::new(BoundName::Pages, which, bytes);
        recorder.register(bound.clone());
        Self { cache, heaviest, roomy, door: Door::new(items), hasher, bound }
    }

    /// Whether this may come in: while it drives nobody out, and else if it was wanted before, as far as is remembered. From
    /// now on it was.
    pub(super) fn lets_in(&self, wanted: &Wanted<'_>) -> bool {
        self.bound.used() < self.roomy || self.door.again(self.hasher.hash_one(wanted))
    }

    pub(super) fn get(&self, wanted: &Wanted<'_>) -> Option<Arc<Page<S>>> {
        self.cache.get(wanted)
    }

    /// Puts a page here, unless it is too heavy.
    pub(super) fn put(&self, wanted: &Wanted<'_>, page: Page<S>) {
        if page.weight <= self.heaviest {
            self.cache.insert(wanted.key(), Arc::new(page));
            self.observe();
        }
    }

    /// Puts `new` in the place of `old`, if that is still here and `new` is not too heavy.
    pub(super) fn replace(&self, key: Key, old: &Arc<Page<S>>, new: Page<S>) {
        if new.weight <= self.heaviest && self.cache.peek(&key).is_some_and(|there| Arc::ptr_eq(&there, old)) {
            // A newer page that came in between is lost, but not for long: `new` has the stamp of `old`, which no longer
            // holds then, so it goes when it is next wanted.
            let _ = self.cache.replace(key, Arc::new(new), true);
            self.observe();
        }
    }

    /// Takes `page` away. Only this one: another may stand there already.
    pub(super) fn remove(&self, wanted: &Wanted<'_>, page: &Arc<Page<S>>) {
        self.cache.remove_if(wanted, |there| Arc::ptr_eq(there, page));
        self.observe();
    }

    /// Bytes that its pages take.
    #[cfg(test)]
    pub(super) fn weight(&self) -> u64 {
        self.bound.used()
    }

    fn observe(&self) {
        self.bound.observe(self.cache.weight());
    }
}
