//! Reads of entries and blobs.

use super::connection::{PrefixRange, Sqlite, int};
use super::expectations::KEY_IN_ANY_CASE;
use super::holding::holding_row;
use crate::blobs::digest::{Digest, unhex};
use crate::error::Result;
use crate::journal::entry::Entry;
use crate::journal::record::RepositoryId;
use crate::truth::catalog::{EntryReads, Holding, Span};
use rusqlite::params;

/// An index answers this query, so its cost does not depend on the repository's size.
pub(super) const PUBLISHED: &str =
    "SELECT body FROM entry INDEXED BY entry_published_live WHERE repository = ? AND live AND published BETWEEN ? AND ?
    ORDER BY published DESC, key DESC LIMIT ? OFFSET ?";

/// The keys of the live entries of a repository with this SHA-1. An index answers this query too.
pub(super) const KEYS_OF_SHA1: &str = "SELECT key FROM entry INDEXED BY entry_sha1
    WHERE json_extract(body, '$.hashes.sha1') = ? AND repository = ? AND live ORDER BY key";

impl EntryReads for Sqlite {
    fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>> {
        let sql = "SELECT body FROM entry WHERE repository = ? AND key = ?";
        Ok(self.bodies(sql, params![int(repository.0), key])?.pop())
    }

    fn entry_in_any_case(&mut self, id: RepositoryId, key: &str) -> Result<Option<Entry>> {
        Ok(self.bodies(KEY_IN_ANY_CASE, params![int(id.0), key])?.pop())
    }

    fn entries(&mut self, id: RepositoryId, after: &str, through: &str) -> Result<Vec<Entry>> {
        let sql =
            "SELECT body FROM entry WHERE repository = ? AND unit > ? AND unit <= ? ORDER BY unit, published, key";
        self.bodies(sql, params![int(id.0), after, through])
    }

    fn entries_beginning(&mut self, id: RepositoryId, prefix: &str, after: &str, limit: usize) -> Result<Vec<Entry>> {
        self.beginning("entry WHERE", id, PrefixRange::new(prefix, after), limit)
    }

    fn live_entries_beginning(
        &mut self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        self.beginning("entry INDEXED BY entry_live WHERE live AND", id, PrefixRange::new(prefix, after), limit)
    }

    fn keys_of_digest(&mut self, id: RepositoryId, digest: &str) -> Result<Vec<String>> {
        if let Ok(sha256) = unhex::<32>(digest) {
            let sql = "SELECT key FROM blob_use JOIN entry USING (repository, key)
                WHERE sha256 = ? AND repository = ? AND ended IS NULL AND live ORDER BY key";
            return self.rows(sql, params![sha256, int(id.0)], |row| row.get(0));
        }
        self.rows(KEYS_OF_SHA1, params![digest, int(id.0)], |row| row.get(0))
    }

    fn published(&mut self, id: RepositoryId, span: Span) -> Result<Vec<Entry>> {
        let (limit, skip) = (int(span.limit as u64), int(span.skip as u64));
        self.bodies(PUBLISHED, params![int(id.0), span.from.0, span.until.0, limit, skip])
    }

    fn holding(&mut self, id: RepositoryId) -> Result<Holding> {
        let sql = "SELECT repository, files, size_bytes, packages FROM holding WHERE repository = ?";
        Ok(self.rows(sql, [int(id.0)], holding_row)?.pop().map(|(_, holding)| holding).unwrap_or_default())
    }

    fn holdings(&mut self) -> Result<Vec<(RepositoryId, Holding)>> {
        let sql = "SELECT repository, files, size_bytes, packages FROM holding ORDER BY repository";
        self.rows(sql, [], holding_row)
    }

    fn blobs(&mut self, after: Option<Digest>, limit: usize) -> Result<Vec<(Digest, u64)>> {
        // The empty byte string is less than every digest.
        let after: &[u8] = after.as_ref().map_or(&[], |digest| &digest.0);
        let sql = "SELECT sha256, size_bytes FROM blob WHERE sha256 > ? ORDER BY sha256 LIMIT ?";
        self.rows(sql, params![after, int(limit as u64)], |row| {
            Ok((Digest(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned()))
        })
    }

    fn blob_count(&mut self) -> Result<u64> {
        let count = self.rows("SELECT count(*) FROM blob", [], |row| row.get::<_, i64>(0))?;
        Ok(count.first().copied().unwrap_or_default().cast_unsigned())
    }

    fn refers_to_blob(&mut self, digest: &Digest) -> Result<bool> {
        let found: Vec<i64> = self.rows("SELECT 1 FROM blob WHERE sha256 = ?", [digest.0], |row| row.get(0))?;
        Ok(!found.is_empty())
    }
}

impl Sqlite {
    /// Entries by the beginning of their keys. `which`: the table and the index.
    fn beginning(&self, which: &str, id: RepositoryId, range: PrefixRange, limit: usize) -> Result<Vec<Entry>> {
        let PrefixRange { from, least, end } = range;
        let sql = format!("SELECT body FROM {which} repository = ? AND key {from} ? AND key < ? ORDER BY key LIMIT ?");
        self.bodies(&sql, params![int(id.0), least, end, int(limit as u64)])
    }
}
