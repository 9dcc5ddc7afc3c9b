//! Files that were asked for a while ago and are still open: who asks for one again is sent it without a question to a
//! database or to the file system.
//!
//! What is small is not here: it becomes a page. What a page is for complete answers, this is for large ones: made from what
//! its stamp stands for, and looked at again when it is used.

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Equivalent, UnitWeighter};
use std::hash::Hash;
use std::sync::Arc;
use store::Stamp;
use telemetry::{Bound, BoundName};

/// A table of them, by whose (`W`) and by name. `T` is what is known of a file, and one open descriptor, whoever is sent it.
#[derive(Debug)]
pub(crate) struct OpenFiles<W, T> {
    files: Cache<Key<W>, Arc<OpenFile<T>>>,
    bound: Arc<Bound>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key<W> {
    whose: W,
    name: Box<str>,
}

/// A [`Key`] that is not kept. Fields and their order are the same, so that it hashes alike.
#[derive(Debug, Hash)]
struct KeyRef<'a, W> {
    whose: W,
    name: &'a str,
}

impl<W: Eq> Equivalent<Key<W>> for KeyRef<'_, W> {
    fn equivalent(&self, key: &Key<W>) -> bool {
        self.whose == key.whose && self.name == &*key.name
    }
}

#[derive(Debug)]
struct OpenFile<T> {
    stamp: Stamp,
    file: T,
}

impl<W: Copy + Eq + Hash, T: Clone> OpenFiles<W, T> {
    /// Holds none yet, and never more than `files`. `which` says which files, where there are several tables.
    pub(crate) fn new(which: &str, files: u64) -> Self {
        let items = usize::try_from(files).unwrap_or(usize::MAX);
        let hasher = DefaultHashBuilder::default();
        Self {
            files: Cache::with(items, files, UnitWeighter, hasher, DefaultLifecycle::default()),
            bound: Bound::new(BoundName::OpenFiles, which, files),
        }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The file of that name, if it is open and its stamp `holds`. If not it is closed, once nobody is sent it any more.
    pub(crate) fn find(&self, whose: W, name: &str, holds: impl FnOnce(&Stamp) -> bool) -> Option<T> {
        let wanted = KeyRef { whose, name };
        let kept = self.files.get(&wanted)?;
        if holds(&kept.stamp) {
            return Some(kept.file.clone());
        }
        self.files.remove_if(&wanted, |there| Arc::ptr_eq(there, &kept));
        self.bound.observe(self.files.weight());
        None
    }

    /// Keeps a file: `stamp` is what it was made from, taken before the work.
    pub(crate) fn keep(&self, whose: W, name: &str, file: T, stamp: Stamp) {
        self.files.insert(Key { whose, name: name.into() }, Arc::new(OpenFile { stamp, file }));
        self.bound.observe(self.files.weight());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{RepositoryId, Revisions, Seq, Unit};
    use telemetry::Millis;

    const HERE: RepositoryId = RepositoryId(1);

    #[test]
    fn a_file_stays_open_while_its_stamp_holds_and_is_found_under_its_own_name_only() {
        let (opened, revisions) = (OpenFiles::new("", 100), Revisions::new(Seq(0)));
        let stamp = revisions.stamp(&[Unit::Of(HERE, "a")], Millis(i64::MAX)).unwrap();
        let found = |id, name| opened.find(id, name, |stamp| revisions.holds(stamp, Millis(0)));
        opened.keep(HERE, "a/b", "file", stamp);
        assert_eq!((found(HERE, "a/b"), found(HERE, "a/c"), found(RepositoryId(2), "a/b")), (Some("file"), None, None));
        assert_eq!(opened.bound().used(), 1);
        revisions.raise(Unit::Of(HERE, "a"));
        assert_eq!((found(HERE, "a/b"), opened.bound().used()), (None, 0));
    }

    #[test]
    fn never_are_more_open_than_fit() {
        let (opened, revisions) = (OpenFiles::new("", 100), Revisions::new(Seq(0)));
        let stamp = revisions.stamp(&[], Millis(i64::MAX)).unwrap();
        for number in 0..1000 {
            opened.keep(HERE, &number.to_string(), (), stamp);
        }
        let open = (0..1000).filter(|number| opened.find(HERE, &number.to_string(), |_| true).is_some()).count();
        assert!((50..=100).contains(&open), "{open}");
        assert!(opened.bound().highest() <= 100);
    }
}
