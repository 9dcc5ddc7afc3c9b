//! Purges of pages, by second. A page that was stored in or before the second of a purge of its URL, or of one of its tags, is no longer
//! used, until the application has written it again. The table has a fixed size: a purge also reaches the pages that share its place.

use crate::cache::key::KeyRef;
use crate::cache::rules::tags::Tags;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

/// The most seconds by which the clock of an application may be ahead. A page with a later time has none that could be compared.
const AHEAD_MAX: i64 = 300;
/// The places of URLs and tags. They take 1 MiB, from the first purge on.
const PLACES: usize = 1 << 17;

/// The purges of the pages of one application.
#[derive(Debug)]
pub(super) struct Purges {
    /// The second of the last one.
    last: AtomicI64,
    places: OnceLock<Box<[AtomicI64]>>,
    hasher: RandomState,
    /// By how many seconds pages were seen to be of the future: the clock of the application is ahead of this one.
    ahead: AtomicI64,
}

/// A thing that is purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Purged<'a> {
    /// A path and query, for one host.
    Url(&'a str, &'a str),
    /// A path and query, for all hosts.
    Path(&'a str),
    /// A tag.
    Tag(&'a [u8]),
}

impl Default for Purges {
    fn default() -> Self {
        Self {
            last: AtomicI64::new(i64::MIN),
            places: OnceLock::new(),
            hasher: RandomState::new(),
            ahead: AtomicI64::new(0),
        }
    }
}

impl Purges {
    /// A page was read at the second `now`. Returns whether its time can be compared.
    pub(super) fn saw(&self, stored_s: i64, now: i64) -> bool {
        let ahead = stored_s.saturating_sub(now);
        if ahead > AHEAD_MAX {
            return false;
        }
        if ahead > self.ahead.load(Ordering::Relaxed) {
            self.ahead.fetch_max(ahead, Ordering::Relaxed);
        }
        true
    }

    /// Purges the pages that were stored in or before this second, by the clock of the application as far as it is known.
    pub(super) fn purge<'a>(&self, second: i64, all: impl IntoIterator<Item = Purged<'a>>) {
        let second = second + self.ahead.load(Ordering::Relaxed);
        let places = self.places.get_or_init(|| (0..PLACES).map(|_| AtomicI64::new(i64::MIN)).collect());
        for purged in all {
            places[self.place(purged)].fetch_max(second, Ordering::Relaxed);
        }
        // A thread that sees the second sees the places too.
        self.last.fetch_max(second, Ordering::Release);
    }

    /// Whether a page was purged since it was stored. `tags`: `None`: it has more than are known, so a purge of any tag reaches it.
    pub(super) fn reach(&self, stored_s: Option<i64>, url: &KeyRef<'_>, tags: Option<&Tags>) -> bool {
        let stored = stored_s.unwrap_or(i64::MIN + 1);
        if stored > self.last.load(Ordering::Acquire) {
            return false;
        }
        let (Some(places), Some(tags)) = (self.places.get(), tags) else { return true };
        let of_url = [Purged::Url(url.host(), url.target()), Purged::Path(url.target())];
        let mut all = of_url.into_iter().chain(tags.iter().map(Purged::Tag));
        all.any(|purged| stored <= places[self.place(purged)].load(Ordering::Relaxed))
    }

    fn place(&self, purged: impl Hash) -> usize {
        (self.hasher.hash_one(purged) >> 32) as usize % PLACES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purge_reaches_pages_that_were_stored_in_its_second_or_before() {
        let purges = Purges::default();
        let tags = Tags::listed([&b"t"[..]].into_iter()).unwrap();
        let url = |host, target| KeyRef::new(false, host, target).unwrap();
        let reaches = |stored| purges.reach(stored, &url("a", "/x"), Some(&tags));
        assert!(!reaches(Some(5)) && !reaches(None));
        purges.purge(5, [Purged::Tag(b"t")]);
        assert_eq!([Some(4), Some(5), Some(6), None].map(reaches), [true, true, false, true]);
        purges.purge(4, [Purged::Tag(b"t")]);
        assert!(reaches(Some(5)), "an earlier purge takes nothing back");
        let of = |host, target| purges.reach(Some(7), &url(host, target), Some(&Tags::default()));
        purges.purge(7, [Purged::Url("a", "/y"), Purged::Path("/z")]);
        assert_eq!([of("a", "/y"), of("b", "/y"), of("b", "/z"), of("a", "/x")], [true, false, true, false]);
        assert!(purges.reach(Some(7), &url("c", "/"), None), "with tags that are not known");
    }

    #[test]
    fn a_clock_that_is_ahead_is_taken_into_account() {
        let purges = Purges::default();
        let url = KeyRef::new(false, "a", "/x").unwrap();
        let reaches = |stored| purges.reach(Some(stored), &url, Some(&Tags::default()));
        assert!(purges.saw(90, 100) && purges.saw(103, 100));
        purges.purge(110, [Purged::Path("/x")]);
        assert_eq!([113, 114].map(reaches), [true, false]);
        assert!(!purges.saw(i64::MAX, 0), "no clock is so far ahead");
        purges.purge(1000, [Purged::Path("/x")]);
        assert_eq!([1003, 1004].map(reaches), [true, false]);
    }
}
