//! The truth in SQLite: the journal, and tables derived from it in the same transaction.

mod first_seen;
mod history;
mod outline;
mod read;
mod write;

use crate::{Batch, Catalog, Change, Conflict, Digest, Entry, Error, JournalRow, RepositoryId, RepositoryRecord, Seq};
use crate::{FirstSeen, Holding, Outline, Span, Subject, TokenRecord, UnitFacts, UnitRows};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// `application_id` of a truth database: `DayT`.
const APPLICATION: i64 = 0x4461_7954;
/// `user_version`: the form of the schema below.
const FORM: i64 = 3;

/// What form 2 has more than form 1, whose versions know no change that would have filled it.
const SINCE_2: &str = "
    CREATE TABLE unit_facts (
        repository INTEGER NOT NULL, unit TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (repository, unit)
    ) STRICT, WITHOUT ROWID;
";

/// What form 3 has more than form 2, whose versions know no such change. The rows themselves are in the journal.
const SINCE_3: &str = first_seen::SCHEMA;

/// Every table but `counter` and `journal` is derived from the journal by [`write`]. Bodies are JSON.
const SCHEMA: &str = "
    CREATE TABLE counter (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT;
    INSERT INTO counter VALUES (1, 0);
    CREATE TABLE journal (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE entry (
        repository INTEGER NOT NULL, key TEXT NOT NULL, unit TEXT NOT NULL, live INTEGER NOT NULL,
        published INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (repository, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entry_unit ON entry (repository, unit, published, key);
    CREATE TABLE unit (
        repository INTEGER NOT NULL, unit TEXT NOT NULL, seq INTEGER NOT NULL, live INTEGER NOT NULL,
        PRIMARY KEY (repository, unit)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX unit_live ON unit (repository, unit) WHERE live > 0;
    CREATE TABLE line (
        repository INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (repository, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE repository (id INTEGER PRIMARY KEY, name TEXT NOT NULL, lives INTEGER NOT NULL, body TEXT NOT NULL)
        STRICT;
    CREATE INDEX repository_name ON repository (name, id) WHERE lives;
    CREATE TABLE token (hash BLOB PRIMARY KEY, name TEXT NOT NULL, lives INTEGER NOT NULL, body TEXT NOT NULL)
        STRICT, WITHOUT ROWID;
    CREATE INDEX token_name ON token (name, hash) WHERE lives;
    CREATE TABLE setting (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE blob (sha256 BLOB PRIMARY KEY, size_bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
";

/// Indexes that came later. A version that does not know them keeps them all the same, so they are no new form.
/// `lower` folds ASCII letters alone, and sees what stands behind a NUL, which `COLLATE NOCASE` does not.
const LATER: &str = "
    CREATE INDEX IF NOT EXISTS entry_folded ON entry (repository, lower(key));
    CREATE INDEX IF NOT EXISTS entry_published ON entry (repository, live, published, key);
    CREATE INDEX IF NOT EXISTS unit_folded ON unit (repository, lower(unit)) WHERE live > 0;
";

/// One connection to the truth.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// The one connection that writes; makes the database where it does not exist.
    pub fn writer(path: &Path) -> Result<Self, Error> {
        let connection = Connection::open(path).map_err(Error::sqlite("open the truth"))?;
        let failed = Error::sqlite("set up the truth");
        connection
            .execute_batch(
                "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216;",
            )
            .map_err(&failed)?;
        let application = pragma(&connection, "application_id").map_err(&failed)?;
        let form = pragma(&connection, "user_version").map_err(&failed)?;
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&failed)?;
        match (application, form, tables) {
            (0, 0, 0) => connection
                .execute_batch(&format!(
                    "BEGIN IMMEDIATE; {SCHEMA} {SINCE_2} {SINCE_3} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORM}; COMMIT;"
                ))
                .map_err(&failed)?,
            (APPLICATION, FORM, _) => {}
            (APPLICATION, 1, _) => connection
                .execute_batch(&format!("BEGIN IMMEDIATE; {SINCE_2} {SINCE_3} PRAGMA user_version = {FORM}; COMMIT;"))
                .map_err(&failed)?,
            (APPLICATION, 2, _) => connection
                .execute_batch(&format!("BEGIN IMMEDIATE; {SINCE_3} PRAGMA user_version = {FORM}; COMMIT;"))
                .map_err(&failed)?,
            (_, found, _) => {
                let data = path.parent().unwrap_or(path).to_owned();
                return Err(Error::TooNew { data, found: format!("truth {found}"), known: FORM as u32 });
            }
        }
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {LATER} COMMIT;")).map_err(&failed)?;
        outline::prepare(&connection).map_err(&failed)?;
        history::prepare(&connection).map_err(&failed)?;
        Ok(Self::with(connection))
    }

    /// A connection that only reads. The database exists.
    pub fn reader(path: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(Error::sqlite("open the truth"))?;
        let pragmas = "PRAGMA busy_timeout = 5000; PRAGMA query_only = ON;";
        connection.execute_batch(pragmas).map_err(Error::sqlite("set up a reader of the truth"))?;
        Ok(Self::with(connection))
    }

    fn with(connection: Connection) -> Self {
        connection.set_prepared_statement_cache_capacity(64);
        Self { connection }
    }

    /// Moves the write-ahead log into the database and closes it.
    pub(crate) fn close(self) -> Result<(), Error> {
        let failed = Error::sqlite("close the truth");
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(&failed)?;
        self.connection.close().map_err(|(_, e)| failed(e))
    }
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// SQLite's integers have a sign; ours come back as they went.
fn int(number: u64) -> i64 {
    number.cast_signed()
}

fn seq(number: i64) -> Seq {
    Seq(number.cast_unsigned())
}

fn json<T: serde::Serialize>(body: &T) -> Result<String, Error> {
    serde_json::to_string(body).map_err(Error::row(Seq(0)))
}

impl Catalog for Sqlite {
    fn commit(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>, Error> {
        let answers = self.begin(batches)?;
        self.finish()?;
        Ok(answers)
    }

    fn replay(&mut self, rows: &[JournalRow]) -> Result<(), Error> {
        self.write_rows(rows)
    }

    fn last(&mut self) -> Result<Seq, Error> {
        self.counter()
    }

    fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows, Error> {
        self.read_unit(repository, unit)
    }

    fn entries(&mut self, repository: RepositoryId, after: &str, through: &str) -> Result<Vec<Entry>, Error> {
        self.read_entries(repository, after, through)
    }

    fn facts(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitFacts, Error> {
        self.read_unit_facts(repository, unit)
    }

    fn known(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, serde_json::Value)>, Error> {
        self.read_known(repository, prefix, after, limit)
    }

    fn state(&mut self, id: RepositoryId, of: Subject<'_>, through: Seq) -> Result<Option<Change>, Error> {
        self.read_state(id, of, through)
    }

    fn known_then(
        &mut self,
        repository: RepositoryId,
        within: (&str, &str),
        limit: usize,
        through: Seq,
    ) -> Result<Vec<(String, serde_json::Value)>, Error> {
        self.read_known_then(repository, within, limit, through)
    }

    fn first_seen(&mut self, repository: RepositoryId, unit: &str, through: Seq) -> Result<Vec<FirstSeen>, Error> {
        self.read_first_seen(repository, unit, through)
    }

    fn first_seen_bytes(&mut self) -> Result<Vec<(RepositoryId, u64)>, Error> {
        self.read_first_seen_bytes()
    }

    fn published(&mut self, repository: RepositoryId, span: Span) -> Result<Vec<Entry>, Error> {
        self.read_published(repository, span)
    }

    fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Error> {
        self.read_entry(repository, key)
    }

    fn outlines(&mut self, repository: RepositoryId, unit: &str) -> Result<Vec<Outline>, Error> {
        self.read_outlines(repository, unit)
    }

    fn entries_beginning(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        self.read_entries_beginning(repository, prefix, after, limit)
    }

    fn entry_in_any_case(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Error> {
        self.read_entry_in_any_case(repository, key)
    }

    fn unit_in_other_case(&mut self, repository: RepositoryId, unit: &str) -> Result<Option<String>, Error> {
        self.read_unit_in_other_case(repository, unit)
    }

    fn keys(&mut self, repository: RepositoryId, unit: &str, limit: usize) -> Result<Vec<String>, Error> {
        self.read_keys(repository, unit, limit)
    }

    fn units(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        self.read_units(repository, after, limit)
    }

    fn units_ever(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        self.read_units_ever(repository, after, limit)
    }

    fn lines(&mut self, repository: RepositoryId, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>, Error> {
        self.read_lines(repository, after, limit)
    }

    fn last_line(&mut self, repository: RepositoryId, through: Seq) -> Result<Seq, Error> {
        self.read_last_line(repository, through)
    }

    fn repositories(&mut self) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        self.read_repositories()
    }

    fn removed_repositories(&mut self, name: &str) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        self.read_removed_repositories(name)
    }

    fn holding(&mut self, repository: RepositoryId) -> Result<Holding, Error> {
        self.read_holding(repository)
    }

    fn tokens(&mut self) -> Result<Vec<TokenRecord>, Error> {
        self.read_tokens()
    }

    fn setting(&mut self, key: &str) -> Result<Option<serde_json::Value>, Error> {
        self.read_setting(key)
    }

    fn journal(&mut self, after: Seq, limit: usize) -> Result<Vec<JournalRow>, Error> {
        self.read_journal(after, limit)
    }

    fn blobs(&mut self, after: Option<Digest>, limit: usize) -> Result<Vec<(Digest, u64)>, Error> {
        self.read_blobs(after, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pragmas_that_durability_rests_on_are_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        let writer = Sqlite::writer(&path).unwrap().connection;
        let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        let figures = [
            ("synchronous", 2),
            ("foreign_keys", 0),
            ("busy_timeout", 5000),
            ("wal_autocheckpoint", 1000),
            ("application_id", APPLICATION),
            ("user_version", FORM),
        ];
        for (name, value) in figures {
            assert_eq!(pragma(&writer, name).unwrap(), value, "{name}");
        }
        let reader = Sqlite::reader(&path).unwrap().connection;
        assert_eq!(pragma(&reader, "query_only").unwrap(), 1);
        reader.execute("DELETE FROM counter", []).unwrap_err();
    }

    #[test]
    fn a_truth_of_the_first_form_gets_what_came_later_and_uses_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        let old = Connection::open(&path).unwrap();
        let insert = "INSERT INTO unit VALUES (1, 'Rack', 1, 1)";
        let form = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1;");
        old.execute_batch(&format!("{SCHEMA} {form} {insert};")).unwrap();
        old.close().unwrap();
        let truth = Sqlite::writer(&path).unwrap();
        let found = truth.read_unit_in_other_case(RepositoryId(1), "rack").unwrap();
        assert_eq!(found.as_deref(), Some("Rack"));
        assert_eq!(truth.read_unit_facts(RepositoryId(1), "Rack").unwrap().seq, Seq(1));
        assert_eq!(pragma(&truth.connection, "user_version").unwrap(), FORM);
        for (sql, index) in [
            (write::KEY_IN_ANY_CASE, "entry_folded"),
            (write::UNIT_IN_OTHER_CASE, "unit_folded"),
            (read::PUBLISHED, "entry_published"),
        ] {
            let mut plan = truth.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let parameters = vec!["1"; plan.parameter_count()];
            let row: String = plan.query_row(rusqlite::params_from_iter(parameters), |row| row.get(3)).unwrap();
            assert!(row.contains(index), "{row}");
        }
    }

    #[test]
    fn a_truth_of_a_later_form_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        Sqlite::writer(&path).unwrap().connection.execute_batch("PRAGMA user_version = 4").unwrap();
        assert!(matches!(Sqlite::writer(&path).unwrap_err(), Error::TooNew { .. }));
    }
}
