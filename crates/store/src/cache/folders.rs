//! What is known of folders, in memory: who asks a group for a file of one that was asked about need not ask the database.
//!
//! Only the cache's thread puts something here and takes it out, in the turn in which it reads or changes the rows: so what is
//! here is what the rows say.

use super::Origin;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Weighter};
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Millis};

/// Bytes that are kept; folders that are asked about least go first.
const ROOM: u64 = 16 << 20;
/// Folders that are expected, roughly.
const FOLDERS: usize = 16 << 10;

/// What was proven of a folder, of every upstream that was asked about it.
#[derive(Debug, Default)]
pub struct Folder {
    /// By repository.
    members: Box<[Member]>,
    /// By their place among the members, and name.
    missing: Box<[(usize, Arc<str>, Millis)]>,
}

#[derive(Debug)]
struct Member {
    of: Origin,
    has: bool,
}

/// What was proven of a folder of one upstream.
#[derive(Debug, Clone, Copy)]
pub struct Fact<'a> {
    folder: &'a Folder,
    at: usize,
    /// Whether anything in the folder was ever proven to be there.
    pub has: bool,
}

impl Folder {
    /// From rows in the order of their repositories, of which each is in one: whether it has anything, and what it lacks until when.
    pub fn new(rows: Vec<(Origin, bool, BTreeMap<String, i64>)>) -> Self {
        let (mut members, mut missing) = (Vec::new(), Vec::<(usize, Arc<str>, Millis)>::new());
        for (at, (of, has, names)) in rows.into_iter().enumerate() {
            members.push(Member { of, has });
            for (name, until) in names {
                // Mostly several lack the same.
                let same = missing.iter().find(|(_, other, _)| **other == *name).map(|(_, other, _)| other.clone());
                missing.push((at, same.unwrap_or_else(|| name.into()), Millis(until)));
            }
        }
        Self { members: members.into(), missing: missing.into() }
    }

    /// What was proven of one upstream, if anything.
    pub fn fact(&self, of: Origin) -> Option<Fact<'_>> {
        let at = self.members.binary_search_by_key(&of.repository, |member| member.of.repository).ok()?;
        let member = self.members.get(at).filter(|member| member.of == of)?;
        Some(Fact { folder: self, at, has: member.has })
    }
}

impl Fact<'_> {
    /// Until when the file of that name counts as missing, if it was proven so, however long ago.
    pub fn missing_until(&self, name: &str) -> Option<Millis> {
        let missing = &self.folder.missing;
        let found = missing.binary_search_by(|(at, other, _)| (*at, &**other).cmp(&(self.at, name)));
        found.ok().and_then(|found| missing.get(found)).map(|(_, _, until)| *until)
    }
}

/// The folders in memory.
#[derive(Debug)]
pub(crate) struct Folders {
    known: Cache<Box<str>, Arc<Folder>, Weight>,
    bound: Arc<Bound>,
}

#[derive(Debug, Clone)]
struct Weight;

impl Weighter<Box<str>, Arc<Folder>> for Weight {
    fn weight(&self, name: &Box<str>, folder: &Arc<Folder>) -> u64 {
        const EACH: usize = 128;
        let names: usize = folder.missing.iter().map(|(_, name, _)| name.len()).sum();
        let rows = size_of_val(&*folder.members) + size_of_val(&*folder.missing);
        (EACH + name.len() + names + rows) as u64
    }
}

impl Folders {
    /// Knows nothing yet.
    pub(crate) fn new() -> Arc<Self> {
        let known = Cache::with(FOLDERS, ROOM, Weight, DefaultHashBuilder::default(), DefaultLifecycle::default());
        Arc::new(Self { known, bound: Bound::new(BoundName::KnownFolders, "", ROOM) })
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    pub(crate) fn get(&self, folder: &str) -> Option<Arc<Folder>> {
        self.known.get(folder)
    }

    pub(super) fn keep(&self, folder: &str, known: Arc<Folder>) {
        self.known.insert(folder.into(), known);
        self.bound.observe(self.known.weight());
    }

    pub(super) fn forget(&self, folder: &str) {
        self.known.remove(folder);
        self.bound.observe(self.known.weight());
    }

    pub(super) fn clear(&self) {
        self.known.clear();
        self.bound.observe(0);
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
        let folder = Folder::new(vec![
            (of(2, 7), false, names(&[("a.jar", 5), ("b.jar", 6)])),
            (of(3, 7), true, names(&[])),
            (of(9, 8), true, names(&[("a.jar", 4)])),
        ]);
        let until = |of, name| folder.fact(of).and_then(|fact| fact.missing_until(name));
        assert_eq!((until(of(2, 7), "a.jar"), until(of(2, 7), "b.jar")), (Some(Millis(5)), Some(Millis(6))));
        assert_eq!((until(of(3, 7), "a.jar"), until(of(9, 8), "a.jar")), (None, Some(Millis(4))));
        assert_eq!([2, 3].map(|id| folder.fact(of(id, 7)).map(|fact| fact.has)), [Some(false), Some(true)]);
        assert!(folder.fact(of(9, 7)).is_none() && folder.fact(of(4, 7)).is_none(), "another upstream, another member");
    }

    #[test]
    fn however_many_folders_are_asked_about_they_stay_within_their_room() {
        let folders = Folders::new();
        for number in 0..2_000 {
            let rows = (0..200).map(|id| (of(id, 7), false, [("x".repeat(50), 1)].into())).collect();
            folders.keep(&number.to_string(), Arc::new(Folder::new(rows)));
        }
        assert!(folders.bound().highest() <= ROOM, "{}", folders.bound().highest());
        assert!(folders.bound().used() > ROOM / 2);
    }
}
