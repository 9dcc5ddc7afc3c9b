//! Pages in memory, bounded in bytes. None of them is used before the store has confirmed that it is still the one that it has.

use super::made::Made;
use super::servers::{Ask, Item, Version};
use bytes::Bytes;
use format::page::coding::Coding;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, OptionsBuilder, Weighter};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;
use telemetry::{Bound, BoundName, Miss, PageOutcome, Recorder};

/// Used for the size of the tables.
const TYPICAL: u64 = 16 << 10;
/// The most parts of the table, each with a lock of its own.
const SHARDS_MAX: u64 = 64;
/// About the bytes of an entry of the table and of its allocations.
const EACH: usize = 384;

/// The place of a page: the parts of its URL that are in its key. The key itself takes a hash to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place<'a> {
    /// Empty, if the key has no host.
    pub(super) host: &'a str,
    /// Path and query; or the key of one variant of a URL, which does not begin with `/`.
    pub(super) target: &'a str,
    pub(super) coding: Coding,
}

/// An owned [`Place`], with the same hash.
#[derive(Debug, Clone)]
struct OwnPlace {
    host: Box<str>,
    target: Box<str>,
    coding: Coding,
}

/// An entry of the store, as far as it is kept.
#[derive(Debug, Clone)]
pub(super) struct KeptEntry {
    /// Its key in the store.
    pub(super) key: Bytes,
    /// The keys whose entries come before it, if there are any. They had none.
    pub(super) earlier: Box<[Bytes]>,
    pub(super) version: Option<Version>,
    /// Its bytes, of which the page has slices.
    value: Bytes,
    pub(super) content: Content,
}

/// What an entry has.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Page(Box<Made>),
    /// The page depends on these headers of the request.
    Vary(Box<[Box<str>]>),
    /// Nothing that can be sent.
    Unusable(PageOutcome),
}

/// Pages in memory.
pub(super) struct Kept {
    cache: Option<Cache<OwnPlace, Arc<KeptEntry>, Weight, DefaultHashBuilder, Collect>>,
    heaviest: u64,
    hasher: DefaultHashBuilder,
    bound: Arc<Bound>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<OwnPlace, Arc<KeptEntry>> for Weight {
    fn weight(&self, place: &OwnPlace, entry: &Arc<KeptEntry>) -> u64 {
        entry.weight() + (place.host.len() + place.target.len()) as u64
    }
}

/// Collects the entries that leave when another one is added.
#[derive(Clone)]
struct Collect;

impl Lifecycle<OwnPlace, Arc<KeptEntry>> for Collect {
    type RequestState = Vec<(OwnPlace, Arc<KeptEntry>)>;

    fn on_evict(&self, gone: &mut Self::RequestState, place: OwnPlace, entry: Arc<KeptEntry>) {
        gone.push((place, entry));
    }
}

impl KeptEntry {
    /// An entry with this content, which was just read.
    pub(super) fn new(key: Bytes, earlier: Box<[Bytes]>, item: &Item, content: Content) -> Self {
        // The bytes of entries that cannot be sent are of no use, unless only they tell whether the entry has changed.
        let keeps = item.version.is_none() || matches!(content, Content::Page(_));
        let value = if keeps { item.value.clone() } else { Bytes::new() };
        Self { key, earlier, version: item.version, value, content }
    }

    /// The same entry with its page in more forms.
    pub(super) fn with_page(&self, page: Made) -> Self {
        Self { content: Content::Page(Box::new(page)), ..self.clone() }
    }

    /// Its page, if it has one.
    pub(super) fn page(&self) -> Option<&Made> {
        match &self.content {
            Content::Page(page) => Some(page),
            Content::Vary(_) | Content::Unusable(_) => None,
        }
    }

    /// The read that tells whether it has changed.
    pub(super) fn ask(&self) -> Ask {
        Ask { key: self.key.clone(), known: self.version, early_s: None }
    }

    /// Whether an item is the one from which it was read.
    pub(super) fn is(&self, item: &Item) -> bool {
        match self.version {
            Some(_) => self.version == item.version,
            None => item.version.is_none() && self.value == item.value,
        }
    }

    fn weight(&self) -> u64 {
        let content = match &self.content {
            Content::Page(made) => size_of::<Made>() + made.weight(),
            Content::Vary(names) => names.iter().map(|name| size_of::<Box<str>>() + name.len()).sum(),
            Content::Unusable(_) => 0,
        };
        let earlier: usize = self.earlier.iter().map(|key| size_of::<Bytes>() + key.len()).sum();
        (EACH + self.key.len() + earlier + self.value.len() + content) as u64
    }
}

impl Kept {
    /// Room for `bytes` of pages of the application `app`; 0: none is kept. `largest`: the most bytes of a value. The bound is registered at
    /// `recorder`.
    pub(super) fn new(app: &str, bytes: u64, largest: usize, recorder: &Recorder) -> Self {
        let items = usize::try_from(bytes / TYPICAL).unwrap_or(usize::MAX).max(64);
        let hasher = DefaultHashBuilder::default();
        // A page may take half of a shard, with its body decoded. One that is not kept would take memory for each client that gets it.
        let shards = (bytes / (4 * largest as u64).max(1)).clamp(1, SHARDS_MAX);
        let shards = usize::try_from(shards + 1).map_or(1, usize::next_power_of_two) / 2;
        let mut options = OptionsBuilder::new();
        options.estimated_items_capacity(items).weight_capacity(bytes).shards(shards.max(1));
        let options = options.build().ok().filter(|_| bytes > 0);
        let cache = options.map(|options| Cache::with_options(options, Weight, hasher.clone(), Collect));
        let heaviest = cache.as_ref().map_or(0, |cache| cache.shard_capacity() / 2);
        let bound = Bound::new(BoundName::AppPages, app, bytes);
        recorder.register(bound.clone());
        Self { cache, heaviest, hasher, bound }
    }

    /// Its figures.
    pub(super) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The entry of a place. The lookup is counted when the store has told whether it holds.
    pub(super) fn get(&self, place: &Place<'_>) -> Option<Arc<KeptEntry>> {
        self.cache.as_ref()?.get(place)
    }

    /// Counts the lookup of an entry that was kept. `holds`: it was used.
    pub(super) fn found(&self, holds: bool) {
        let counts = self.bound.cache();
        if holds { counts.hit() } else { counts.miss(Miss::Stale) }
    }

    /// Counts the lookup of an entry that was not kept.
    pub(super) fn absent(&self, place: &Place<'_>) {
        let counts = self.bound.cache();
        counts.miss(counts.why_absent(|| self.hasher.hash_one(place)));
    }

    /// Keeps an entry, in place of the one that is there.
    pub(super) fn put(&self, place: &Place<'_>, entry: &Arc<KeptEntry>) {
        let (Some(cache), hash) = (&self.cache, self.hasher.hash_one(place)) else { return };
        let owned = OwnPlace { host: place.host.into(), target: place.target.into(), coding: place.coding };
        if Weight.weight(&owned, entry) > self.heaviest {
            cache.remove(place);
            self.bound.cache().refuse(hash);
        } else {
            let mut gone = Vec::new();
            cache.insert_with_lifecycle(owned, entry.clone(), &mut gone);
            self.bound.cache().store(hash, entry, &gone, |place| self.hasher.hash_one(place));
        }
        self.observe();
    }

    /// Removes the entry of a place, which the store no longer has.
    pub(super) fn remove(&self, place: &Place<'_>) {
        if self.cache.as_ref().is_some_and(|cache| cache.remove(place).is_some()) {
            self.observe();
        }
    }

    /// Removes the pages that are meant. Returns how many there were.
    pub(super) fn sweep(&self, is_meant: impl Fn(&Place<'_>, &Made) -> bool) -> u64 {
        let Some(cache) = &self.cache else { return 0 };
        let swept = std::cell::Cell::new(0);
        cache.retain(|place, entry| {
            let meant = matches!(&entry.content, Content::Page(made) if is_meant(&place.borrowed(), made));
            swept.set(swept.get() + u64::from(meant));
            !meant
        });
        self.observe();
        swept.get()
    }

    fn observe(&self) {
        if let Some(cache) = &self.cache {
            self.bound.observe(cache.weight());
            self.bound.cache().observe(cache.len() as u64);
        }
    }
}

impl OwnPlace {
    fn borrowed(&self) -> Place<'_> {
        Place { host: &self.host, target: &self.target, coding: self.coding }
    }
}

impl PartialEq for OwnPlace {
    fn eq(&self, other: &Self) -> bool {
        self.borrowed() == other.borrowed()
    }
}

impl Eq for OwnPlace {}

impl Hash for OwnPlace {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.borrowed().hash(state);
    }
}

impl Equivalent<OwnPlace> for Place<'_> {
    fn equivalent(&self, place: &OwnPlace) -> bool {
        *self == place.borrowed()
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("bound", &self.bound).finish_non_exhaustive()
    }
}
