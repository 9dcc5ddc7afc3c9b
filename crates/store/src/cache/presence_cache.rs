//! Facts about folders, in memory: a request for a file in a folder that was requested before needs no database.
//!
//! Only the cache's thread inserts and removes entries, in the same turn in which it reads or changes the rows. So the entries
//! always equal the rows.

use super::origin::Origin;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Lifecycle, Weighter};
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Millis};

/// Roughly the expected number of folders.
const FOLDERS: usize = 16 << 10;

/// The folder of a path, and the name in it. A `?`, and everything after it, belongs to the name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    let names = path.find('?').map_or(path, |at| &path[..at]);
    names.rfind('/').map_or(("", path), |at| (&path[..at], &path[at + 1..]))
}

/// A fact about a name in a folder of an upstream: until when it counts as missing, or `None`, if it exists.
pub(crate) type NameFact = (Origin, String, Option<Millis>);

/// The proven facts about a folder, for every upstream from which a file in it was requested.
#[derive(Debug, Default)]
pub struct FolderPresence {
    /// Ordered by repository.
    upstreams: Box<[Upstream]>,
    /// Ordered by the upstream's index in `upstreams`, then by name.
    missing: Box<[(usize, Arc<str>, Millis)]>,
}

#[derive(Debug)]
struct Upstream {
    origin: Origin,
    has: bool,
}

/// The proven facts about a folder of one upstream.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamPresence<'a> {
    folder: &'a FolderPresence,
    at: usize,
    /// Whether any file in the folder was ever proven to exist.
    pub has: bool,
}

impl FolderPresence {
    /// From rows ordered by repository, at most one for each: whether any file exists, and the missing names with the end of
    /// their TTL.
    pub fn new(rows: Vec<(Origin, bool, BTreeMap<String, i64>)>) -> Self {
        let (mut upstreams, mut missing) = (Vec::new(), Vec::<(usize, Arc<str>, Millis)>::new());
        for (at, (origin, has, names)) in rows.into_iter().enumerate() {
            upstreams.push(Upstream { origin, has });
            for (name, until) in names {
                // Several upstreams often lack the same name: they share one string.
                let same = missing.iter().find(|(_, other, _)| **other == *name).map(|(_, other, _)| other.clone());
                missing.push((at, same.unwrap_or_else(|| name.into()), Millis(until)));
            }
        }
        Self { upstreams: upstreams.into(), missing: missing.into() }
    }

    /// The same after newer facts, which are not in the database yet.
    pub(crate) fn with(self: Arc<Self>, newer: Vec<NameFact>) -> Arc<Self> {
        if newer.is_empty() {
            return self;
        }
        let mut rows: BTreeMap<_, _> =
            self.upstreams.iter().map(|one| (one.origin.repository, (one.origin, one.has, BTreeMap::new()))).collect();
        for (at, name, until) in &self.missing {
            if let Some((_, _, names)) = self.upstreams.get(*at).and_then(|one| rows.get_mut(&one.origin.repository)) {
                names.insert((**name).to_owned(), until.0);
            }
        }
        for (of, name, until) in newer {
            let row = rows.entry(of.repository).or_insert_with(|| (of, false, BTreeMap::new()));
            if row.0 != of {
                *row = (of, false, BTreeMap::new());
            }
            match until {
                Some(until) => drop(row.2.insert(name, until.0)),
                None => {
                    row.1 = true;
                    row.2.remove(&name);
                }
            }
        }
        Arc::new(Self::new(rows.into_values().collect()))
    }

    /// The facts about one upstream, if there are any.
    pub fn upstream(&self, of: Origin) -> Option<UpstreamPresence<'_>> {
        let at = self.upstreams.binary_search_by_key(&of.repository, |upstream| upstream.origin.repository).ok()?;
        let upstream = self.upstreams.get(at).filter(|upstream| upstream.origin == of)?;
        Some(UpstreamPresence { folder: self, at, has: upstream.has })
    }
}

impl UpstreamPresence<'_> {
    /// The end of the TTL of the missing name, if it is recorded. The moment may be past.
    pub fn missing_until(&self, name: &str) -> Option<Millis> {
        let missing = &self.folder.missing;
        let found = missing.binary_search_by(|(at, other, _)| (*at, &**other).cmp(&(self.at, name)));
        found.ok().and_then(|found| missing.get(found)).map(|(_, _, until)| *until)
    }
}

/// The folders in memory.
#[derive(Debug)]
pub(crate) struct PresenceCache {
    folders: Cache<Box<str>, Arc<FolderPresence>, Weight, DefaultHashBuilder, Collect>,
    hasher: DefaultHashBuilder,
    bound: Arc<Bound>,
}

/// Collects the folders that leave the cache when another one is stored.
#[derive(Debug, Clone)]
struct Collect;

impl Lifecycle<Box<str>, Arc<FolderPresence>> for Collect {
    type RequestState = Vec<(Box<str>, Arc<FolderPresence>)>;

    fn on_evict(&self, gone: &mut Self::RequestState, folder: Box<str>, known: Arc<FolderPresence>) {
        gone.push((folder, known));
    }
}

#[derive(Debug, Clone)]
struct Weight;

impl Weighter<Box<str>, Arc<FolderPresence>> for Weight {
    fn weight(&self, name: &Box<str>, folder: &Arc<FolderPresence>) -> u64 {
        const EACH: usize = 128;
        let names: usize = folder.missing.iter().map(|(_, name, _)| name.len()).sum();
        let rows = size_of_val(&*folder.upstreams) + size_of_val(&*folder.missing);
        (EACH + name.len() + names + rows) as u64
    }
}

impl PresenceCache {
    /// An empty cache of at most this number of bytes.
    pub(crate) fn new(max_bytes: u64) -> Arc<Self> {
        let hasher = DefaultHashBuilder::default();
        let folders = Cache::with(FOLDERS, max_bytes, Weight, hasher.clone(), Collect);
        Arc::new(Self { folders, hasher, bound: Bound::new(BoundName::KnownFolders, "", max_bytes) })
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The facts about a folder. Counts a hit or a miss.
    pub(crate) fn get(&self, folder: &str) -> Option<Arc<FolderPresence>> {
        let (found, counts) = (self.folders.get(folder), self.bound.cache());
        match &found {
            Some(_) => counts.hit(),
            None => counts.miss(counts.why_absent(|| self.hasher.hash_one(folder))),
        }
        found
    }

    /// The same without counting.
    pub(crate) fn peek(&self, folder: &str) -> Option<Arc<FolderPresence>> {
        self.folders.peek(folder)
    }

    pub(super) fn keep(&self, folder: &str, known: Arc<FolderPresence>) {
        let (hash, mut gone) = (self.hasher.hash_one(folder), Vec::new());
        self.folders.insert_with_lifecycle(folder.into(), known.clone(), &mut gone);
        self.bound.cache().store(hash, &known, &gone, |folder| self.hasher.hash_one(folder));
        self.observe();
    }

    /// Removes the facts about a folder, because they have changed.
    pub(super) fn forget(&self, folder: &str) {
        if self.folders.remove(folder).is_some() {
            self.bound.cache().outdate(self.hasher.hash_one(folder));
        }
        self.observe();
    }

    pub(super) fn clear(&self) {
        self.folders.clear();
        self.observe();
    }

    fn observe(&self) {
        self.bound.observe(self.folders.weight());
        self.bound.cache().observe(self.folders.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RepositoryId;

    fn of(repository: u64, urls: i64) -> Origin {
        Origin { repository: RepositoryId(repository), urls }
    }

    #[test]
    fn a_folder_tells_of_each_upstream_what_was_proven_of_it() {
        let names = |names: &[(&str, i64)]| names.iter().map(|(name, until)| ((*name).to_owned(), *until)).collect();
        let folder = FolderPresence::new(vec![
            (of(2, 7), false, names(&[("a.bin", 5), ("b.bin", 6)])),
            (of(3, 7), true, names(&[])),
            (of(9, 8), true, names(&[("a.bin", 4)])),
        ]);
        let until = |of, name| folder.upstream(of).and_then(|upstream| upstream.missing_until(name));
        assert_eq!((until(of(2, 7), "a.bin"), until(of(2, 7), "b.bin")), (Some(Millis(5)), Some(Millis(6))));
        assert_eq!((until(of(3, 7), "a.bin"), until(of(9, 8), "a.bin")), (None, Some(Millis(4))));
        let has = [2, 3].map(|id| folder.upstream(of(id, 7)).map(|upstream| upstream.has));
        assert_eq!(has, [Some(false), Some(true)]);
        let unknown = [of(9, 7), of(4, 7)].map(|of| folder.upstream(of).is_none());
        assert_eq!(unknown, [true, true], "another upstream, another repository");
    }

    #[test]
    fn facts_that_are_not_written_yet_lie_over_the_known_ones() {
        let names = |name: &str, until| [(name.to_owned(), until)].into();
        let known = FolderPresence::new(vec![(of(2, 7), false, names("a", 5)), (of(3, 7), false, names("b", 6))]);
        let newer = vec![
            (of(2, 7), "b".to_owned(), Some(Millis(9))),
            (of(2, 7), "a".to_owned(), None),
            (of(3, 8), "a".to_owned(), Some(Millis(4))),
            (of(4, 7), "a".to_owned(), None),
        ];
        let now = Arc::new(known).with(newer);
        let until = |of, name| now.upstream(of).and_then(|upstream| upstream.missing_until(name));
        let has = [of(2, 7), of(3, 8), of(4, 7)].map(|of| now.upstream(of).map(|upstream| upstream.has));
        assert_eq!(has, [Some(true), Some(false), Some(true)]);
        assert_eq!((until(of(2, 7), "a"), until(of(2, 7), "b")), (None, Some(Millis(9))));
        assert_eq!((until(of(3, 8), "a"), until(of(3, 8), "b")), (Some(Millis(4)), None), "another upstream");
        assert!(now.upstream(of(3, 7)).is_none());
    }

    #[test]
    fn however_many_folders_are_asked_about_they_stay_within_their_bound() {
        const MAX_BYTES: u64 = 4 << 20;
        let presence = PresenceCache::new(MAX_BYTES);
        for number in 0..2_000 {
            let rows = (0..200).map(|id| (of(id, 7), false, [("x".repeat(50), 1)].into())).collect();
            presence.keep(&number.to_string(), Arc::new(FolderPresence::new(rows)));
        }
        assert!(presence.bound().highest() <= MAX_BYTES, "{}", presence.bound().highest());
        assert!(presence.bound().used() > MAX_BYTES / 2);
    }
}
