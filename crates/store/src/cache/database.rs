//! The SQLite connection of the cache: opened, and replaced by an empty database if it is damaged.

use super::arrivals::{Arrivals, Unplaced};
use super::changed_upstreams::ChangedUpstreams;
use super::file_cache::FileCache;
use super::last_verified::LastVerified;
use super::origin::Origin;
use super::presence_cache::PresenceCache;
use super::schema::{connect, folder_name};
use crate::blobs::digest::Digest;
use crate::disk::database_files::remove_database;
use crate::error::{Error, Result, is_corrupt};
use crate::journal::record::RepositoryId;
use crate::store::holdings::Holdings;
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use telemetry::{Bound, Log, Millis};

/// The cache database and the files beside it.
#[derive(Debug)]
pub(crate) struct Cache {
    path: PathBuf,
    /// Other file operations of SQLite.
    vfs: Option<&'static str>,
    pub(super) connection: Connection,
    pub(super) file_cache: FileCache,
    pub(super) bounds: CacheBounds,
    pub(super) presence: Arc<PresenceCache>,
    pub(super) last_verified: Arc<LastVerified>,
    pub(super) holdings: Arc<Holdings>,
    pub(super) changed_upstreams: Arc<ChangedUpstreams>,
    pub(super) arrivals: Arc<Arrivals>,
    /// Large files of the open transaction.
    pub(super) unplaced: HashMap<Digest, Unplaced>,
    /// Repositories whose files are above a bound after a turn of evictions, with the limits of their files.
    pub(super) over: BTreeMap<RepositoryId, Option<u64>>,
    /// Uses of files that are not written yet: the path and the moment of each.
    pub(super) uses: Vec<(Origin, String, Millis)>,
    /// How many times the database was damaged and replaced.
    renewed: Arc<AtomicU64>,
    pub(super) log: Log,
}

/// The disk space and the memory that the cache may use.
#[derive(Debug, Clone)]
pub(crate) struct CacheBounds {
    /// The files of all repositories.
    pub(crate) files: Arc<Bound>,
    /// The rows about folders of upstreams.
    pub(crate) presence: Arc<Bound>,
    /// Memory for such rows, in bytes.
    pub(crate) folders_bytes: u64,
}

impl Cache {
    /// Opens the database. Creates it if it does not exist, and replaces one that cannot be read.
    pub(crate) fn open(
        path: &Path,
        vfs: Option<&'static str>,
        mut file_cache: FileCache,
        bounds: CacheBounds,
        holdings: Arc<Holdings>,
        renewed: Arc<AtomicU64>,
        log: Log,
    ) -> Result<Self> {
        // The database is written until the end of a stop.
        let written = std::fs::metadata(path).and_then(|database| database.modified()).ok();
        let connection = match connect(vfs, path) {
            Err(error) if is_corrupt(&error) => renew(vfs, path, &renewed, &log, &error)?,
            connected => connected.map_err(Error::sqlite("open the cache"))?,
        };
        file_cache.use_folder(folder_name(&connection).map_err(Error::sqlite("open the cache"))?)?;
        file_cache.remove_old_folders()?;
        let presence = PresenceCache::new(bounds.folders_bytes);
        let saved: Option<Vec<u8>> = connection
            .query_row("SELECT slots FROM last_verified", [], |row| row.get(0))
            .optional()
            .map_err(Error::sqlite("open the cache"))?;
        let last_verified = Arc::new(LastVerified::saved(&saved.unwrap_or_default(), written));
        let mut cache = Self {
            path: path.to_owned(),
            vfs,
            connection,
            file_cache,
            bounds,
            presence,
            last_verified,
            holdings,
            changed_upstreams: Arc::default(),
            arrivals: Arc::default(),
            unplaced: HashMap::new(),
            over: BTreeMap::new(),
            uses: Vec::new(),
            renewed,
            log,
        };
        cache.measure_files()?;
        cache.measure_holdings()?;
        cache.measure_presence()?;
        Ok(cache)
    }

    /// The facts about folders that are in memory. Other threads read them without waiting for this one.
    pub(crate) fn presence(&self) -> &Arc<PresenceCache> {
        &self.presence
    }

    /// When cached files were last compared with their digests.
    pub(crate) fn last_verified(&self) -> &Arc<LastVerified> {
        &self.last_verified
    }

    /// The queue of files and facts that this writes.
    pub(crate) fn arrivals(&self) -> &Arc<Arrivals> {
        &self.arrivals
    }

    /// The upstreams that were changed since the start.
    pub(crate) fn changed_upstreams(&self) -> &Arc<ChangedUpstreams> {
        &self.changed_upstreams
    }

    /// Makes all changes of `work` or none. Inside another such call, they are part of it.
    pub(super) fn together<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if !self.connection.is_autocommit() {
            return work(self);
        }
        self.run(|database| database.execute_batch("BEGIN IMMEDIATE"))?;
        // A panic ends only its job. The next one must not join this transaction.
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        let commit = if matches!(done, Ok(Ok(_))) { "COMMIT" } else { "ROLLBACK" };
        // SQLite itself rolls back after some errors.
        let ended = if self.connection.is_autocommit() { Ok(()) } else { self.connection.execute_batch(commit) };
        let done = done.unwrap_or_else(|panic| resume_unwind(panic))?;
        if ended.is_err() && !self.connection.is_autocommit() {
            // If this fails, too, the disk does, and each later operation tells so.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        ended.map(|()| done).map_err(Error::sqlite("use the cache"))
    }

    /// Runs an operation. If the database is damaged, replaces it and tries once more.
    pub(super) fn run<T>(&mut self, operation: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        match operation(&self.connection) {
            Err(error) if is_corrupt(&error) => {
                // The old connection is closed first: SQLite removes the log of a closed database by name, and it must not remove
                // the log of the new one.
                let was_together = !self.connection.is_autocommit();
                let nothing = Connection::open_in_memory().map_err(Error::sqlite("open the cache"))?;
                drop(std::mem::replace(&mut self.connection, nothing));
                self.connection = renew(self.vfs, &self.path, &self.renewed, &self.log, &error)?;
                self.file_cache.use_folder(folder_name(&self.connection).map_err(Error::sqlite("open the cache"))?)?;
                self.presence.clear();
                self.unplaced.clear();
                self.holdings.clear_cached();
                if was_together {
                    self.connection.execute_batch("BEGIN IMMEDIATE").map_err(Error::sqlite("use the cache"))?;
                }
                operation(&self.connection)
            }
            done => done,
        }
        .map_err(Error::sqlite("use the cache"))
    }
}

fn renew(vfs: Option<&str>, path: &Path, renewed: &AtomicU64, log: &Log, why: &rusqlite::Error) -> Result<Connection> {
    renewed.fetch_add(1, Ordering::Relaxed);
    log.warn("the cache cannot be read and is replaced by an empty one", &[("path", &path.display()), ("error", why)]);
    remove_database(path)?;
    connect(vfs, path).map_err(Error::sqlite("open the cache"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::files::tests::{keep, open};
    use crate::journal::record::RepositoryId;

    const A: Origin = Origin { repository: RepositoryId(1), urls: 7 };

    /// Whether a fact can be written and read back.
    fn works(cache: &mut Cache) -> bool {
        cache.record_missing(A, "a/b", Millis(1), Millis(9), true).unwrap();
        cache.missing_until(A, "a/b").unwrap() == Some(Millis(9))
    }

    #[test]
    fn facts_stay_over_a_restart_and_a_deleted_cache_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(works(&mut open(folder.path(), u64::MAX, 1)));
        assert_eq!(open(folder.path(), u64::MAX, 1).missing_until(A, "a/b").unwrap(), Some(Millis(9)));
        remove_database(&folder.path().join("cache.sqlite")).unwrap();
        assert_eq!(open(folder.path(), u64::MAX, 1).missing_until(A, "a/b").unwrap(), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "damage")]
    fn a_damaged_cache_and_one_of_another_form_are_replaced_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite");
        std::fs::write(&path, "this is not a database".repeat(99)).unwrap();
        let mut cache = open(folder.path(), u64::MAX, 1);
        assert_eq!(cache.renewed.load(Ordering::Relaxed), 1);
        assert!(works(&mut cache));
        cache.connection.execute_batch("PRAGMA user_version = 9").unwrap();
        drop(cache);
        assert_eq!(open(folder.path(), u64::MAX, 1).renewed.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_cache_without_the_table_of_verified_files_keeps_its_files_and_does_not_know_whether_they_were_verified() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = open(folder.path(), u64::MAX, 1);
        keep(&mut cache, A, "a/b", b"lamp", 1);
        cache.connection.execute_batch("DROP TRIGGER verified_went; DROP TABLE verified").unwrap();
        drop(cache);
        let mut cache = open(folder.path(), u64::MAX, 1);
        assert_eq!(cache.renewed.load(Ordering::Relaxed), 0);
        let verified = |cache: &mut Cache| cache.files(A, "", "", 9).unwrap().pop().unwrap().1.verified;
        assert_eq!(verified(&mut cache), None);
        keep(&mut cache, A, "a/b", b"lamp", 1);
        assert_eq!(verified(&mut cache), Some(true));
        assert!(cache.forget(A, "a/b").unwrap());
        let rows = "SELECT count(*) FROM verified";
        assert_eq!(cache.connection.query_row(rows, [], |row| row.get::<_, i64>(0)), Ok(0));
    }

    #[test]
    fn the_cache_is_synced_lazily() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), u64::MAX, 1);
        let mode: i64 = cache.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
        assert_eq!(mode, 1);
    }
}
