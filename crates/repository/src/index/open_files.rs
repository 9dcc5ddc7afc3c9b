//! Large files that were requested recently and stay open, so that the next request needs neither the database nor the
//! file system.
//!
//! Small files become pages instead. Like a page, an open file carries a stamp, which is checked at each use.

use crate::index::name_key::{NameKey, NameKeyRef};
use crate::index::stamped_cache::StampedCache;
use std::hash::Hash;
use std::sync::Arc;
use store::Stamp;
use telemetry::{Bound, BoundName};

/// Open files by repository or upstream (`W`) and name. `T` has one open descriptor, which all clients share, and the
/// metadata.
#[derive(Debug)]
pub(crate) struct OpenFiles<W, T>(StampedCache<NameKey<W>, T>);

impl<W: Copy + Eq + Hash, T: Clone> OpenFiles<W, T> {
    /// An empty table for this number of files. `which` names the table in metrics.
    pub(crate) fn new(which: &str, files: u64) -> Self {
        let entries = usize::try_from(files).unwrap_or(usize::MAX);
        Self(StampedCache::new(Bound::new(BoundName::OpenFiles, which, files), entries, |_, _| 1))
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }

    /// The file of that name, if it is open and its stamp `holds`. Otherwise it is closed as soon as its last reply
    /// ends.
    pub(crate) fn find(&self, within: W, name: &str, holds: impl FnOnce(&Stamp) -> bool) -> Option<T> {
        self.0.find_or_remove(&NameKeyRef { within, name }, holds).map(|found| found.value.clone())
    }

    /// Closes the files whose stamps do not hold. An open file takes space on the disk even after it was deleted.
    pub(crate) fn close_stale(&self, holds: impl Fn(&Stamp) -> bool) {
        self.0.retain_valid(holds);
    }

    /// Keeps a file open. `stamp` was taken before the file was looked up.
    pub(crate) fn keep(&self, within: W, name: &str, file: T, stamp: Stamp) {
        self.0.keep(NameKey::new(within, name), file, stamp);
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
        let stamp = revisions.stamp([Unit::Of(HERE, "a")], Millis(i64::MAX));
        let found = |id, name| opened.find(id, name, |stamp| revisions.holds(stamp, Millis(0)));
        opened.keep(HERE, "a/b", "file", stamp);
        assert_eq!((found(HERE, "a/b"), found(HERE, "a/c"), found(RepositoryId(2), "a/b")), (Some("file"), None, None));
        assert_eq!(opened.bound().used(), 1);
        revisions.raise(Unit::Of(HERE, "a"));
        opened.close_stale(|stamp| revisions.holds(stamp, Millis(0)));
        assert_eq!((opened.bound().used(), found(HERE, "a/b")), (0, None));
        opened.keep(HERE, "a/b", "file", stamp);
        assert_eq!((found(HERE, "a/b"), opened.bound().used()), (None, 0));
    }

    #[test]
    fn never_are_more_open_than_fit() {
        let (opened, revisions) = (OpenFiles::new("", 100), Revisions::new(Seq(0)));
        let stamp = revisions.stamp([], Millis(i64::MAX));
        for number in 0..1000 {
            opened.keep(HERE, &number.to_string(), (), stamp);
        }
        let open = (0..1000).filter(|number| opened.find(HERE, &number.to_string(), |_| true).is_some()).count();
        assert!((50..=100).contains(&open), "{open}");
        assert!(opened.bound().highest() <= 100);
    }
}
