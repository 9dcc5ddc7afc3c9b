//! Small files, whose bytes are in the cache database: a file on the disk costs more than its bytes.

use super::database::Cache;
use super::file_cache;
use crate::blobs::digest::Digest;
use crate::error::Result;
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::Digest as _;

/// Files up to this size, in bytes, are in the database, and are read together with their row. Earlier versions of Daylight kept
/// them in files, and these are still read.
pub(crate) const SMALL: u64 = 64 << 10;

impl Cache {
    /// The bytes of a small file, and whether they are in the database. `None`: they are lost.
    pub(super) fn small_bytes(&mut self, digest: &Digest, size_bytes: u64) -> Result<Option<(Bytes, bool)>> {
        if let Some(bytes) = self.run(|database| read(database, digest))? {
            return Ok((bytes.len() as u64 == size_bytes).then_some((bytes, true)));
        }
        let file = self.file_cache.open(digest, size_bytes)?;
        Ok(file.and_then(|file| file_cache::read(file, size_bytes)).map(|bytes| (bytes, false)))
    }

    /// Keeps the bytes of a small file. They replace the ones that are there, which may be damaged.
    pub(super) fn keep_small(&mut self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        let sql = "INSERT INTO small (sha256, bytes) VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = excluded.bytes";
        self.run(|database| database.prepare_cached(sql)?.execute(params![digest.0, bytes]).map(drop))
    }

    /// Removes the bytes of a file, wherever they are.
    pub(super) fn remove_bytes(&mut self, digest: &Digest) -> Result<()> {
        self.unplaced.remove(digest);
        let sql = "DELETE FROM small WHERE sha256 = ?";
        self.run(|database| database.prepare_cached(sql)?.execute([digest.0]).map(drop))?;
        self.file_cache.remove(digest)
    }
}

/// The bytes of a small file that are in the database.
pub(crate) fn read(database: &Connection, digest: &Digest) -> rusqlite::Result<Option<Bytes>> {
    let mut statement = database.prepare_cached("SELECT bytes FROM small WHERE sha256 = ?")?;
    let read = |row: &rusqlite::Row<'_>| Ok(Bytes::copy_from_slice(row.get_ref(0)?.as_blob()?));
    statement.query_row([digest.0], read).optional()
}

/// Whether bytes have this digest.
pub(super) fn are_intact(bytes: &[u8], digest: &Digest) -> bool {
    let found: [u8; 32] = sha2::Sha256::digest(bytes).into();
    found == digest.0
}
