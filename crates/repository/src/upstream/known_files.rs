//! Facts about cached files without a look in the cache: rows of files that were found lately, looks that are under way, and
//! the result of a look that a group made for its members.

use crate::index::name_key::{NameKey, NameKeyRef};
use crate::index::stamped_cache::StampedCache;
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::looks::Looks;
use crate::upstream::ttl::Ttl;
use std::sync::{Arc, Mutex};
use store::{CachedFile, CachedPath, FolderPresence, Origin, RepositoryId, Stamp};
use telemetry::{Bound, BoundName, Event, lock};

/// Rows in memory: those of the files that some builds are fetching now. A client asks for the checksum right after the file.
const ROWS: u64 = 2048;

/// Facts about cached files without a look in the cache.
#[derive(Debug)]
pub(crate) struct KnownFiles {
    rows: StampedCache<NameKey<Origin>, Arc<CachedFile>>,
    files: Looks<Origin, KnownFile>,
    /// By group.
    pub(crate) folders: Looks<RepositoryId, Arc<FolderPresence>>,
}

/// The row of a file, or that it is not cached.
#[derive(Debug, Clone)]
pub(crate) enum KnownFile {
    Cached(Arc<CachedFile>),
    Absent,
}

/// The result of a look for one path at some upstreams, each of which the request takes once.
#[derive(Debug)]
pub(crate) struct LookedUp {
    path: String,
    found: Mutex<Vec<(Origin, Option<CachedPath>, BeforeLook)>>,
}

/// The state before a look. What the look finds holds until a row of the folder changes, or a fetch of the path ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeforeLook {
    pub(crate) stamp: Stamp,
    landings: u64,
}

impl KnownFiles {
    pub(crate) fn new() -> Self {
        let rows = StampedCache::new(Bound::new(BoundName::KnownFiles, "", ROWS), ROWS as usize, |_, _| 1);
        Self { rows, files: Looks::default(), folders: Looks::default() }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.rows.bound()
    }
}

impl LookedUp {
    pub(crate) fn new(path: &str, found: Vec<(Origin, Option<CachedPath>, BeforeLook)>) -> Arc<Self> {
        Arc::new(Self { path: path.to_owned(), found: Mutex::new(found) })
    }

    /// What was found for a path of an upstream, once. `landings`: the fetches of the path that have ended by now.
    fn take(&self, of: Origin, path: &str, landings: u64) -> Option<(Option<CachedPath>, Stamp)> {
        if self.path != path {
            return None;
        }
        let mut all = lock(&self.found);
        let at = all.iter().position(|(origin, ..)| *origin == of)?;
        let (_, found, before) = all.swap_remove(at);
        (before.landings == landings).then_some((found, before.stamp))
    }
}

impl Remote {
    /// The facts about a file, without a look: its row in memory, or what a look under way finds. Only rows of files that do not change
    /// are in memory.
    pub(crate) async fn known_file(&self, file: &File<'_>, event: &mut Event) -> Option<KnownFile> {
        let holds = |stamp: &Stamp| self.remotes.store.revisions().holds(stamp, self.now());
        let (known, of) = (&self.remotes.known_files, self.repository.origin);
        if let Some(row) = known.rows.find(&NameKeyRef { within: of, name: file.path }, holds) {
            return Some(KnownFile::Cached(row.value.clone()));
        }
        known.files.join(of, file.path, holds, event).await
    }

    /// Keeps the row of a file that does not change. `stamp` was taken before the file was looked up.
    pub(crate) fn know(&self, file: &File<'_>, known: &Arc<CachedFile>, stamp: Stamp) {
        if Ttl::of(&self.repository, file).lasting() {
            let key = NameKey::new(self.repository.origin, file.path);
            self.remotes.known_files.rows.keep(key, known.clone(), stamp);
        }
    }

    /// The state before a look for a file, to be taken before it.
    pub(crate) fn before_look(&self, file: &File<'_>) -> BeforeLook {
        let landings = self.remotes.flights.landings(self.repository.origin, file.path);
        BeforeLook { stamp: self.stamp(file), landings }
    }

    /// Looks a path up in the cache, for all that ask for it meanwhile. Returns the stamp that was taken before.
    pub(super) async fn look_up(
        &self,
        file: &File<'_>,
        event: &mut Event,
    ) -> Result<(Option<CachedPath>, Stamp), store::Error> {
        let of = self.repository.origin;
        let landings = self.remotes.flights.landings(of, file.path);
        if let Some((found, stamp)) = self.looked_up.as_ref().and_then(|looked| looked.take(of, file.path, landings))
            && self.remotes.store.revisions().holds(&stamp, self.now())
        {
            return Ok((found, stamp));
        }
        let stamp = self.stamp(file); // before the work
        let look = self.remotes.known_files.files.begin(of, file.path, stamp);
        let found = self.remotes.store.lookup_cached(of, file.path, self.now(), event).await?;
        match &found {
            Some(CachedPath::File(known, _)) => look.tell(KnownFile::Cached(known.clone())),
            Some(CachedPath::MissingUntil(_)) => {}
            None => look.tell(KnownFile::Absent),
        }
        Ok((found, stamp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Revisions, Seq};
    use telemetry::Millis;

    #[test]
    fn a_look_of_a_group_says_nothing_once_a_fetch_of_the_path_has_ended() {
        let of = Origin::new(RepositoryId(1), &["http://a.test".to_owned()]);
        let stamp = Revisions::new(Seq(0)).stamp([], Millis(i64::MAX));
        let looked = || LookedUp::new("org/a.jar", vec![(of, None, BeforeLook { stamp, landings: 7 })]);
        assert!(matches!(looked().take(of, "org/a.jar", 7), Some((None, _))));
        assert!(looked().take(of, "org/b.jar", 7).is_none());
        assert!(looked().take(of, "org/a.jar", 8).is_none());
    }
}
