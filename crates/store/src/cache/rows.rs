//! Rows of cached files, as they are read and written.

use super::cached_file::CachedFile;
use super::origin::Origin;
use super::weight::weight;
use crate::blobs::digest::{Digest, Hashes, hex, unhex};
use crate::journal::record::RepositoryId;
use rusqlite::{Connection, OptionalExtension, Row, params};
use telemetry::Millis;

/// The columns of a file's row, in the order that [`read_row`] expects.
pub(super) const SELECT: &str = "SELECT sha256, sha512, sha1, md5, size, etag, modified, first_seen, fetched, checked,
    used, boot, path,
    (SELECT verified FROM verified WHERE verified.repository = file.repository AND verified.path = file.path)
    FROM file WHERE repository = ?1 AND origin = ?2";

/// A row of [`SELECT`].
pub(super) struct FileRow {
    pub(super) known: CachedFile,
    /// When the file was last used.
    pub(super) used: Millis,
    /// The boot of the machine in which it was written or last verified.
    pub(super) boot: i64,
}

/// The row of a path.
pub(super) fn row(database: &Connection, of: Origin, path: &str) -> rusqlite::Result<Option<FileRow>> {
    let mut statement = database.prepare_cached(&format!("{SELECT} AND path = ?3"))?;
    statement.query_row(params![of.repository.0.cast_signed(), of.urls, path], read_row).optional()
}

pub(super) fn read_row(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    let hexadecimal = |at: usize| row.get_ref(at)?.as_blob().map(hex).map_err(rusqlite::Error::from);
    let known = |digits: String| Some(digits).filter(|digits| !digits.is_empty());
    let hashes = Hashes {
        sha256: digest(row, 0)?,
        sha512: known(hexadecimal(1)?),
        sha1: hexadecimal(2)?,
        md5: known(hexadecimal(3)?),
        size_bytes: row.get::<_, i64>(4)?.cast_unsigned(),
    };
    let at = |column| row.get(column).map(Millis);
    let known = CachedFile {
        hashes,
        validator: row.get(5)?,
        modified: row.get(6)?,
        first_seen: at(7)?,
        fetched: at(8)?,
        checked: at(9)?,
        verified: row.get(13)?,
    };
    Ok(FileRow { known, used: at(10)?, boot: row.get(11)? })
}

pub(super) fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    row.get(column).map(Digest)
}

/// How many rows refer to these bytes.
pub(super) fn references(database: &Connection, digest: &Digest) -> rusqlite::Result<i64> {
    let mut statement = database.prepare_cached("SELECT count(*) FROM file WHERE sha256 = ?")?;
    statement.query_row([&digest.0[..]], |row| row.get(0))
}

/// The digest and the size of the file that is cached for a path, whichever upstream it came from.
pub(super) fn bytes_at(database: &Connection, id: RepositoryId, path: &str) -> rusqlite::Result<Option<(Digest, u64)>> {
    let mut statement = database.prepare_cached("SELECT sha256, size FROM file WHERE repository = ? AND path = ?")?;
    let read = |row: &Row<'_>| Ok((digest(row, 0)?, row.get::<_, i64>(1)?.cast_unsigned()));
    statement.query_row(params![id.0.cast_signed(), path], read).optional()
}

/// Writes the row of a path, replacing the existing one, in the transaction of the caller.
pub(super) fn replace(
    database: &Connection,
    of: Origin,
    path: &str,
    file: &CachedFile,
    boot: i64,
) -> rusqlite::Result<()> {
    let CachedFile { hashes, .. } = file;
    let id = of.repository.0.cast_signed();
    // Not REPLACE, which would not run the delete trigger.
    database.prepare_cached("DELETE FROM file WHERE repository = ? AND path = ?")?.execute(params![id, path])?;
    let sql = "INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    database.prepare_cached(sql)?.execute(params![
        id,
        path,
        of.urls,
        &hashes.sha256.0[..],
        optional::<64>(hashes.sha512.as_deref())?,
        raw::<20>(&hashes.sha1)?,
        optional::<16>(hashes.md5.as_deref())?,
        hashes.size_bytes.cast_signed(),
        file.validator,
        file.modified,
        file.first_seen.0,
        file.fetched.0,
        file.checked.0,
        file.checked.0,
        boot,
        weight(hashes.size_bytes).cast_signed(),
    ])?;
    if let Some(verified) = file.verified {
        let sql = "INSERT OR REPLACE INTO verified VALUES (?, ?, ?)";
        database.prepare_cached(sql)?.execute(params![id, path, verified])?;
    }
    Ok(())
}

/// A digest that may not have been made yet: then no bytes stand for it.
pub(super) fn optional<const N: usize>(hexadecimal: Option<&str>) -> rusqlite::Result<Vec<u8>> {
    hexadecimal.map_or_else(|| Ok(Vec::new()), |digits| raw::<N>(digits).map(Vec::from))
}

fn raw<const N: usize>(hexadecimal: &str) -> rusqlite::Result<[u8; N]> {
    unhex(hexadecimal).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
