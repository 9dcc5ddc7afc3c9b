//! Where pages stand: a cache bounded in bytes, with a doorkeeper that lets in what was asked for twice once there is little room.

use super::doorkeeper::Doorkeeper;
use super::page::Page;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Equivalent, Weighter};
use std::hash::BuildHasher;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Recorder};

/// What a page is found by. Compared in full: a colliding hash gives nobody another's page.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PageKey {
    path: Box<str>,
    query: Option<Box<str>>,
    class: u64,
}

/// A [`PageKey`] that is not kept. Fields and their order are the same, so that it hashes alike.
#[derive(Debug, Hash)]
pub(super) struct PageKeyRef<'a> {
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
    pub(super) class: u64,
}

impl PageKeyRef<'_> {
    /// The same, to keep.
    pub(super) fn key(&self) -> PageKey {
        PageKey { path: self.path.into(), query: self.query.map(Box::from), class: self.class }
    }

    /// Bytes that the key takes.
    pub(super) fn weight(&self) -> usize {
        self.path.len() + self.query.map_or(0, str::len)
    }
}

impl Equivalent<PageKey> for PageKeyRef<'_> {
    fn equivalent(&self, key: &PageKey) -> bool {
        self.class == key.class && self.query == key.query.as_deref() && self.path == &*key.path
    }
}

#[derive(Clone)]
pub(super) struct Weight;

impl<S> Weighter<PageKey, Arc<Page<S>>> for Weight {
    fn weight(&self, _: &PageKey, page: &Arc<Page<S>>) -> u64 {
        page.weight
    }
}

/// Pages of one kind.
pub(super) struct PageCache<S> {
    cache: Cache<PageKey, Arc<Page<S>>, Weight>,
    /// Weight of the heaviest page that is kept.
    heaviest: u64,
    /// While its pages take less than this, whoever comes is let in.
    roomy: u64,
    doorkeeper: Doorkeeper,
    hasher: DefaultHashBuilder,
    bound: Arc<Bound>,
}

impl<S> PageCache<S> {
    /// A page takes at most a 64th of a cache, and never more than this.
    const HEAVIEST: u64 = 4 << 20;
    /// For the size of the tables: an index of a gem is about this large.
    const TYPICAL: u64 = 4 << 10;

    /// A cache for `bytes` of pages, which tells `recorder` how full it is. Up to `roomy` bytes of them come in at once.
    pub(super) fn new(which: &str, (bytes, roomy): (u64, u64), recorder: &Recorder) -> Self {
        let items = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        let hasher = DefaultHashBuilder::default();
        let cache = Cache::with(items, bytes, Weight, hasher.clone(), DefaultLifecycle::default());
        let heaviest = (bytes / 64).min(Self::HEAVIEST).min(cache.shard_capacity() / 2);
        let bound = Bound::new(BoundName::Pages, which, bytes);
        recorder.register(bound.clone());
        Self { cache, heaviest, roomy, doorkeeper: Doorkeeper::new(items), hasher, bound }
    }

    /// Whether this may come in: while it drives nobody out, and else if it was key before, as far as is remembered. From
    /// now on it was.
    pub(super) fn lets_in(&self, key: &PageKeyRef<'_>) -> bool {
        self.bound.used() < self.roomy || self.doorkeeper.again(self.hasher.hash_one(key))
    }

    pub(super) fn get(&self, key: &PageKeyRef<'_>) -> Option<Arc<Page<S>>> {
        self.cache.get(key)
    }

    /// Puts a page here, unless it is too heavy.
    pub(super) fn put(&self, key: &PageKeyRef<'_>, page: Page<S>) {
        if page.weight <= self.heaviest {
            self.cache.insert(key.key(), Arc::new(page));
            self.observe();
        }
    }

    /// Puts `new` in the place of `old`, if that is still here and `new` is not too heavy.
    pub(super) fn replace(&self, key: PageKey, old: &Arc<Page<S>>, new: Page<S>) {
        if new.weight <= self.heaviest && self.cache.peek(&key).is_some_and(|there| Arc::ptr_eq(&there, old)) {
            // A newer page that came in between is lost, but not for long: `new` has the stamp of `old`, which no longer
            // holds then, so it goes when it is next key.
            let _ = self.cache.replace(key, Arc::new(new), true);
            self.observe();
        }
    }

    /// Takes `page` away. Only this one: another may stand there already.
    pub(super) fn remove(&self, key: &PageKeyRef<'_>, page: &Arc<Page<S>>) {
        self.cache.remove_if(key, |there| Arc::ptr_eq(there, page));
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
