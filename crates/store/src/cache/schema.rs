//! The tables of the cache database, and how it is opened.

use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// `user_version`. A cache with another schema version is replaced by an empty one.
pub(super) const FORM: i64 = 5;
/// The schema version of Daylight 0.1.0. It has no table `small`, and all files are in the folder. It is changed in place.
const FORM_WITHOUT_SMALL: i64 = 4;
/// The write-ahead log is copied into the database, which takes two syncs, whenever it has this many pages: 16 MiB.
const CHECKPOINT_PAGES: i64 = 4096;

/// Small files, by digest.
const SMALL: &str = "
    CREATE TABLE small (number INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT;
";

/// Tables that were added later. Each start creates missing ones. Earlier versions of Daylight with the same schema version
/// ignore them and use the other tables.
const LATER: &str = "
    CREATE TABLE IF NOT EXISTS pin (
        repository INTEGER NOT NULL, origin INTEGER NOT NULL, host TEXT NOT NULL, zone TEXT NOT NULL,
        PRIMARY KEY (repository, host)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS verified (
        repository INTEGER NOT NULL, path TEXT NOT NULL, verified INTEGER NOT NULL, PRIMARY KEY (repository, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS file_sha1 ON file (sha1);
    CREATE INDEX IF NOT EXISTS file_undigested ON file (fetched) WHERE md5 = x'' OR sha512 = x'';
    CREATE TABLE IF NOT EXISTS mark (sha256 BLOB PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS last_use (
        repository INTEGER NOT NULL, name TEXT NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (repository, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS uses_recorded (
        one INTEGER PRIMARY KEY CHECK (one = 1), since INTEGER NOT NULL, stopped INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS last_verified (
        one INTEGER PRIMARY KEY CHECK (one = 1), slots BLOB NOT NULL
    ) STRICT;
    CREATE TRIGGER IF NOT EXISTS verified_went AFTER DELETE ON file BEGIN
        DELETE FROM verified WHERE repository = old.repository AND path = old.path;
    END;
";

/// The number and size of the cached files of each upstream. Also added later; triggers maintain it.
const HOLDING: &str = "
    CREATE TABLE holding (
        repository INTEGER NOT NULL, origin INTEGER NOT NULL, files INTEGER NOT NULL, bytes INTEGER NOT NULL,
        PRIMARY KEY (repository, origin)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO holding SELECT repository, origin, count(*), sum(size) FROM file GROUP BY repository, origin;
    CREATE TRIGGER holding_came AFTER INSERT ON file BEGIN
        INSERT INTO holding VALUES (new.repository, new.origin, 1, new.size)
            ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
    END;
    CREATE TRIGGER holding_went AFTER DELETE ON file BEGIN
        UPDATE holding SET files = files - 1, bytes = bytes - old.size
            WHERE repository = old.repository AND origin = old.origin;
    END;
    CREATE TRIGGER holding_moved AFTER UPDATE OF origin ON file WHEN new.origin <> old.origin BEGIN
        UPDATE holding SET files = files - 1, bytes = bytes - old.size
            WHERE repository = old.repository AND origin = old.origin;
        INSERT INTO holding VALUES (new.repository, new.origin, 1, new.size)
            ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
    END;
";

/// `noted` and `held` are sums of weights, which triggers maintain: of all rows of `fact`, and of the files of each repository.
/// `shelf` names the folder with the files.
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

/// Opens the database, and creates its tables if they are missing.
pub(super) fn connect(vfs: Option<&str>, path: &Path) -> rusqlite::Result<Connection> {
    let connection = crate::truth::sqlite::connect(vfs, path, OpenFlags::default())?;
    connection.execute_batch("PRAGMA busy_timeout = 5000;")?;
    let form: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        // It has an effect on a new database alone, but writes into any, and the disk may be full.
        connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL;")?;
    }
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216;
         PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};",
    ))?;
    connection.set_prepared_statement_cache_capacity(64);
    match (form, tables) {
        (FORM, _) => {}
        (0, 0) => {
            connection.execute_batch(&format!("BEGIN; {SCHEMA} {SMALL} PRAGMA user_version = {FORM}; COMMIT;"))?
        }
        (FORM_WITHOUT_SMALL, _) => {
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {SMALL} PRAGMA user_version = {FORM}; COMMIT;"))?;
        }
        _ => {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
            return Err(rusqlite::Error::SqliteFailure(code, Some("the cache has another schema version".into())));
        }
    }
    connection.execute_batch(LATER)?;
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'holding'";
    if connection.query_row(sql, [], |row| row.get::<_, i64>(0))? == 0 {
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {HOLDING} COMMIT;"))?;
    }
    Ok(connection)
}

/// The name of the folder with the files. Each database has another one, so that no file outlives the database with its row.
pub(super) fn folder_name(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("SELECT name FROM shelf", [], |row| row.get(0))
}
