//! Connections to the truth, and the basic queries of all reads and writes.

use super::schema;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::OnceCell;
use std::path::Path;
use telemetry::{Millis, give_way};

/// Keeps the index of the write-ahead log in memory and not in a file, for a disk without any free space. No other process can open
/// the database meanwhile.
pub(crate) const WITHOUT_SHARED_FILE: &str = "unix-excl";

/// A connection to the truth.
#[derive(Debug)]
pub struct Sqlite {
    pub(super) connection: Connection,
    /// The last change that this connection wrote, and its moment. Saves the writer a read per transaction.
    pub(super) wrote: Option<(Seq, Millis)>,
    /// Whether there is a table of redated rows, once that is known.
    pub(super) redates: OnceCell<bool>,
}

impl Sqlite {
    /// Opens the only connection that writes. Creates the database if it does not exist.
    pub fn writer(path: &Path) -> Result<Self> {
        Self::writer_by(None, path)
    }

    /// The same with other file operations of SQLite.
    pub(crate) fn writer_by(vfs: Option<&str>, path: &Path) -> Result<Self> {
        let connection = connect(vfs, path, OpenFlags::default()).map_err(Error::sqlite("open the truth"))?;
        schema::set_up(&connection, path)?;
        let mut writer = Self::with(connection);
        writer.set_up_blob_uses()?;
        writer.set_up_generations()?;
        Ok(writer)
    }

    /// Opens a connection that only reads. The database must exist.
    pub fn reader(path: &Path) -> Result<Self> {
        Self::reader_by(None, path)
    }

    /// The same with other file operations of SQLite.
    pub(crate) fn reader_by(vfs: Option<&str>, path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = connect(vfs, path, flags).map_err(Error::sqlite("open the truth"))?;
        let pragmas = "PRAGMA busy_timeout = 5000; PRAGMA query_only = ON;";
        connection.execute_batch(pragmas).map_err(Error::sqlite("set up a reader of the truth"))?;
        schema::refuse_newer(&connection, path)?;
        Ok(Self::with(connection))
    }

    /// A database that another one keeps: COMMIT writes but does not sync, so a power failure may lose the last changes.
    pub(crate) fn into_copy(self) -> Result<Self> {
        self.run("PRAGMA synchronous = NORMAL", [])?;
        Ok(self)
    }

    /// The same with this many bytes of memory for pages of the database.
    pub(crate) fn with_memory(self, cache_bytes: u64) -> Result<Self> {
        let reader = self;
        // SQLite reads a negative number as KiB, and a positive one as pages.
        let kibibytes = -i64::try_from(cache_bytes >> 10).unwrap_or(i64::MAX).max(1);
        let set = reader.connection.pragma_update(None, "cache_size", kibibytes);
        set.map_err(Error::sqlite("set up a reader of the truth"))?;
        Ok(reader)
    }

    pub(super) fn with(connection: Connection) -> Self {
        connection.set_prepared_statement_cache_capacity(64);
        // Plans do not depend on values. Otherwise SQLite prepares some statements again whenever a value changes, such as that
        // in `lower(?)`, which costs more than running them. Without this setting everything works as well, only slower.
        let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true);
        Self { connection, wrote: None, redates: OnceCell::new() }
    }

    /// Reads rows with one column, which is JSON.
    pub(super) fn bodies<T: DeserializeOwned>(&self, sql: &str, values: impl Params) -> Result<Vec<T>> {
        let bodies: Vec<String> = self.rows(sql, values, |row| row.get(0))?;
        let read = |body: &String| {
            give_way();
            parse(body)
        };
        bodies.iter().map(read).collect()
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let failed = Error::sqlite("read the truth");
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let read = |row: &Row<'_>| {
            give_way();
            read(row)
        };
        let rows = statement.query_map(values, read).and_then(Iterator::collect);
        rows.map_err(failed)
    }

    /// Runs a statement that returns no rows.
    pub(crate) fn run(&self, sql: &str, values: impl Params) -> Result<()> {
        let failed = Error::sqlite("write the truth");
        self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values)).map_err(failed)?;
        Ok(())
    }
}

/// Opens a database, with the usual file operations of SQLite or others.
pub(crate) fn connect(vfs: Option<&str>, path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    match vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs),
        None => Connection::open_with_flags(path, flags),
    }
}

/// SQLite's integers are signed. Numbers above `i64::MAX` become negative and come back unchanged.
pub(super) fn int(number: u64) -> i64 {
    number.cast_signed()
}

pub(super) fn seq(number: i64) -> Seq {
    Seq(number.cast_unsigned())
}

pub(super) fn json<T: Serialize>(body: &T) -> Result<String> {
    serde_json::to_string(body).map_err(Error::row(Seq(0)))
}

pub(super) fn parse<T: DeserializeOwned>(body: &str) -> Result<T> {
    serde_json::from_str(body).map_err(Error::row(Seq(0)))
}

/// The range of names that begin with a prefix and come after a name.
pub(super) struct PrefixRange<'a> {
    /// The comparison with `least`: `>` or `>=`. Two lower bounds would let SQLite begin at the wrong one.
    pub(super) from: &'static str,
    pub(super) least: &'a str,
    /// All names in the range are less.
    pub(super) end: String,
}

impl<'a> PrefixRange<'a> {
    pub(super) fn new(prefix: &'a str, after: &'a str) -> Self {
        let (from, least) = if after < prefix { (">=", prefix) } else { (">", after) };
        // No name has the last character of Unicode, so this string is greater than all names with the prefix.
        Self { from, least, end: format!("{prefix}{}", char::MAX) }
    }
}
