//! Cached files of upstreams: lookup, caching, revalidation and removal.

use super::cached_file::{CacheInput, CachedFile, CachedPath, Held, Lookup, Unverified, VERIFIED_FIRST_MAX};
use super::database::Cache;
use super::file_cache;
use super::origin::Origin;
use super::rows::{SELECT, bytes_at, read_row, references, replace, row};
use super::weight::weight;
use crate::blobs::digest::{Digest, Hashes, unhex};
use crate::error::Result;
use crate::journal::record::RepositoryId;
use rusqlite::params;
use std::fs::File;
use std::sync::Arc;
use telemetry::Millis;

/// Files up to this size are read together with their row.
const SMALL: u64 = 64 << 10;
/// The time of the last use is written at most once in this many milliseconds, so that not every use causes a write.
const TOUCH_INTERVAL: i64 = 3_600_000;

impl Cache {
    /// The cached file or fact for `path`. Records its use at `now`.
    pub(crate) fn lookup(&mut self, of: Origin, path: &str, now: Millis) -> Result<Option<Lookup>> {
        let id = of.repository;
        let Some(row) = self.run(|database| row(database, of, path))? else {
            let until = self.missing_until(of, path)?;
            return Ok(until.map(|until| Lookup::Found(CachedPath::MissingUntil(until))));
        };
        let known = row.known;
        let (digest, size_bytes) = (known.hashes.sha256, known.hashes.size_bytes);
        let Some(file) = self.file_cache.open(&digest, size_bytes)? else {
            self.drop_row(id, path, &digest)?;
            return Ok(None);
        };
        let earlier_boot = row.boot != self.file_cache.boot;
        let due = self.last_verified.is_due(&digest, now);
        if earlier_boot || due && (SMALL + 1..=VERIFIED_FIRST_MAX).contains(&size_bytes) {
            return Ok(Some(Lookup::Unverified(Unverified { known, file, earlier_boot })));
        }
        if now.0.saturating_sub(row.used.0) > TOUCH_INTERVAL {
            self.touch(of, path, "used = ?4", now.0)?;
        }
        let held = match size_bytes {
            0..=SMALL => match file_cache::read(file, size_bytes) {
                Some(bytes) if due && Hashes::of(&bytes).sha256 != digest => {
                    self.drop_damaged(of, path, &digest)?;
                    return Ok(Some(Lookup::Damaged(digest)));
                }
                read => {
                    self.last_verified.record(&digest, now);
                    read.map(Held::Bytes)
                }
            },
            _ => Some(Held::File(Arc::new(file))),
        };
        Ok(held.map(|held| Lookup::Found(CachedPath::File(Arc::new(known), held))))
    }

    /// Caches a file in place of the one that was cached for its path, and evicts others for it. `false`: it was not cached,
    /// because it is too large or comes from a former upstream.
    pub(crate) fn keep(
        &mut self,
        of: Origin,
        path: &str,
        known: &CachedFile,
        input: CacheInput,
        max_bytes: Option<u64>,
    ) -> Result<bool> {
        let digest = known.hashes.sha256;
        if self.is_former(of) {
            return Ok(false);
        }
        self.record_present(of, path)?;
        let id = of.repository;
        let before = self.run(|database| bytes_at(database, id, path))?;
        let replaced = before.map_or(0, |(_, size)| weight(size));
        if !self.admits(id, max_bytes, known.hashes.size_bytes, replaced)? {
            self.bounds.files.cache().refuse(of.hash_of(path));
            self.drop_file(of, path)?;
            self.measure_files()?;
            return Ok(false);
        }
        // The row is written first: after a crash there may be a row without its file, but never a file without a row.
        let boot = self.file_cache.boot;
        self.run(|database| replace(database, of, path, known, boot))?;
        self.measure_holding(id)?;
        self.last_verified.record(&digest, known.fetched);
        let placed = match input {
            CacheInput::Bytes(bytes) => self.file_cache.write(&digest, &bytes),
            CacheInput::File(file) => self.file_cache.place(&digest, *file),
        };
        if let Some((before, _)) = before.filter(|(before, _)| *before != digest) {
            self.remove_if_unreferenced(&before)?;
        }
        if let Err(error) = placed {
            self.drop_row(id, path, &digest)?;
            return Err(error);
        }
        self.bounds.files.cache().insert();
        self.evict(id, max_bytes).map(|()| true)
    }

    /// Records that the upstream proved at `at` that the file is unchanged.
    pub(crate) fn confirm(&mut self, of: Origin, path: &str, at: Millis) -> Result<()> {
        self.touch(of, path, "checked = ?4, used = ?4", at.0)
    }

    /// Removes a file whose bytes do not match its digest. Other paths with the same digest find it missing at their next lookup.
    pub(crate) fn drop_damaged(&mut self, of: Origin, path: &str, digest: &Digest) -> Result<()> {
        self.file_cache.remove(digest)?;
        self.forget(of, path).map(drop)
    }

    /// Opens the file of a digest, if it is cached.
    pub(crate) fn open_file(&self, hashes: &Hashes) -> Result<Option<File>> {
        self.file_cache.open(&hashes.sha256, hashes.size_bytes)
    }

    /// Records that the bytes of a file were verified in this boot of the machine.
    pub(crate) fn mark_verified(&mut self, of: Origin, path: &str) -> Result<()> {
        self.touch(of, path, "boot = ?4", self.file_cache.boot)
    }

    /// Removes the cached file and facts of a path. `true`: there were some.
    pub(crate) fn forget(&mut self, of: Origin, path: &str) -> Result<bool> {
        let (file, missing) = (self.drop_file(of, path)?, self.forget_missing(of, path)?);
        Ok(file || missing)
    }

    /// Removes the file at a path, whichever upstream it came from. `true`: there was one.
    pub(super) fn drop_file(&mut self, of: Origin, path: &str) -> Result<bool> {
        let id = of.repository;
        let known = self.run(|database| bytes_at(database, id, path))?;
        if let Some((digest, _)) = &known {
            self.drop_row(id, path, digest)?;
        }
        Ok(known.is_some())
    }

    /// The cached files whose paths begin with `prefix` and come after `after`, in byte order.
    pub(crate) fn files(
        &mut self,
        of: Origin,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, CachedFile)>> {
        let sql =
            format!("{SELECT} AND path > ?3 AND path >= ?4 AND path < ?4 || char(1114111) ORDER BY path LIMIT ?5");
        self.run(|database| {
            let mut statement = database.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let values = params![of.repository.0.cast_signed(), of.urls, after, prefix, limit];
            let rows = statement.query_map(values, |row| Ok((row.get(12)?, read_row(row)?.known)))?;
            rows.collect()
        })
    }

    /// The paths of files with this SHA-1 (40 hexadecimal digits) or SHA-256 (64), in byte order.
    pub(crate) fn paths_of_digest(&mut self, of: Origin, digest: &str) -> Result<Vec<String>> {
        let (column, bytes) = match (unhex::<20>(digest), unhex::<32>(digest)) {
            (Ok(sha1), _) => ("sha1", sha1.to_vec()),
            (_, Ok(sha256)) => ("sha256", sha256.to_vec()),
            _ => return Ok(Vec::new()),
        };
        // The sign keeps SQLite from reading all files of the repository instead of those with the digest.
        let sql = format!("SELECT path FROM file WHERE {column} = ? AND +repository = ? AND origin = ? ORDER BY path");
        self.run(|database| {
            let mut statement = database.prepare_cached(&sql)?;
            let values = params![bytes, of.repository.0.cast_signed(), of.urls];
            statement.query_map(values, |row| row.get(0))?.collect()
        })
    }

    /// Removes a file: its bytes before its row, so that no bytes are left without a row.
    pub(super) fn drop_row(&mut self, id: RepositoryId, path: &str, digest: &Digest) -> Result<()> {
        if self.run(|database| references(database, digest))? <= 1 {
            self.file_cache.remove(digest)?;
        }
        self.run(|database| {
            let mut statement = database.prepare_cached("DELETE FROM file WHERE repository = ? AND path = ?")?;
            statement.execute(params![id.0.cast_signed(), path]).map(drop)
        })?;
        self.measure_holding(id)
    }

    fn remove_if_unreferenced(&mut self, digest: &Digest) -> Result<()> {
        match self.run(|database| references(database, digest))? {
            0 => self.file_cache.remove(digest),
            _ => Ok(()),
        }
    }

    fn touch(&mut self, of: Origin, path: &str, set: &str, value: i64) -> Result<()> {
        let sql = format!("UPDATE file SET {set} WHERE repository = ?1 AND origin = ?2 AND path = ?3");
        self.run(|database| {
            let mut statement = database.prepare_cached(&sql)?;
            statement.execute(params![of.repository.0.cast_signed(), of.urls, path, value]).map(drop)
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
