//! The tables of the truth, and the migration of older databases.

use super::holding_tables;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use rusqlite::{Connection, OptionalExtension};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// `application_id` of a truth database: `DayT`.
const APPLICATION: i64 = 0x4461_7954;
/// `user_version`: the version of the schema below.
const FORM: i64 = 4;
/// The version of the schema of the truth that this program writes, and the newest that it reads.
pub const TRUTH_FORM: u32 = FORM as u32;
/// Where the first bytes of a database have `user_version`, and behind it `application_id`, as big-endian numbers of 32 bits
/// (the file format of SQLite, 1.3).
const FORM_AT: usize = 60;
const APPLICATION_AT: usize = 68;
const START_BYTES: usize = 72;

/// Every table but `counter`, `journal` and the later `note` is derived from the journal. Bodies are JSON.
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

/// New in version 2 of the schema. No change of version 1 belongs in it.
const SINCE_2: &str = "
    CREATE TABLE unit_facts (
        repository INTEGER NOT NULL, unit TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (repository, unit)
    ) STRICT, WITHOUT ROWID;
";

/// New in version 3 of the schema. No change of version 2 belongs in it. The rows are only in the journal: a copy would double
/// their size.
const SINCE_3: &str = "
    CREATE TABLE first_seen (
        repository INTEGER NOT NULL, unit TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (repository, unit, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE first_seen_bytes (repository INTEGER PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
";

/// Indexes that were added later. SQLite also maintains them for earlier programs, so they need no new schema version. `lower`
/// folds only ASCII letters, and unlike `COLLATE NOCASE` it compares characters after a NUL. `entry_published` contained the
/// withdrawn entries too, which no query reads.
const LATER_INDEXES: &str = "
    CREATE INDEX IF NOT EXISTS entry_folded ON entry (repository, lower(key));
    DROP INDEX IF EXISTS entry_published;
    CREATE INDEX IF NOT EXISTS entry_published_live ON entry (repository, published, key) WHERE live;
    CREATE INDEX IF NOT EXISTS entry_live ON entry (repository, key) WHERE live;
    CREATE INDEX IF NOT EXISTS entry_unit_live ON entry (repository, unit, published, key) WHERE live;
    CREATE INDEX IF NOT EXISTS entry_sha1 ON entry (json_extract(body, '$.hashes.sha1'), repository, key) WHERE live;
    CREATE INDEX IF NOT EXISTS unit_folded ON unit (repository, lower(unit)) WHERE live > 0;
";

/// Outlines: those of a unit are stored side by side, without the parts that lists do not need. This table was added later. A
/// trigger maintains it, also for earlier programs, so it needs no new schema version. `brief` is null if the facts have no such
/// text.
const OUTLINE: &str = "
    CREATE TABLE outline (
        repository INTEGER NOT NULL, unit TEXT NOT NULL, key TEXT NOT NULL, live INTEGER NOT NULL,
        published INTEGER NOT NULL, changed INTEGER NOT NULL, brief TEXT, PRIMARY KEY (repository, unit, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER outline_of_entry AFTER INSERT ON entry BEGIN
        INSERT OR REPLACE INTO outline VALUES (
            new.repository, new.unit, new.key, new.live, new.published, json_extract(new.body, '$.changed'),
            CASE json_type(new.body, '$.facts.brief') WHEN 'text' THEN json_extract(new.body, '$.facts.brief') END
        );
    END;
    INSERT INTO outline SELECT repository, unit, key, live, published, json_extract(body, '$.changed'), NULL FROM entry;
";

/// The origin of an entry in its outline, if it is known. No earlier version wrote one, so existing rows have none.
const OUTLINE_ORIGIN: &str = "
    ALTER TABLE outline ADD COLUMN origin INTEGER;
    DROP TRIGGER outline_of_entry;
    CREATE TRIGGER outline_of_entry AFTER INSERT ON entry BEGIN
        INSERT OR REPLACE INTO outline VALUES (
            new.repository, new.unit, new.key, new.live, new.published, json_extract(new.body, '$.changed'),
            CASE json_type(new.body, '$.facts.brief') WHEN 'text' THEN json_extract(new.body, '$.facts.brief') END,
            json_extract(new.body, '$.origin.at')
        );
    END;
";

/// The numbers of all changes of each entry and of the facts of each unit. This table was added later. Triggers maintain it, also
/// for earlier programs, so it needs no new schema version. The journal row is written before the others, so the trigger's change
/// is the last one. In an existing database the table is filled from the journal: a change to null facts has a row only if there
/// were facts before.
const HISTORY: &str = "
    CREATE TABLE history (
        repository INTEGER NOT NULL, of_entry INTEGER NOT NULL, name TEXT NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY (repository, of_entry, name, seq)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO history SELECT json_extract(body, '$.repository'), 1, json_extract(body, '$.entry.key'), seq
        FROM journal WHERE json_extract(body, '$.change') = 'entry';
    INSERT INTO history SELECT repository, 0, unit, seq FROM (
        SELECT repository, unit, seq, known, lag(known, 1, 'null') OVER (PARTITION BY repository, unit ORDER BY seq) AS before
            FROM (SELECT seq, json_extract(body, '$.repository') AS repository, json_extract(body, '$.unit') AS unit,
                json_type(body, '$.facts') AS known FROM journal WHERE json_extract(body, '$.change') = 'unit')
    ) WHERE known <> 'null' OR before <> 'null';
    CREATE TRIGGER history_of_entry AFTER INSERT ON entry BEGIN
        INSERT INTO history VALUES (new.repository, 1, new.key, (SELECT max(seq) FROM journal));
    END;
    CREATE TRIGGER history_of_unit AFTER INSERT ON unit_facts BEGIN
        INSERT INTO history VALUES (new.repository, 0, new.unit, (SELECT max(seq) FROM journal));
    END;
    CREATE TRIGGER history_of_no_unit AFTER DELETE ON unit_facts BEGIN
        INSERT INTO history VALUES (old.repository, 0, old.unit, (SELECT max(seq) FROM journal));
    END;
";

/// The number of the last change of any repository. This table was added later and is filled from the journal. The search starts
/// at the journal's end, because the last such row is usually near it.
const REPOSITORY_CHANGES: &str = "
    CREATE TABLE repository_changes (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT;
    INSERT INTO repository_changes VALUES (1, coalesce((SELECT seq FROM journal
        WHERE body LIKE '%\"change\":\"repository\"%' AND json_extract(body, '$.change') = 'repository'
        ORDER BY seq DESC LIMIT 1), 0));
";

/// The rows from `first` up to `seq` count as of `at`, unless their own moment is earlier. This table was added later. Earlier programs
/// cannot read the rows that it is derived from.
const REDATED: &str = "CREATE TABLE IF NOT EXISTS redated
    (seq INTEGER PRIMARY KEY, first INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;";

/// Notes ([`Transactions::change_note`](crate::Transactions::change_note)). This table was added later, and no earlier program reads it.
const NOTE: &str = "CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;";

/// Sets the pragmas that durability depends on, creates the tables of a new database and adds missing ones to an old one.
pub(super) fn set_up(connection: &Connection, path: &Path) -> Result<()> {
    let failed = Error::sqlite("set up the truth");
    connection
        .execute_batch(
            "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216;",
        )
        .map_err(&failed)?;
    let application = pragma(connection, "application_id").map_err(&failed)?;
    let form = pragma(connection, "user_version").map_err(&failed)?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&failed)?;
    let missing = match (application, form, tables) {
        (0, 0, 0) => format!("{SCHEMA} {SINCE_2} {SINCE_3} PRAGMA application_id = {APPLICATION};"),
        (APPLICATION, FORM, _) => String::new(),
        (APPLICATION, 1, _) => format!("{SINCE_2} {SINCE_3}"),
        (APPLICATION, 2, _) => SINCE_3.to_owned(),
        // Version 4 has fields of rows that earlier programs would drop when they write an entry again.
        (APPLICATION, 3, _) => "SELECT 1;".to_owned(),
        (_, found, _) => return Err(too_new(path, found)),
    };
    if !missing.is_empty() {
        let all = format!("BEGIN IMMEDIATE; {missing} PRAGMA user_version = {FORM}; COMMIT;");
        connection.execute_batch(&all).map_err(&failed)?;
    }
    connection.execute_batch(&format!("BEGIN IMMEDIATE; {LATER_INDEXES} COMMIT;")).map_err(&failed)?;
    for (table, schema) in [("outline", OUTLINE), ("history", HISTORY), ("repository_changes", REPOSITORY_CHANGES)] {
        let found = connection.query_row("SELECT 1 FROM sqlite_schema WHERE name = ?", [table], |_| Ok(())).optional();
        if found.map_err(&failed)?.is_none() {
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {schema} COMMIT;")).map_err(&failed)?;
        }
    }
    let column = "SELECT 1 FROM pragma_table_info('outline') WHERE name = 'origin'";
    if connection.query_row(column, [], |_| Ok(())).optional().map_err(&failed)?.is_none() {
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {OUTLINE_ORIGIN} COMMIT;")).map_err(&failed)?;
    }
    connection.execute_batch(&format!("BEGIN IMMEDIATE; {REDATED} {NOTE} COMMIT;")).map_err(&failed)?;
    add_holdings(connection).map_err(failed)
}

/// Refuses a database that a later version of the program wrote, for a connection that only reads.
pub(super) fn refuse_newer(connection: &Connection, path: &Path) -> Result<()> {
    let number = |name: &str| pragma(connection, name).map_err(Error::sqlite("read the form of the truth"));
    match number("user_version")? {
        found if found > FORM && number("application_id")? == APPLICATION => Err(too_new(path, found)),
        _ => Ok(()),
    }
}

/// Refuses a copy of a database that a later version of the program wrote, by its first bytes alone. `path` is its path.
pub(crate) fn refuse_newer_copy(mut copy: impl Read, path: &Path) -> Result<()> {
    let mut start = [0; START_BYTES];
    match copy.read_exact(&mut start) {
        // SQLite says more about a file that is too short.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
        read => read.map_err(Error::io("read", path))?,
    }
    let number = |at: usize| start[at..].first_chunk().map(|bytes| i64::from(i32::from_be_bytes(*bytes)));
    match number(FORM_AT) {
        Some(found) if found > FORM && number(APPLICATION_AT) == Some(APPLICATION) => Err(too_new(path, found)),
        _ => Ok(()),
    }
}

fn too_new(path: &Path, found: i64) -> Error {
    Layout::new(path.parent().unwrap_or(path)).too_new("database", found.to_string(), TRUTH_FORM)
}

/// Adds the size of each repository. Earlier programs refuse version 4, so the code that applies changes can maintain these
/// tables without triggers.
fn add_holdings(connection: &Connection) -> rusqlite::Result<()> {
    let found = connection.query_row("SELECT 1 FROM sqlite_schema WHERE name = 'holding'", [], |_| Ok(())).optional();
    if found?.is_some() {
        return Ok(());
    }
    let all = connection.unchecked_transaction()?;
    connection.execute_batch(holding_tables::TABLES)?;
    holding_tables::fill(connection)?;
    all.commit()
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

#[cfg(test)]
mod tests;
