//! What upstreams said about names and what they gave, in a database that may be deleted at any time: it is found out
//! again.
//!
//! Facts about members, not answers of groups (decision 3 of the design): order, nesting and policy are applied when
//! reading, so changing those voids nothing here. Not journaled, and synced lazily: a crash may lose the last facts.

mod facts;
mod files;
mod folders;
mod looked;
mod origin;
mod pins;
mod room;
mod shelf;

pub(crate) use facts::split;
pub(crate) use files::{Arrived, Doubtful, Found, WAITED_FOR};
pub use files::{CachedFile, Held, Recalled};
pub(crate) use folders::Folders;
pub use folders::{Fact, Folder};
pub(crate) use looked::Looked;
pub use origin::Origin;
pub(crate) use shelf::{Shelf, boot, sound};

use crate::error::spoilt;
use crate::{Error, RepositoryId};
use rusqlite::Connection;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use telemetry::{Bound, Log};

/// `user_version`. Another one is no reason to refuse: the cache is made anew.
const FORM: i64 = 4;
/// Whether files were verified, in a table of its own that each start makes where there is none: programs of this form that do not know
/// it read and write the rest as before.
const BESIDE: &str = "
    CREATE TABLE IF NOT EXISTS verified (
        repository INTEGER NOT NULL, path TEXT NOT NULL, verified INTEGER NOT NULL, PRIMARY KEY (repository, path)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER IF NOT EXISTS verified_went AFTER DELETE ON file BEGIN
        DELETE FROM verified WHERE repository = old.repository AND path = old.path;
    END;
";
const SCHEMA: &str = "
    CREATE TABLE fact (
        number INTEGER PRIMARY KEY, folder TEXT NOT NULL, member INTEGER NOT NULL, origin INTEGER NOT NULL,
        has INTEGER NOT NULL, missing TEXT NOT NULL, weight INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX fact_in ON fact (folder, member);
    CREATE INDEX fact_of ON fact (member, folder);
    CREATE TABLE noted (bytes INTEGER NOT NULL) STRICT;
    INSERT INTO noted VALUES (0);
    CREATE TRIGGER fact_came AFTER INSERT ON fact BEGIN UPDATE noted SET bytes = bytes + new.weight; END;
    CREATE TRIGGER fact_went AFTER DELETE ON fact BEGIN UPDATE noted SET bytes = bytes - old.weight; END;
    CREATE TABLE file (
        repository INTEGER NOT NULL, path TEXT NOT NULL, origin INTEGER NOT NULL,
        sha256 BLOB NOT NULL, sha512 BLOB NOT NULL, sha1 BLOB NOT NULL, md5 BLOB NOT NULL, size INTEGER NOT NULL,
        etag TEXT, modified TEXT,
        first_seen INTEGER NOT NULL, fetched INTEGER NOT NULL, checked INTEGER NOT NULL, used INTEGER NOT NULL,
        boot INTEGER NOT NULL, weight INTEGER NOT NULL, PRIMARY KEY (repository, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX file_used ON file (used);
    CREATE INDEX file_used_of ON file (repository, used);
    CREATE INDEX file_digest ON file (sha256);
    CREATE TABLE held (repository INTEGER PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
    CREATE TRIGGER file_came AFTER INSERT ON file BEGIN
        INSERT INTO held VALUES (new.repository, new.weight) ON CONFLICT DO UPDATE SET bytes = bytes + new.weight;
    END;
    CREATE TRIGGER file_went AFTER DELETE ON file BEGIN
        UPDATE held SET bytes = bytes - old.weight WHERE repository = old.repository;
    END;
    CREATE TABLE shelf (name TEXT NOT NULL) STRICT;
    INSERT INTO shelf VALUES (lower(hex(randomblob(8))));
";

/// The cache in SQLite.
#[derive(Debug)]
pub(crate) struct Cache {
    path: PathBuf,
    connection: Connection,
    /// Where the files are that its rows tell of.
    shelf: Shelf,
    /// What all files weigh: see [`room`].
    room: Arc<Bound>,
    /// What all facts take.
    facts: Arc<Bound>,
    /// Those of folders that were asked about.
    folders: Arc<Folders>,
    /// When files were last held against their digests.
    looked: Arc<Looked>,
    /// Where those repositories are turned that were turned to another upstream, or to none, since the start.
    turned: HashMap<RepositoryId, Option<Origin>>,
    /// How often it was found damaged and made anew.
    renewed: Arc<AtomicU64>,
    log: Log,
}

impl Cache {
    /// Makes it where there is none, and anew where there is one that cannot be read. Files of all repositories together
    /// have `room`, and so have `facts`.
    pub(crate) fn open(
        path: &Path,
        mut shelf: Shelf,
        (room, facts): (Arc<Bound>, Arc<Bound>),
        renewed: Arc<AtomicU64>,
        log: Log,
    ) -> Result<Self, Error> {
        let connection = match connect(path) {
            Err(error) if spoilt(&error) => renew(path, &renewed, &log, &error)?,
            connected => connected.map_err(Error::sqlite("open the cache"))?,
        };
        shelf.turn_to(name(&connection).map_err(Error::sqlite("open the cache"))?)?;
        shelf.sweep()?;
        let (path, turned, folders, looked) = (path.to_owned(), HashMap::new(), Folders::new(), Arc::default());
        let mut cache = Self { path, connection, shelf, room, facts, folders, looked, turned, renewed, log };
        cache.weigh()?;
        cache.weigh_facts()?;
        Ok(cache)
    }

    /// What is known of folders, for those who need not wait for this.
    pub(crate) fn folders(&self) -> &Arc<Folders> {
        &self.folders
    }

    /// When files were last held against their digests.
    pub(crate) fn looked(&self) -> &Arc<Looked> {
        &self.looked
    }

    /// Tries once more on a new database where the old one is damaged.
    fn run<T>(&mut self, operation: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        match operation(&self.connection) {
            Err(error) if spoilt(&error) => {
                // Closed first: SQLite removes the log of what it closes by name, and that must not be the new one's.
                let nothing = Connection::open_in_memory().map_err(Error::sqlite("open the cache"))?;
                drop(std::mem::replace(&mut self.connection, nothing));
                self.connection = renew(&self.path, &self.renewed, &self.log, &error)?;
                self.shelf.turn_to(name(&self.connection).map_err(Error::sqlite("open the cache"))?)?;
                self.folders.clear();
                operation(&self.connection)
            }
            done => done,
        }
        .map_err(Error::sqlite("use the cache"))
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         PRAGMA journal_size_limit = 16777216;",
    )?;
    let form: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (form, tables) {
        (FORM, _) => {}
        (0, 0) => connection.execute_batch(&format!("BEGIN; {SCHEMA} PRAGMA user_version = {FORM}; COMMIT;"))?,
        _ => {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
            return Err(rusqlite::Error::SqliteFailure(code, Some("the cache has another form".into())));
        }
    }
    connection.execute_batch(pins::SCHEMA)?;
    connection.execute_batch(BESIDE)?;
    Ok(connection)
}

/// The folder that its files are in: another for each database, so that no file outlives the row that told of it.
fn name(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("SELECT name FROM shelf", [], |row| row.get(0))
}

fn renew(path: &Path, renewed: &AtomicU64, log: &Log, why: &rusqlite::Error) -> Result<Connection, Error> {
    renewed.fetch_add(1, Ordering::Relaxed);
    log.warn("the cache cannot be read and is made anew", &[("path", &path.display()), ("error", why)]);
    crate::rebuild::remove(path)?;
    connect(path).map_err(Error::sqlite("open the cache"))
}

#[cfg(test)]
mod tests {
    use super::files::tests::open;
    use super::*;
    use telemetry::Millis;

    const A: Origin = Origin { repository: RepositoryId(1), urls: 7 };

    /// Whether what is noted is found again.
    fn works(cache: &mut Cache) -> bool {
        cache.miss(A, "a/b", (Millis(1), Millis(9)), true).unwrap();
        cache.missing_until(A, "a/b").unwrap() == Some(Millis(9))
    }

    #[test]
    fn facts_stay_over_a_restart_and_a_deleted_cache_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(works(&mut open(folder.path(), u64::MAX, 1)));
        assert_eq!(open(folder.path(), u64::MAX, 1).missing_until(A, "a/b").unwrap(), Some(Millis(9)));
        crate::rebuild::remove(&folder.path().join("cache.sqlite")).unwrap();
        assert_eq!(open(folder.path(), u64::MAX, 1).missing_until(A, "a/b").unwrap(), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "damage")]
    fn a_damaged_cache_and_one_of_another_form_are_made_anew_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite");
        std::fs::write(&path, "this is no database, whatever its name says".repeat(99)).unwrap();
        let mut cache = open(folder.path(), u64::MAX, 1);
        assert_eq!(cache.renewed.load(Ordering::Relaxed), 1);
        assert!(works(&mut cache));
        cache.connection.execute_batch("PRAGMA user_version = 9").unwrap();
        drop(cache);
        assert_eq!(open(folder.path(), u64::MAX, 1).renewed.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_cache_of_a_program_that_did_not_note_it_keeps_its_files_and_does_not_know_whether_they_were_verified() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = open(folder.path(), u64::MAX, 1);
        super::files::tests::keep(&mut cache, A, "a/b", b"lamp", 1);
        cache.connection.execute_batch("DROP TRIGGER verified_went; DROP TABLE verified").unwrap();
        drop(cache);
        let mut cache = open(folder.path(), u64::MAX, 1);
        assert_eq!(cache.renewed.load(Ordering::Relaxed), 0);
        let verified = |cache: &mut Cache| cache.files(A, ("", ""), 9).unwrap().pop().unwrap().1.verified;
        assert_eq!(verified(&mut cache), None);
        super::files::tests::keep(&mut cache, A, "a/b", b"lamp", 1);
        assert_eq!(verified(&mut cache), Some(true));
        assert!(cache.lose(A, "a/b").unwrap());
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
