//! Purges and other invalidations. A stored response carries a stamp: the number of the last purge before its request was sent, and the
//! places of its URL and its tags. It holds while none of its places has a later purge. So a purge reaches a response that is only being
//! fetched, takes the same time for any number of responses, and needs bounded memory.

use super::key::KeyRef;
use super::rules::tags::Tags;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use telemetry::lock;

/// The places of URLs, of which each change of the application needs one. A purge also drops the responses that share its place.
const URLS: u32 = 1 << 17;
/// The places of paths and tags. With those of URLs they take 1.25 MiB, from the first purge on.
const OTHERS: u32 = 1 << 15;

/// The purges of one application.
#[derive(Debug, Default)]
pub(crate) struct Purges {
    /// The number of the last one, which is then in its places.
    last: AtomicU64,
    places: OnceLock<Box<[AtomicU64]>>,
    hasher: RandomState,
    turn: Mutex<()>,
}

/// The validity of a stored response.
#[derive(Debug)]
pub(crate) struct Stamp {
    began: u64,
    places: Box<[u32]>,
    /// It held after this purge.
    held: AtomicU64,
    /// It no longer holds, and was counted.
    swept: AtomicBool,
}

/// A place of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(u32);

impl Purges {
    /// The number for the stamp of a response whose request is sent after this call.
    pub(crate) fn begin(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// The stamp of a response.
    pub(crate) fn stamp(&self, began: u64, key: &KeyRef<'_>, tags: &Tags) -> Stamp {
        let of_url = [self.url(key.host(), key.target()), self.path(key.target())];
        let places = of_url.into_iter().chain(tags.iter().map(|tag| self.tag(tag))).map(|place| place.0).collect();
        Stamp { began, places, held: AtomicU64::new(began), swept: AtomicBool::new(false) }
    }

    /// Whether nothing of the response was purged since its request was sent.
    pub(crate) fn holds(&self, stamp: &Stamp) -> bool {
        let last = self.begin();
        if stamp.held.load(Ordering::Relaxed) == last {
            return true;
        }
        let Some(places) = self.places.get() else { return true };
        let holds = stamp.places.iter().all(|place| places[*place as usize].load(Ordering::Relaxed) <= stamp.began);
        if holds {
            stamp.held.store(last, Ordering::Relaxed);
        }
        holds
    }

    /// Purges these places. When it returns, no response holds whose request was sent before.
    pub(crate) fn purge(&self, purged: impl IntoIterator<Item = Place>) {
        let _turn = lock(&self.turn);
        let places = self.places.get_or_init(|| (0..URLS + OTHERS).map(|_| AtomicU64::new(0)).collect());
        // The places come first: a thread that sees the number sees them too.
        let next = self.last.load(Ordering::Relaxed) + 1;
        purged.into_iter().for_each(|place| places[place.0 as usize].store(next, Ordering::Relaxed));
        self.last.store(next, Ordering::Release);
    }

    /// The place of a URL, over both schemes.
    pub(crate) fn url(&self, host: &str, target: &str) -> Place {
        Place(self.hash((host, target)) % URLS)
    }

    /// The place of a path and query, over all hosts.
    pub(crate) fn path(&self, target: &str) -> Place {
        Place(URLS + self.hash((false, target)) % OTHERS)
    }

    /// The place of a tag.
    pub(crate) fn tag(&self, tag: &[u8]) -> Place {
        Place(URLS + self.hash((true, tag)) % OTHERS)
    }

    fn hash(&self, thing: impl Hash) -> u32 {
        (self.hasher.hash_one(thing) >> 32) as u32
    }
}

impl Stamp {
    /// Whether this is the first sweep of a stamp that no longer holds.
    pub(crate) fn sweep(&self) -> bool {
        !self.swept.swap(true, Ordering::Relaxed)
    }

    /// Bytes that it takes.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.places.len() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;

    fn tags(text: &'static str) -> Tags {
        Tags::of(&HeaderMap::from_iter([(http::HeaderName::from_static("cache-tag"), text.parse().unwrap())])).unwrap()
    }

    fn stamp(purges: &Purges, began: u64, host: &str, target: &str, text: &'static str) -> Stamp {
        purges.stamp(began, &KeyRef::new(false, host, target).unwrap(), &tags(text))
    }

    #[test]
    fn a_purge_reaches_responses_that_were_asked_for_before_it_and_no_later_ones() {
        let purges = Purges::default();
        let (before, began) = (stamp(&purges, purges.begin(), "a", "/x", "t u"), purges.begin());
        assert!(purges.holds(&before));
        purges.purge([purges.tag(b"u")]);
        let (on_the_way, after) =
            (stamp(&purges, began, "a", "/x", "u"), stamp(&purges, purges.begin(), "a", "/x", "u"));
        assert_eq!([&before, &on_the_way, &after].map(|stamp| purges.holds(stamp)), [false, false, true]);
        let other = stamp(&purges, began, "a", "/x", "v");
        assert!(purges.holds(&other) && purges.holds(&other));
        purges.purge([purges.tag(b"v")]);
        assert!(!purges.holds(&other) && purges.holds(&after));
    }

    #[test]
    fn a_path_is_purged_for_all_hosts_and_a_url_for_one() {
        let purges = Purges::default();
        let stamps = [("a", "/x"), ("b", "/x"), ("a", "/y")].map(|(host, target)| stamp(&purges, 0, host, target, ""));
        let held = || stamps.each_ref().map(|stamp| purges.holds(stamp));
        purges.purge([purges.url("a", "/x")]);
        assert_eq!(held(), [false, true, true]);
        purges.purge([purges.path("/x")]);
        assert_eq!(held(), [false, false, true]);
    }
}
