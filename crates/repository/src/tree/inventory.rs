//! The names of files in folders, in memory, so that a request for a missing file needs no database query.
//!
//! Builds request each file from every repository, so most of the files that a repository is asked for are missing.
//! Only a request for a missing file makes the names of its folder be read. They are valid for as long as the folder's
//! revision.

use crate::index::name_key::{NameKey, NameKeyRef};
use crate::index::stamped_cache::{Stamped, StampedCache};
use std::sync::Arc;
use store::{RepositoryId, Stamp};
use telemetry::{Bound, BoundName};

/// Expected number of folders.
const FOLDERS: usize = 16 << 10;
/// Maximum number of names of one folder. For a larger folder the database is queried.
pub(crate) const NAMES: usize = 256;

/// The names of files, by folder.
#[derive(Debug)]
pub(crate) struct Inventory {
    folders: Folders,
}

type Folders = StampedCache<NameKey<RepositoryId>, FolderNames>;

/// The paths of a folder, in order; `None`: there are too many.
type FolderNames = Option<Box<[Box<str>]>>;

fn weigh(key: &NameKey<RepositoryId>, folder: &Stamped<FolderNames>) -> u64 {
    const EACH: usize = 32;
    let paths = folder.value.iter().flatten().map(|path| path.len() + EACH).sum::<usize>();
    (Folders::ENTRY + key.name.len() + paths) as u64
}

/// The known state of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The file does not exist.
    Missing,
    /// The file exists, or the folder has too many files to know.
    Perhaps,
    /// The names of the folder have not been read.
    Unknown,
}

impl Presence {
    /// Whether the file may exist; `None`: the names have not been read.
    pub(crate) fn known(self) -> Option<bool> {
        (self != Self::Unknown).then_some(self == Self::Perhaps)
    }
}

impl Inventory {
    /// An empty inventory of at most this number of bytes. The least used folders are evicted first.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { folders: Folders::new(Bound::new(BoundName::Folders, "", bytes), FOLDERS, weigh) }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.folders.bound()
    }

    /// The known state of `path` in `folder`, if the stamp of the names `holds`.
    pub(crate) fn ask(
        &self,
        repository: RepositoryId,
        folder: &str,
        path: &str,
        holds: impl FnOnce(&Stamp) -> bool,
    ) -> Presence {
        let key = NameKeyRef { within: repository, name: folder };
        let Some(held) = self.folders.find(&key, holds) else { return Presence::Unknown };
        match &held.value {
            Some(paths) if paths.binary_search_by(|there| (**there).cmp(path)).is_err() => Presence::Missing,
            _ => Presence::Perhaps,
        }
    }

    /// Stores the paths of all files in a folder, including withdrawn ones, or one more than [`NAMES`] of them. `stamp`
    /// was taken before they were read.
    pub(crate) fn keep<'a>(
        &self,
        repository: RepositoryId,
        folder: &str,
        paths: impl Iterator<Item = &'a str>,
        stamp: Stamp,
    ) {
        let mut some: Vec<Box<str>> = paths.take(NAMES + 1).map(Box::from).collect();
        some.sort_unstable();
        let names = (some.len() <= NAMES).then(|| some.into());
        self.folders.keep(NameKey::new(repository, folder), names, stamp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Revisions, Seq, Unit};
    use telemetry::Millis;

    const HERE: RepositoryId = RepositoryId(1);

    #[test]
    fn what_a_folder_lacks_is_known_until_it_changes() {
        let (inventory, revisions) = (Inventory::new(1 << 20), Revisions::new(Seq(0)));
        let stamp = revisions.stamp([Unit::Of(HERE, "a")], Millis(i64::MAX));
        let says = |id, path| inventory.ask(id, "a", path, |stamp| revisions.holds(stamp, Millis(0)));
        assert_eq!(says(HERE, "a/x"), Presence::Unknown);
        inventory.keep(HERE, "a", ["a/z", "a/y"].into_iter(), stamp);
        assert_eq!(says(HERE, "a/x"), Presence::Missing);
        assert_eq!((says(HERE, "a/y"), says(HERE, "a/z")), (Presence::Perhaps, Presence::Perhaps));
        assert_eq!(says(RepositoryId(2), "a/x"), Presence::Unknown);
        revisions.raise(Unit::Of(HERE, "a"));
        assert_eq!(says(HERE, "a/x"), Presence::Unknown);
    }

    #[test]
    fn a_folder_of_too_many_files_is_not_kept_and_all_together_stay_within_their_room() {
        const ROOM: u64 = 4 << 20;
        let (inventory, revisions) = (Inventory::new(ROOM), Revisions::new(Seq(0)));
        let stamp = revisions.stamp([], Millis(i64::MAX));
        let names: Vec<String> = (0..=NAMES).map(|number| format!("many/{number}")).collect();
        inventory.keep(HERE, "many", names.iter().map(String::as_str), stamp);
        assert_eq!(inventory.ask(HERE, "many", "many/other", |_| true), Presence::Perhaps);
        for number in 0..1000 {
            inventory.keep(HERE, &format!("{number}"), names[1..].iter().map(String::as_str), stamp);
        }
        assert!(inventory.bound().highest() <= ROOM, "{}", inventory.bound().highest());
    }
}
