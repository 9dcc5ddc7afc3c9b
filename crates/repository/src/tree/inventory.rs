//! What folders hold, in memory: who asks for a file that is not there hears so without a question to the database.
//!
//! Builds ask each repository for what another one has, again and again, so most of what a repository is asked for may be missing.
//! Only who asks in vain has the names of a folder read; they hold while its revision does.

use crate::index::name_key::{NameKey, NameKeyRef};
use crate::index::stamped_cache::{Stamped, StampedCache};
use std::sync::Arc;
use store::{RepositoryId, Stamp};
use telemetry::{Bound, BoundName};

/// Bytes of names that are kept; those of the folders that are asked least go first.
const ROOM: u64 = 4 << 20;
/// Folders that are expected, roughly.
const FOLDERS: usize = 16 << 10;
/// Names of a folder that are kept. One that has more is asked in the database.
pub(crate) const NAMES: usize = 256;

/// The names of files in folders.
#[derive(Debug)]
pub(crate) struct Inventory {
    folders: Folders,
}

type Folders = StampedCache<NameKey<RepositoryId>, FolderNames>;

/// The paths of a folder, in order. `None`: too many to keep.
type FolderNames = Option<Box<[Box<str>]>>;

fn weigh(key: &NameKey<RepositoryId>, folder: &Stamped<FolderNames>) -> u64 {
    const EACH: usize = 32;
    let paths = folder.value.iter().flatten().map(|path| path.len() + EACH).sum::<usize>();
    (Folders::ENTRY + key.name.len() + paths) as u64
}

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// There is no such file.
    Missing,
    /// There is one, or the folder holds too many to say.
    Perhaps,
    /// The folder's names have not been read.
    Unknown,
}

impl Presence {
    /// Whether there may be something; `None`: it has not been read.
    pub(crate) fn known(self) -> Option<bool> {
        (self != Self::Unknown).then_some(self == Self::Perhaps)
    }
}

impl Inventory {
    /// Knows nothing yet.
    pub(crate) fn new() -> Self {
        Self { folders: Folders::new(Bound::new(BoundName::Folders, "", ROOM), FOLDERS, weigh) }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.folders.bound()
    }

    /// What is known of `path` in `folder`, where its stamp `holds`.
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

    /// Keeps the paths of all files in a folder, withdrawn ones too, or one more than [`NAMES`] of them: `stamp` is of before
    /// they were read.
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
        let (inventory, revisions) = (Inventory::new(), Revisions::new(Seq(0)));
        let stamp = revisions.stamp(&[Unit::Of(HERE, "a")], Millis(i64::MAX)).unwrap();
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
        let (inventory, revisions) = (Inventory::new(), Revisions::new(Seq(0)));
        let stamp = revisions.stamp(&[], Millis(i64::MAX)).unwrap();
        let names: Vec<String> = (0..=NAMES).map(|number| format!("many/{number}")).collect();
        inventory.keep(HERE, "many", names.iter().map(String::as_str), stamp);
        assert_eq!(inventory.ask(HERE, "many", "many/other", |_| true), Presence::Perhaps);
        for number in 0..1000 {
            inventory.keep(HERE, &format!("{number}"), names[1..].iter().map(String::as_str), stamp);
        }
        assert!(inventory.bound().highest() <= ROOM, "{}", inventory.bound().highest());
    }
}
