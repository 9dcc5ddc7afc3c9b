//! The cache of pages, bounded in bytes. When little space is left, its doorkeeper admits only pages that were
//! requested twice.

use super::doorkeeper::Doorkeeper;
use super::page::Page;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Lifecycle, Weighter};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;
use telemetry::{Bound, BoundName, Miss, Recorder};

/// The key of a page. It is compared in full, so a hash collision never gives a client another client's page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageKey {
    path: Box<str>,
    query: Option<Box<str>>,
    class: u64,
    hash: u64,
}

/// A borrowed [`PageKey`]. Its hash is made once, as up to five tables are searched with it.
#[derive(Debug)]
pub(super) struct PageKeyRef<'a> {
    path: &'a str,
    query: Option<&'a str>,
    class: u64,
    hash: u64,
}

impl<'a> PageKeyRef<'a> {
    /// `hasher`: that of all keys.
    pub(super) fn new(path: &'a str, query: Option<&'a str>, class: u64, hasher: &impl BuildHasher) -> Self {
        let mut hasher = hasher.build_hasher();
        hasher.write(path.as_bytes());
        // No path contains a `?`, so no other path and query are the same bytes.
        query.into_iter().flat_map(|query| [b"?", query.as_bytes()]).for_each(|part| hasher.write(part));
        hasher.write_u64(class);
        Self { path, query, class, hash: hasher.finish() }
    }

    /// An owned copy.
    pub(super) fn key(&self) -> PageKey {
        PageKey { path: self.path.into(), query: self.query.map(Box::from), class: self.class, hash: self.hash }
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

impl Hash for PageKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hash for PageKeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Takes the hash of a key as it is.
#[derive(Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    // Keys are hashes.
    fn write(&mut self, _bytes: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone)]
pub(super) struct Weight;

impl Weighter<PageKey, Arc<Page>> for Weight {
    fn weight(&self, _: &PageKey, page: &Arc<Page>) -> u64 {
        page.weight
    }
}

/// Collects the pages that leave the cache when another one is added.
#[derive(Clone)]
pub(super) struct Collect;

impl Lifecycle<PageKey, Arc<Page>> for Collect {
    type RequestState = Vec<(PageKey, Arc<Page>)>;

    fn on_evict(&self, gone: &mut Self::RequestState, key: PageKey, page: Arc<Page>) {
        gone.push((key, page));
    }
}

/// Pages of one kind: found, or missing.
pub(super) struct PageCache {
    cache: Cache<PageKey, Arc<Page>, Weight, BuildHasherDefault<Hashed>, Collect>,
    /// Weight of the heaviest page that is admitted.
    heaviest: u64,
    /// While the pages take less than this, every page is admitted.
    roomy: u64,
    doorkeeper: Doorkeeper,
    bound: Arc<Bound>,
}

impl PageCache {
    /// A page takes at most a 64th of the cache, and never more than this.
    const HEAVIEST: u64 = 4 << 20;
    /// Used for the size of the tables: the index of a gem is about this large.
    const TYPICAL: u64 = 4 << 10;

    /// A cache for `bytes` of pages, whose bound is registered at `recorder`. While less than `roomy` bytes are used,
    /// every page is admitted.
    pub(super) fn new(which: &str, bytes: u64, roomy: u64, recorder: &Recorder) -> Self {
        let items = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        let cache = Cache::with(items, bytes, Weight, BuildHasherDefault::default(), Collect);
        let heaviest = (bytes / 64).min(Self::HEAVIEST).min(cache.shard_capacity() / 2);
        let bound = Bound::new(BoundName::Pages, which, bytes);
        recorder.register(bound.clone());
        Self { cache, heaviest, roomy, doorkeeper: Doorkeeper::new(items), bound }
    }

    /// Whether a page with this key is admitted: while there is space, and after that if the key was requested before.
    /// Remembers the key.
    pub(super) fn admits(&self, key: &PageKeyRef<'_>) -> bool {
        self.bound.used() < self.roomy || self.doorkeeper.again(key.hash)
    }

    /// Why there is no page with this key.
    pub(super) fn why_absent(&self, key: &PageKeyRef<'_>) -> Miss {
        self.bound.cache().why_absent(|| key.hash)
    }

    /// Counts a request that no page answers.
    pub(super) fn miss(&self, miss: Miss) {
        self.bound.cache().miss(miss);
    }

    /// Remembers that a reply with this key does not become a page.
    pub(super) fn refuse(&self, key: &PageKeyRef<'_>) {
        self.bound.cache().refuse(key.hash);
    }

    pub(super) fn get(&self, key: &PageKeyRef<'_>) -> Option<Arc<Page>> {
        self.cache.get(key)
    }

    /// Adds a page, unless it is too heavy.
    pub(super) fn put(&self, key: &PageKeyRef<'_>, page: Page) {
        if page.weight > self.heaviest {
            return self.refuse(key);
        }
        let (page, mut gone) = (Arc::new(page), Vec::new());
        self.cache.insert_with_lifecycle(key.key(), page.clone(), &mut gone);
        self.bound.cache().store(key.hash, &page, &gone, |key| key.hash);
        self.observe();
    }

    /// Replaces `old` by `new`, if `old` is still in the cache and `new` is not too heavy.
    pub(super) fn replace(&self, key: PageKey, old: &Arc<Page>, new: Page) {
        if new.weight <= self.heaviest && self.cache.peek(&key).is_some_and(|there| Arc::ptr_eq(&there, old)) {
            // This may replace a newer page that was added in between. `new` has the stamp of `old`, which then no
            // longer holds, so the next request removes it and makes the page again.
            let (hash, new, mut gone) = (key.hash, Arc::new(new), Vec::new());
            if self.cache.replace_with_lifecycle(key, new.clone(), true, &mut gone).is_ok() {
                self.bound.cache().store(hash, &new, &gone, |key| key.hash);
            }
            self.observe();
        }
    }

    /// Removes `page`, unless another page has replaced it.
    pub(super) fn remove(&self, key: &PageKeyRef<'_>, page: &Arc<Page>) {
        self.cache.remove_if(key, |there| Arc::ptr_eq(there, page));
        self.observe();
    }

    /// Bytes that the pages take.
    #[cfg(test)]
    pub(super) fn weight(&self) -> u64 {
        self.bound.used()
    }

    fn observe(&self) {
        self.bound.observe(self.cache.weight());
        self.bound.cache().observe(self.cache.len() as u64);
    }
}
