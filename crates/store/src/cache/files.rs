//! Cached files of upstreams: lookup, revalidation and removal.

use super::cached_file::{CachedFile, CachedPath, Held, Lookup, Unverified, VERIFIED_FIRST_MAX};
use super::database::Cache;
use super::origin::Origin;
use super::rows::{SELECT, bytes_at, read_row, references, row};
use super::small::{SMALL, are_intact};
use crate::blobs::digest::{Digest, Hashes, unhex};
use crate::error::Result;
use crate::journal::record::RepositoryId;
use rusqlite::params;
use std::fs::File;
use std::sync::Arc;
use telemetry::Millis;

/// The time of the last use is written at most once in this many milliseconds, so that not every use causes a write.
const USE_INTERVAL: i64 = 3_600_000;
/// So many uses are written in one transaction, or sooner with the files that came. A crash may lose them.
const USES_MAX: usize = 256;

/// Why the bytes of a file may not match its digest.
struct Unsure {
    /// They were written in an earlier boot of the machine.
    earlier_boot: bool,
    /// Their last verification is long ago.
    due: bool,
}

impl Cache {
    /// The cached file or fact for `path` in the database. Records its use at `now`.
    pub(crate) fn lookup(&mut self, of: Origin, path: &str, now: Millis) -> Result<Option<Lookup>> {
        let Some(row) = self.run(|database| row(database, of, path))? else {
            let until = self.missing_until(of, path)?;
            return Ok(until.map(|until| Lookup::Found(CachedPath::MissingUntil(until))));
        };
        let (digest, size_bytes) = (row.known.hashes.sha256, row.known.hashes.size_bytes);
        let unsure =
            Unsure { earlier_boot: row.boot != self.file_cache.boot, due: self.last_verified.is_due(&digest, now) };
        let used = row.used;
        let found = match size_bytes {
            0..=SMALL => self.find_small(of, path, row.known, &unsure, now)?,
            _ => self.find_large(of, path, row.known, &unsure, now)?,
        };
        let is_news = now.0.saturating_sub(used.0) > USE_INTERVAL || unsure.earlier_boot;
        if is_news && matches!(found, Some(Lookup::Found(_))) {
            self.uses.push((of, path.to_owned(), now));
            if self.uses.len() >= USES_MAX {
                // They are not worth an error: on a full disk they are lost.
                let _ = self.together(Self::write_uses);
            }
        }
        Ok(found)
    }

    /// A small file. Its bytes are verified here.
    fn find_small(
        &mut self,
        of: Origin,
        path: &str,
        known: CachedFile,
        unsure: &Unsure,
        now: Millis,
    ) -> Result<Option<Lookup>> {
        let digest = known.hashes.sha256;
        let Some((bytes, in_database)) = self.small_bytes(&digest, known.hashes.size_bytes)? else {
            self.drop_row(of.repository, path, &digest)?;
            return Ok(None);
        };
        if unsure.earlier_boot || unsure.due {
            if !are_intact(&bytes, &digest) {
                self.drop_damaged(of, path, &digest)?;
                // A file may not have reached the disk before the machine stopped. The database loses no part of a transaction.
                let is_damage = in_database || !unsure.earlier_boot;
                return Ok(is_damage.then_some(Lookup::Damaged(digest)));
            }
            self.last_verified.record(&digest, now);
        }
        Ok(Some(Lookup::Found(CachedPath::File(Arc::new(known), Held::Bytes(bytes)))))
    }

    fn find_large(
        &mut self,
        of: Origin,
        path: &str,
        known: CachedFile,
        unsure: &Unsure,
        now: Millis,
    ) -> Result<Option<Lookup>> {
        let (digest, size_bytes) = (known.hashes.sha256, known.hashes.size_bytes);
        let Some(file) = self.file_cache.open(&digest, size_bytes)? else {
            self.drop_row(of.repository, path, &digest)?;
            return Ok(None);
        };
        let earlier_boot = unsure.earlier_boot;
        let modified = || file.metadata().and_then(|file| file.modified()).ok();
        let due = unsure.due && !self.last_verified.is_unchanged(&digest, modified(), now);
        if earlier_boot || due && size_bytes <= VERIFIED_FIRST_MAX {
            return Ok(Some(Lookup::Unverified(Unverified { known, file, earlier_boot })));
        }
        Ok(Some(Lookup::Found(CachedPath::File(Arc::new(known), Held::File(Arc::new(file))))))
    }

    /// Writes the uses that lookups have recorded, in the transaction of the caller.
    pub(super) fn write_uses(&mut self) -> Result<()> {
        // Files that can be used were verified in this boot of the machine.
        let set = format!("used = max(used, ?4), boot = {}", self.file_cache.boot);
        for (of, path, at) in std::mem::take(&mut self.uses) {
            self.touch(of, &path, &set, at.0)?;
        }
        Ok(())
    }

    /// Records that the upstream proved at `at` that the file is unchanged.
    pub(crate) fn confirm(&mut self, of: Origin, path: &str, at: Millis) -> Result<()> {
        self.touch(of, path, "checked = ?4, used = ?4", at.0)
    }

    /// Removes a file whose bytes do not match its digest. Other paths with the same digest find it missing at their next lookup.
    /// `false`: it was removed before.
    pub(crate) fn drop_damaged(&mut self, of: Origin, path: &str, digest: &Digest) -> Result<bool> {
        self.remove_bytes(digest)?;
        self.forget(of, path)
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
        self.give_back()?;
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
        self.together(|cache| {
            if cache.run(|database| references(database, digest))? <= 1 {
                cache.remove_bytes(digest)?;
            }
            cache.run(|database| {
                let mut statement = database.prepare_cached("DELETE FROM file WHERE repository = ? AND path = ?")?;
                statement.execute(params![id.0.cast_signed(), path]).map(drop)
            })
        })?;
        self.measure_holding(id)
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
