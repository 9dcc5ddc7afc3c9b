//! Which requests look in which cache, and under which key: what the reuse curves are made from.

use super::curve::Curve;
use super::shards::Shards;
use crate::hash::hash_of;
use telemetry::{CacheName, Glance, Kind, Layer, Op};

/// A file of fewer bytes becomes a page instead of an open file.
const LARGE_FILE: u64 = 64 << 10;
/// What a page takes beside its body and its path: headers, the prepared head, tables.
const PAGE_FIXED: u64 = 1200;
/// The block of the file system in which a cached file ends.
const BLOCK: u64 = 4096;

/// The caches that have a curve.
pub(crate) const CURVES: [CacheName; 4] =
    [CacheName::Pages, CacheName::OpenFiles, CacheName::Cached, CacheName::Folders];
/// The most sampled keys of each.
const MOST: [usize; 4] = [8192, 4096, 8192, 4096];

/// The place of a cache among [`CURVES`]. `None`: it has no curve.
pub(crate) fn place(cache: CacheName) -> Option<usize> {
    CURVES.iter().position(|name| *name == cache)
}

/// The sampled keys of all caches that have a curve.
#[derive(Debug)]
pub(crate) struct Streams {
    shards: [Shards; 4],
}

impl Default for Streams {
    fn default() -> Self {
        Self { shards: MOST.map(Shards::new) }
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
}

impl Streams {
    /// Counts a request. `path`: the hash of its path. Returns whether the event is worth storing, because it shows best what a larger
    /// cache would save.
    pub(crate) fn see(&mut self, event: &Glance<'_>, path: u64, curves: &mut [Curve; 4]) -> bool {
        if event.figures.kind != Kind::Request {
            return false;
        }
        let Some(lookup) = lookup(event, path) else { return false };
        let curve = &mut curves[lookup.place];
        curve.look();
        let shards = &mut self.shards[lookup.place];
        let Some(reuse) = shards.refer(lookup.key, lookup.weight, event.figures.began) else { return false };
        curve.see(reuse, lookup.missed, event.figures.first_byte, event.figures.id)
    }

    /// Writes down how large keys are.
    pub(crate) fn weigh(&self, curves: &mut [Curve; 4]) {
        for (shards, curve) in self.shards.iter().zip(curves) {
            curve.weigh(shards.mean_weight());
        }
    }
}

fn lookup(event: &Glance<'_>, path: u64) -> Option<Lookup> {
    let (status, bytes, length) = (event.figures.status, event.figures.bytes_out, event.path.len());
    // Replies with 404 have a small cache of their own.
    let is_found = matches!(status, 200 | 206 | 304);
    let whole = (status == 200 && bytes > 0).then_some(bytes);
    match event.figures.layer {
        // Its page depends on the query, which is no part of the path.
        _ if event.figures.file == "dependencies" => None,
        Layer::Page if is_found => Some(page(path, length, whole, false)),
        Layer::Open if is_found => Some(open_file(path, false)),
        Layer::Hosted | Layer::Remote | Layer::Group if is_found => {
            let ran = |op| event.ops.iter().any(|(ran, _)| *ran == op);
            if ran(Op::PageKeep) {
                return Some(page(path, length, whole, true));
            }
            if event.figures.layer == Layer::Hosted {
                return (ran(Op::BlobOpen) && bytes > LARGE_FILE).then(|| open_file(path, true));
            }
            let member = |op| event.members.iter().flat_map(|member| &member.ops).any(|(ran, _)| *ran == op);
            let waited = ran(Op::FlightWait) || member(Op::FlightWait);
            let weight = whole.map(|bytes| bytes.next_multiple_of(BLOCK));
            let is_cached = waited || ran(Op::CacheRead) || member(Op::CacheRead);
            is_cached.then_some(Lookup { place: 2, key: path, weight, missed: waited })
        }
        Layer::Hosted if status == 404 => {
            let (folder, _) = event.path.rsplit_once('/')?;
            let missed = event.ops.iter().any(|(ran, _)| *ran == Op::TruthRead);
            Some(Lookup { place: 3, key: hash_of(&[folder]), weight: Some(1), missed })
        }
        _ => None,
    }
}

fn page(path: u64, length: usize, whole: Option<u64>, missed: bool) -> Lookup {
    let weight = whole.map(|bytes| bytes + length as u64 + PAGE_FIXED);
    Lookup { place: 0, key: path, weight, missed }
}

fn open_file(path: u64, missed: bool) -> Lookup {
    Lookup { place: 1, key: path, weight: Some(1), missed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Event, Figures, Millis, Tick};

    fn request(path: &str, layer: Layer, status: u16, ops: &[Op]) -> Box<Event> {
        let mut event = Event::request(Millis(1), Tick(1));
        event.asked(path);
        (event.layer, event.status, event.bytes_out) = (layer, status, 10_000);
        ops.iter().for_each(|op| event.add(*op, 5));
        event
    }

    #[test]
    fn each_request_is_a_lookup_of_the_cache_that_may_answer_it() {
        let (mut streams, mut curves) = (Streams::default(), <[Curve; 4]>::default());
        let mut see = |event: Box<Event>| {
            let figures = Figures::of(&event);
            streams.see(&Glance::of(&event, &figures), hash_of(&[&event.path]), &mut curves);
        };
        see(request("/repository/a/x", Layer::Hosted, 200, &[Op::PageKeep]));
        see(request("/repository/a/x", Layer::Page, 200, &[Op::PageLookup]));
        see(request("/repository/a/y", Layer::Remote, 200, &[Op::CacheRead, Op::FlightWait]));
        see(request("/repository/a/f/z", Layer::Hosted, 404, &[Op::TruthRead]));
        see(request("/repository/a/f/q", Layer::Hosted, 404, &[]));
        see(request("/repository/a/f/q", Layer::Page, 404, &[]));
        see(request("/api/v1/tokens", Layer::Admin, 200, &[]));
        let lookups: Vec<f64> = curves.iter().map(Curve::lookups).collect();
        assert_eq!(lookups, [2.0, 0.0, 1.0, 2.0]);
        assert_eq!((curves[0].share(20_000), curves[3].share(1)), (0.5, 0.5));
    }
}
