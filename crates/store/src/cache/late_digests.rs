//! MD5 and SHA-512 of cached files, which are made after their arrival. An index lists the files that lack one.

use super::cached_file::Held;
use super::database::Cache;
use super::origin::Origin;
use super::rows::{digest, optional, row};
use super::small::SMALL;
use crate::blobs::digest::{Digest, Hashes};
use crate::error::Result;
use crate::journal::record::RepositoryId;
use rusqlite::{Connection, Row, params};
use std::sync::Arc;
use telemetry::Millis;

/// The files of one batch. So many are open at once, or in memory if they are small.
const BATCH: i64 = 32;

/// A cached file that lacks a digest.
#[derive(Debug)]
pub struct Undigested {
    /// Its repository and upstream.
    pub of: Origin,
    /// Its path.
    pub path: String,
    /// When it was fetched.
    pub fetched: Millis,
    /// The digest that its bytes must have.
    pub sha256: Digest,
    /// Their number.
    pub size_bytes: u64,
    /// The bytes.
    pub held: Held,
}

impl Cache {
    /// Some of the files that lack a digest and came before `fetched`, the earliest first, each digest once. A file whose bytes are
    /// gone is removed.
    pub(crate) fn undigested(&mut self, fetched: Millis) -> Result<Vec<Undigested>> {
        // The condition is that of the index.
        let sql = "SELECT repository, origin, path, sha256, size, fetched FROM file
            WHERE (md5 = x'' OR sha512 = x'') AND fetched < ? ORDER BY fetched LIMIT ?";
        let rows: Vec<(Origin, String, Digest, u64, Millis)> = self.run(|database| {
            let read = |row: &Row<'_>| {
                let of = Origin { repository: RepositoryId(row.get::<_, i64>(0)?.cast_unsigned()), urls: row.get(1)? };
                Ok((of, row.get(2)?, digest(row, 3)?, row.get::<_, i64>(4)?.cast_unsigned(), Millis(row.get(5)?)))
            };
            database.prepare_cached(sql)?.query_map(params![fetched.0, BATCH], read)?.collect()
        })?;
        let mut found: Vec<Undigested> = Vec::with_capacity(rows.len());
        for (of, path, sha256, size_bytes, fetched) in rows {
            if found.iter().any(|other| other.sha256 == sha256) {
                continue;
            }
            let held = match size_bytes {
                ..=SMALL => self.small_bytes(&sha256, size_bytes)?.map(|(bytes, _)| Held::Bytes(bytes)),
                _ => self.file_cache.open(&sha256, size_bytes)?.map(|file| Held::File(Arc::new(file))),
            };
            match held {
                Some(held) => found.push(Undigested { of, path, fetched, sha256, size_bytes, held }),
                None => self.drop_row(of.repository, &path, &sha256)?,
            }
        }
        Ok(found)
    }

    /// Removes a file whose bytes do not match its digest. `false`: that is no damage, as it is no longer there, or another one is, or
    /// it was written in an earlier boot of the machine, and its bytes may not have reached the disk.
    pub(crate) fn drop_undigested(&mut self, file: &Undigested) -> Result<bool> {
        let Undigested { of, path, fetched, sha256, .. } = file;
        let found = self.run(|database| row(database, *of, path))?;
        let same = found.filter(|row| row.known.hashes.sha256 == *sha256 && row.known.fetched == *fetched);
        let Some(row) = same else { return Ok(false) };
        Ok(self.drop_damaged(*of, path, sha256)? && row.boot == self.file_cache.boot)
    }

    /// Adds the digests to all files with these bytes that lack one. Returns their repositories and paths.
    pub(crate) fn add_digests(&mut self, made: &[Hashes]) -> Result<Vec<(RepositoryId, String)>> {
        let sql = "UPDATE file SET sha512 = ?, md5 = ? WHERE sha256 = ? AND (md5 = x'' OR sha512 = x'')
            RETURNING repository, path";
        let update = |database: &Connection| {
            let mut changed = Vec::new();
            for Hashes { sha256, sha512, md5, .. } in made {
                let values =
                    params![optional::<64>(sha512.as_deref())?, optional::<16>(md5.as_deref())?, &sha256.0[..]];
                let read = |row: &Row<'_>| Ok((RepositoryId(row.get::<_, i64>(0)?.cast_unsigned()), row.get(1)?));
                for row in database.prepare_cached(sql)?.query_map(values, read)? {
                    changed.push(row?);
                }
            }
            Ok(changed)
        };
        self.together(|cache| cache.run(update))
    }
}
