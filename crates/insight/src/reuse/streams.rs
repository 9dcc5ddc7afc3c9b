//! Which requests look in which cache, and under which key: what the reuse curves are made from.

use super::curve::Curve;
use super::miniature::Use;
use super::miniatures::{Miniatures, Real};
use super::policy::Policy;
use super::shards::Shards;
use crate::hash::hash_of;
use std::sync::Arc;
use telemetry::{Bound, BoundName, CacheName, Glance, Kind, Layer, Op, Tally};

/// A file of fewer bytes becomes a page instead of an open file.
const LARGE_FILE: u64 = 64 << 10;
/// What a page takes beside its body and its path: headers, the prepared head, tables.
const PAGE_FIXED: u64 = 1200;
/// The block of the file system in which a cached file ends, and what its row takes (`store/src/cache/weight.rs`).
const BLOCK: u64 = 4096;
const ROW: u64 = 2048;
/// What the names in a folder take before the cache tells, in bytes.
const FOLDER_USUAL: f64 = 1000.0;
/// Folders that the cache of their names expects (`repository/src/tree/inventory.rs`).
const FOLDERS: usize = 16 << 10;

/// The caches that have a curve.
pub(crate) const CURVES: [CacheName; 4] =
    [CacheName::Pages, CacheName::OpenFiles, CacheName::Cached, CacheName::Folders];
/// The curves: one for each of these caches, and one for pages with status 404, which have a cache of their own.
pub(crate) const COUNT: usize = 5;
/// The places of the curves.
const PAGES: usize = 0;
const OPEN_FILES: usize = 1;
const CACHED: usize = 2;
const FOLDER_NAMES: usize = 3;
pub(crate) const MISSING_PAGES: usize = 4;
/// The most sampled files of the cache of upstreams.
const MOST_CACHED: usize = 8192;
/// All miniatures and samples together take no more memory than this, in bytes.
#[cfg(test)]
pub(crate) const MEMORY_MAX: usize = 2 << 20;

/// The place of a cache among [`CURVES`]. `None`: it has no curve.
pub(crate) fn place(cache: CacheName) -> Option<usize> {
    CURVES.iter().position(|name| *name == cache)
}

/// The real caches that have miniatures: place, bound, and which one of that name.
const REALS: [(usize, BoundName, &str); 4] = [
    (PAGES, BoundName::Pages, "found"),
    (MISSING_PAGES, BoundName::Pages, "missing"),
    (OPEN_FILES, BoundName::OpenFiles, "published"),
    (FOLDER_NAMES, BoundName::Folders, ""),
];

/// The states of the real caches, by place.
pub(crate) type Reals = [Real; COUNT];

/// Reads the sizes of the real caches.
pub(crate) fn reals(bounds: &[Arc<Bound>]) -> Reals {
    let mut reals = Reals::default();
    for bound in bounds {
        let of = REALS.iter().find(|(_, name, which)| bound.name() == *name && bound.which() == *which);
        if let Some((place, _, _)) = of {
            reals[*place] = Real { capacity: bound.capacity(), used: bound.used(), entries: bound.cache().entries() };
        }
    }
    reals
}

/// Copies of all caches that have a curve.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Copies of the caches that are no LRU caches, by place.
    miniatures: [(usize, Miniatures); 4],
    /// Cached files: the least recently used ones are evicted first.
    cached: Shards,
}

impl Default for Streams {
    fn default() -> Self {
        let miniatures = [
            (PAGES, Miniatures::new(Policy::Pages, 1024, 1.0)),
            (MISSING_PAGES, Miniatures::new(Policy::MissingPages, 256, 1.0)),
            (OPEN_FILES, Miniatures::new(Policy::Entries, 512, 1.0)),
            (FOLDER_NAMES, Miniatures::new(Policy::Expecting(FOLDERS), 512, FOLDER_USUAL)),
        ];
        Self { miniatures, cached: Shards::new(MOST_CACHED) }
    }
}

/// A lookup in a cache that has a curve.
struct Lookup {
    place: usize,
    /// The hash of its key.
    key: u64,
    /// What the key takes in the cache, if the request tells.
    weight: Option<u64>,
    missed: bool,
    stale: bool,
}

impl Streams {
    /// Takes the states of the real caches.
    pub(crate) fn set(&mut self, reals: &Reals) {
        self.miniatures.iter_mut().for_each(|(place, miniatures)| miniatures.set(&reals[*place]));
    }

    /// Counts a request. `path`: the hash of its path. Returns whether the event is worth storing, because it shows best what a larger
    /// cache would save.
    pub(crate) fn see(&mut self, event: &Glance<'_>, path: u64, curves: &mut [Curve; COUNT]) -> bool {
        // Its page depends on the query, which is no part of the path.
        if event.figures.kind != Kind::Request || event.figures.file == "dependencies" {
            return false;
        }
        let mut shows = false;
        for lookup in [page(event, path), behind_pages(event, path)].into_iter().flatten() {
            shows |= self.count(&lookup, event, curves);
        }
        shows
    }

    fn count(&mut self, lookup: &Lookup, event: &Glance<'_>, curves: &mut [Curve; COUNT]) -> bool {
        let Lookup { place, key, weight, missed, stale } = *lookup;
        let (figures, curve) = (event.figures, &mut curves[place]);
        let (nanos, now) = (figures.first_byte, figures.began);
        if place == CACHED {
            let reuse = self.cached.refer(key, weight, now);
            return curve.see(reuse, missed, nanos, figures.id);
        }
        let Some((_, miniatures)) = self.miniatures.iter_mut().find(|(of, _)| *of == place) else { return false };
        let weight = weight.map(|weight| u32::try_from(weight).unwrap_or(u32::MAX));
        miniatures.see(&Use { key, weight, missed, stale, soon: false }, now, nanos, figures.id, curve)
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.miniatures.iter().map(|(_, miniatures)| miniatures.bytes()).sum::<usize>() + self.cached.bytes()
    }
}

fn is_found(event: &Glance<'_>) -> bool {
    matches!(event.figures.status, 200 | 206 | 304)
}

/// The bytes of the whole answer, if it was sent.
fn whole(event: &Glance<'_>) -> Option<u64> {
    let figures = event.figures;
    (matches!(figures.status, 200 | 404) && figures.bytes_out > 0).then_some(figures.bytes_out)
}

fn tally<'a>(event: &'a Glance<'_>, op: Op) -> Option<&'a Tally> {
    event.ops.iter().find(|(ran, _)| *ran == op).map(|(_, tally)| tally)
}

/// The lookup of a page.
fn page(event: &Glance<'_>, path: u64) -> Option<Lookup> {
    let missed = match event.figures.layer {
        Layer::Page => false,
        // Only what may become a page was offered to the cache, in vain or not.
        Layer::Hosted | Layer::Remote | Layer::Group if tally(event, Op::PageKeep).is_some() => true,
        _ => return None,
    };
    let place = match event.figures.status {
        404 => MISSING_PAGES,
        _ if is_found(event) => PAGES,
        _ => return None,
    };
    // A lookup in vain found a page that had changed.
    let stale = missed && tally(event, Op::PageLookup).is_some_and(|tally| tally.vain > 0);
    let weight = whole(event).map(|bytes| bytes + event.path.len() as u64 + PAGE_FIXED);
    Some(Lookup { place, key: path, weight, missed, stale })
}

/// The lookup of a request that no page answered.
fn behind_pages(event: &Glance<'_>, path: u64) -> Option<Lookup> {
    match event.figures.layer {
        Layer::Open if is_found(event) => Some(open_file(path, false)),
        Layer::Hosted if is_found(event) => {
            let opens = tally(event, Op::BlobOpen).is_some() && event.figures.bytes_out > LARGE_FILE;
            (opens && tally(event, Op::PageKeep).is_none()).then(|| open_file(path, true))
        }
        Layer::Remote | Layer::Group if is_found(event) => {
            let ran = |op| {
                let mut of_members = event.members.iter().flat_map(|member| &member.ops);
                tally(event, op).is_some() || of_members.any(|(ran, _)| *ran == op)
            };
            let missed = ran(Op::FlightWait);
            let weight = whole(event).map(|bytes| bytes.next_multiple_of(BLOCK) + ROW);
            let lookup = Lookup { place: CACHED, key: path, weight, missed, stale: false };
            (missed || ran(Op::CacheRead)).then_some(lookup)
        }
        Layer::Hosted if event.figures.status == 404 => {
            let (folder, _) = event.path.rsplit_once('/')?;
            let missed = tally(event, Op::TruthRead).is_some();
            Some(Lookup { place: FOLDER_NAMES, key: hash_of(&[folder]), weight: Some(1), missed, stale: false })
        }
        _ => None,
    }
}

fn open_file(path: u64, missed: bool) -> Lookup {
    Lookup { place: OPEN_FILES, key: path, weight: Some(1), missed, stale: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Event, Figures, Millis, Tally, Tick};

    fn request(path: &str, layer: Layer, status: u16, ops: &[Op]) -> Box<Event> {
        let mut event = Event::request(Millis(1), Tick(1));
        event.asked(path);
        (event.layer, event.status, event.bytes_out) = (layer, status, 10_000);
        ops.iter().for_each(|op| event.add(*op, 5));
        event
    }

    /// Streams of caches that are large enough.
    fn roomy() -> Streams {
        let mut streams = Streams::default();
        streams.set(&[Real { capacity: 64 << 20, used: 0, entries: 0 }; COUNT]);
        streams
    }

    fn see(streams: &mut Streams, curves: &mut [Curve; COUNT], event: &Event) {
        let figures = Figures::of(event);
        streams.see(&Glance::of(event, &figures), hash_of(&[&event.path]), curves);
    }

    #[test]
    fn each_request_is_a_lookup_of_the_caches_that_may_answer_it() {
        let (mut streams, mut curves) = (roomy(), <[Curve; COUNT]>::default());
        let mut see = |event: Box<Event>| see(&mut streams, &mut curves, &event);
        see(request("/repository/a/x", Layer::Hosted, 200, &[Op::PageKeep]));
        see(request("/repository/a/x", Layer::Page, 200, &[Op::PageLookup]));
        see(request("/repository/a/y", Layer::Remote, 200, &[Op::CacheRead, Op::FlightWait]));
        see(request("/repository/a/f/z", Layer::Hosted, 404, &[Op::TruthRead]));
        see(request("/repository/a/f/q", Layer::Hosted, 404, &[Op::PageKeep]));
        see(request("/repository/a/f/q", Layer::Page, 404, &[]));
        see(request("/api/v1/tokens", Layer::Admin, 200, &[]));
        let lookups: Vec<f64> = curves.iter().map(Curve::lookups).collect();
        assert_eq!(lookups, [2.0, 0.0, 1.0, 2.0, 2.0]);
        let shares = [PAGES, FOLDER_NAMES, MISSING_PAGES].map(|place| curves[place].share(64 << 20));
        assert_eq!(shares, [0.5, 0.5, 0.0], "a missing page is admitted on the second request");
    }

    #[test]
    fn a_page_that_had_changed_is_a_miss_at_every_size() {
        let (mut streams, mut curves) = (roomy(), <[Curve; COUNT]>::default());
        for round in 0..10 {
            let mut event = request("/repository/a/x", Layer::Hosted, 200, &[Op::PageKeep]);
            event.add_all(Op::PageLookup, Tally { count: 1, vain: u32::from(round > 0), nanos: 5 });
            see(&mut streams, &mut curves, &event);
        }
        see(&mut streams, &mut curves, &request("/repository/a/x", Layer::Page, 200, &[]));
        let pages = &curves[PAGES];
        assert_eq!((pages.stale().lookups, pages.lookups()), (9.0, 11.0));
        assert!((pages.share(u64::MAX) - 1.0 / 11.0).abs() < 1e-9, "{}", pages.share(u64::MAX));
    }

    #[test]
    fn all_copies_together_take_no_more_memory_than_allowed_whatever_comes() {
        for (capacity, folders) in [(1 << 20, 1), (8 << 30, 1_000_000)] {
            let (mut streams, mut curves) = (Streams::default(), <[Curve; COUNT]>::default());
            let mut reals = [Real { capacity, used: 0, entries: 0 }; COUNT];
            reals[OPEN_FILES].capacity = 100_000;
            streams.set(&reals);
            for number in 0..60_000_u64 {
                let path = format!("/repository/a/{}/{number}", number % folders);
                see(&mut streams, &mut curves, &request(&path, Layer::Hosted, 200, &[Op::PageKeep]));
                let mut large = request(&path, Layer::Hosted, 200, &[Op::BlobOpen]);
                large.bytes_out = 1 << 20;
                see(&mut streams, &mut curves, &large);
                see(&mut streams, &mut curves, &request(&path, Layer::Remote, 200, &[Op::CacheRead]));
                let missing = request(&path, Layer::Hosted, 404, &[Op::PageKeep]);
                (0..2).for_each(|_| see(&mut streams, &mut curves, &missing));
            }
            let bytes = streams.bytes();
            assert!((200_000..MEMORY_MAX).contains(&bytes), "{bytes}");
        }
    }

    #[test]
    fn heavy_pages_and_folders_of_which_few_fit_take_no_more_memory_either() {
        for (capacity, weight) in [(64 << 20, 256 << 10), (8 << 30, 256 << 10)] {
            let (mut streams, mut curves) = (Streams::default(), <[Curve; COUNT]>::default());
            let mut reals = [Real { capacity, used: 0, entries: 0 }; COUNT];
            reals[OPEN_FILES].capacity = 100_000;
            for number in 0..12_000_u64 {
                // What an entry takes in the real caches changes as it runs.
                if number.is_multiple_of(2_000) {
                    let each = if number >= 6_000 { 100 } else { 400_000 };
                    reals.iter_mut().for_each(|real| (real.used, real.entries) = (1000 * each, 1000));
                    streams.set(&reals);
                }
                let path = format!("/repository/a/{number}/x");
                let mut page = request(&path, Layer::Hosted, 200, &[Op::PageKeep]);
                page.bytes_out = weight;
                (0..2).for_each(|_| see(&mut streams, &mut curves, &page));
                let missing = request(&path, Layer::Hosted, 404, &[Op::PageKeep]);
                (0..2).for_each(|_| see(&mut streams, &mut curves, &missing));
                let mut large = request(&path, Layer::Hosted, 200, &[Op::BlobOpen]);
                large.bytes_out = 1 << 20;
                see(&mut streams, &mut curves, &large);
                see(&mut streams, &mut curves, &request(&path, Layer::Remote, 200, &[Op::CacheRead]));
            }
            let bytes = streams.bytes();
            assert!((100_000..MEMORY_MAX).contains(&bytes), "{capacity} {weight}: {bytes}");
        }
    }
}
