//! Files that were asked for a while ago and are still open: who asks for one again is sent it without a question to a
//! database or to the file system.
//!
//! What is small is not here: it becomes a page. What a page is for complete answers, this is for large ones: made from what
//! its stamp stands for, and looked at again when it is used.

use crate::{Content, Found, How, Source};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Equivalent, UnitWeighter};
use std::sync::Arc;
use store::{RepositoryId, Stamp};
use telemetry::{Bound, BoundName, Event, Layer, Text};

/// The table. Each file in it is one open descriptor, whoever is sent it.
#[derive(Debug)]
pub(crate) struct Opened {
    files: Cache<Key, Arc<Kept>>,
    bound: Arc<Bound>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    repository: RepositoryId,
    name: Box<str>,
}

/// A [`Key`] that is not kept. Fields and their order are the same, so that it hashes alike.
#[derive(Debug, Hash)]
struct Wanted<'a> {
    repository: RepositoryId,
    name: &'a str,
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.repository == key.repository && self.name == &*key.name
    }
}

#[derive(Debug)]
struct Kept {
    stamp: Stamp,
    found: Found,
    /// What it is a file of, for the event.
    package: Text,
}

impl Opened {
    /// Holds none yet, and never more than `files`.
    pub(crate) fn new(files: u64) -> Self {
        let items = usize::try_from(files).unwrap_or(usize::MAX);
        let hasher = DefaultHashBuilder::default();
        Self {
            files: Cache::with(items, files, UnitWeighter, hasher, DefaultLifecycle::default()),
            bound: Bound::new(BoundName::OpenFiles, "", files),
        }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The file of that name, if it is open and its stamp `holds`. If not it is closed, once nobody is sent it any more.
    pub(crate) fn find(
        &self,
        repository: RepositoryId,
        name: &str,
        holds: impl FnOnce(&Stamp) -> bool,
        event: &mut Event,
    ) -> Option<Found> {
        let wanted = Wanted { repository, name };
        let kept = self.files.get(&wanted)?;
        if holds(&kept.stamp) {
            event.layer = Layer::Open;
            event.subject.package = kept.package.clone();
            return Some(kept.found.clone());
        }
        self.files.remove_if(&wanted, |there| Arc::ptr_eq(there, &kept));
        self.bound.observe(self.files.weight());
        None
    }

    /// Keeps what was found, if it is a file: `stamp` is what it was made from, taken before the work. It holds until somebody else
    /// may have changed the file.
    pub(crate) fn keep(&self, repository: RepositoryId, name: &str, found: &Found, mut stamp: Stamp, event: &Event) {
        let mut found = match found {
            Found::Content(content) if matches!(content.source, Source::File(_)) && content.hashes.is_some() => {
                stamp.fresh_until = content.fresh_until.map_or(stamp.fresh_until, |until| until.min(stamp.fresh_until));
                found.clone()
            }
            Found::File { .. } => found.clone(),
            _ => return,
        };
        if let Found::Content(Content { freshness: Some(freshness), .. }) = &mut found {
            // Whatever was done for it this time, nothing has to be for the next.
            freshness.how = How::Kept;
        }
        let kept = Kept { stamp, found, package: event.subject.package.clone() };
        self.files.insert(Key { repository, name: name.into() }, Arc::new(kept));
        self.bound.observe(self.files.weight());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use store::{Hashes, Revisions, Seq, Unit};
    use telemetry::{Clock, Millis};

    const HERE: RepositoryId = RepositoryId(1);

    fn content(source: Source) -> Found {
        let hashes = Some(Hashes::of(b"bytes"));
        Found::Content(Content {
            source,
            hashes,
            modified: None,
            media: "text/plain",
            lasting: true,
            fresh_until: None,
            freshness: None,
        })
    }

    fn file() -> Found {
        content(Source::File(Arc::new(tempfile::tempfile().unwrap())))
    }

    fn event() -> Box<Event> {
        Event::job("test", Clock::default().now())
    }

    #[test]
    fn a_file_stays_open_while_its_stamp_holds_and_is_found_under_its_own_name_only() {
        let (opened, revisions) = (Opened::new(100), Revisions::new(Seq(0)));
        let stamp = revisions.stamp(&[Unit::Of(HERE, "a")], Millis(i64::MAX)).unwrap();
        let found = |id, name| opened.find(id, name, |stamp| revisions.holds(stamp, Millis(0)), &mut event()).is_some();
        opened.keep(HERE, "a/b", &file(), stamp, &event());
        assert!(found(HERE, "a/b") && !found(HERE, "a/c") && !found(RepositoryId(2), "a/b"));
        assert_eq!(opened.bound().used(), 1);
        revisions.raise(Unit::Of(HERE, "a"));
        assert!(!found(HERE, "a/b"));
        assert_eq!(opened.bound().used(), 0);
    }

    #[test]
    fn never_are_more_open_than_fit_and_what_is_in_memory_is_not_kept() {
        let (opened, revisions) = (Opened::new(100), Revisions::new(Seq(0)));
        let stamp = revisions.stamp(&[], Millis(i64::MAX)).unwrap();
        for number in 0..1000 {
            opened.keep(HERE, &number.to_string(), &file(), stamp, &event());
        }
        let is_open = |name: &str| opened.find(HERE, name, |_| true, &mut event()).is_some();
        let open = (0..1000).filter(|number| is_open(&number.to_string())).count();
        assert!((50..=100).contains(&open), "{open}");
        assert!(opened.bound().highest() <= 100);
        opened.keep(HERE, "small", &content(Source::Memory(Bytes::from_static(b"bytes"))), stamp, &event());
        assert!(!is_open("small"));
    }
}
