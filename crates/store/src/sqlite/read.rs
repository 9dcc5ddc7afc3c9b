//! The reads of the closed set.

use super::write::{KEY_IN_ANY_CASE, UNIT_IN_OTHER_CASE};
use super::{Sqlite, int, seq};
use crate::{
    Digest, Entry, Error, Holding, JournalRow, RepositoryId, RepositoryRecord, Seq, Span, TokenRecord, UnitFacts,
    UnitRows,
};
use rusqlite::{Params, Row, params};
use serde::de::DeserializeOwned;
use telemetry::give_way;

/// Answered from an index, whatever the repository holds.
pub(super) const PUBLISHED: &str =
    "SELECT body FROM entry WHERE repository = ? AND live = 1 AND published BETWEEN ? AND ?
    ORDER BY published DESC, key DESC LIMIT ? OFFSET ?";

impl Sqlite {
    /// Its number and its entries come from one snapshot, or a change between the two reads could be lost.
    pub(super) fn read_unit(&self, repository: RepositoryId, unit: &str) -> Result<UnitRows, Error> {
        let snapshot = self.connection.unchecked_transaction().map_err(Error::sqlite("read a unit"))?;
        let sql = "SELECT body FROM entry WHERE repository = ? AND unit = ? ORDER BY published, key";
        let rows = UnitRows {
            seq: self.unit_seq(repository, unit)?,
            entries: self.bodies(sql, params![int(repository.0), unit])?,
        };
        snapshot.finish().map_err(Error::sqlite("read a unit"))?;
        Ok(rows)
    }

    pub(super) fn read_entries(&self, id: RepositoryId, after: &str, through: &str) -> Result<Vec<Entry>, Error> {
        let sql =
            "SELECT body FROM entry WHERE repository = ? AND unit > ? AND unit <= ? ORDER BY unit, published, key";
        self.bodies(sql, params![int(id.0), after, through])
    }

    /// From the index alone: no entry is read for its key.
    pub(super) fn read_keys(&self, id: RepositoryId, unit: &str, limit: usize) -> Result<Vec<String>, Error> {
        let sql = "SELECT key FROM entry WHERE repository = ? AND unit = ? ORDER BY published, key LIMIT ?";
        self.rows(sql, params![int(id.0), unit, int(limit as u64)], |row| row.get(0))
    }

    /// Both from one snapshot, as for a unit.
    pub(super) fn read_unit_facts(&self, repository: RepositoryId, unit: &str) -> Result<UnitFacts, Error> {
        let snapshot = self.connection.unchecked_transaction().map_err(Error::sqlite("read a unit"))?;
        let sql = "SELECT body FROM unit_facts WHERE repository = ? AND unit = ?";
        let facts = self.bodies(sql, params![int(repository.0), unit])?.pop().unwrap_or_default();
        let found = UnitFacts { seq: self.unit_seq(repository, unit)?, facts };
        snapshot.finish().map_err(Error::sqlite("read a unit"))?;
        Ok(found)
    }

    pub(super) fn read_known(
        &self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, serde_json::Value)>, Error> {
        let (from, least, end) = beginning(prefix, after);
        let sql = format!(
            "SELECT unit, body FROM unit_facts WHERE repository = ? AND unit {from} ? AND unit < ? ORDER BY unit LIMIT ?"
        );
        let values = params![int(id.0), least, end, int(limit as u64)];
        let rows = self.rows(&sql, values, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        rows.into_iter().map(|(unit, body)| Ok((unit, parse(&body)?))).collect()
    }

    pub(super) fn read_published(&self, id: RepositoryId, span: Span) -> Result<Vec<Entry>, Error> {
        let (limit, skip) = (int(span.limit as u64), int(span.skip as u64));
        self.bodies(PUBLISHED, params![int(id.0), span.from.0, span.until.0, limit, skip])
    }

    pub(super) fn read_entry(&self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Error> {
        let sql = "SELECT body FROM entry WHERE repository = ? AND key = ?";
        Ok(self.bodies(sql, params![int(repository.0), key])?.pop())
    }

    pub(super) fn read_entries_beginning(
        &self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let (from, least, end) = beginning(prefix, after);
        let sql =
            format!("SELECT body FROM entry WHERE repository = ? AND key {from} ? AND key < ? ORDER BY key LIMIT ?");
        self.bodies(&sql, params![int(id.0), least, end, int(limit as u64)])
    }

    pub(super) fn read_entry_in_any_case(&self, id: RepositoryId, key: &str) -> Result<Option<Entry>, Error> {
        Ok(self.bodies(KEY_IN_ANY_CASE, params![int(id.0), key])?.pop())
    }

    pub(super) fn read_unit_in_other_case(&self, id: RepositoryId, unit: &str) -> Result<Option<String>, Error> {
        Ok(self.rows(UNIT_IN_OTHER_CASE, params![int(id.0), unit], |row| row.get(0))?.pop())
    }

    pub(super) fn read_units(&self, id: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        let sql = "SELECT unit FROM unit WHERE repository = ? AND unit > ? AND live > 0 ORDER BY unit LIMIT ?";
        self.rows(sql, params![int(id.0), after, int(limit as u64)], |row| row.get(0))
    }

    pub(super) fn read_units_ever(&self, id: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        let sql = "SELECT unit FROM unit WHERE repository = ? AND unit > ? ORDER BY unit LIMIT ?";
        self.rows(sql, params![int(id.0), after, int(limit as u64)], |row| row.get(0))
    }

    pub(super) fn read_lines(&self, id: RepositoryId, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>, Error> {
        let sql = "SELECT seq, line FROM line WHERE repository = ? AND seq > ? ORDER BY seq LIMIT ?";
        let values = params![int(id.0), int(after.0), int(limit as u64)];
        self.rows(sql, values, |row| Ok((seq(row.get(0)?), row.get(1)?)))
    }

    pub(super) fn read_last_line(&self, id: RepositoryId, through: Seq) -> Result<Seq, Error> {
        let sql = "SELECT seq FROM line WHERE repository = ? AND seq <= ? ORDER BY seq DESC LIMIT 1";
        let found: Vec<i64> = self.rows(sql, params![int(id.0), int(through.0)], |row| row.get(0))?;
        Ok(seq(found.first().copied().unwrap_or_default()))
    }

    pub(super) fn read_repositories(&self) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        let sql = "SELECT id, body FROM repository WHERE lives ORDER BY name, id";
        let rows = self.rows(sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        rows.iter().map(|(id, body)| Ok((RepositoryId(id.cast_unsigned()), parse(body)?))).collect()
    }

    pub(super) fn read_removed_repositories(&self, name: &str) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        let sql = "SELECT id, body FROM repository WHERE name = ? AND NOT lives ORDER BY id";
        let rows = self.rows(sql, [name], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        rows.iter().map(|(id, body)| Ok((RepositoryId(id.cast_unsigned()), parse(body)?))).collect()
    }

    pub(super) fn read_holding(&self, id: RepositoryId) -> Result<Holding, Error> {
        let sql = "SELECT count(*), coalesce(sum(json_extract(body, '$.hashes.size_bytes')), 0) FROM entry
            WHERE repository = ? AND live";
        let sums = self.rows(sql, [int(id.0)], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        let (files, bytes) = sums.first().copied().unwrap_or_default();
        Ok(Holding { files: files.cast_unsigned(), size_bytes: bytes.cast_unsigned() })
    }

    /// The settings of one repository, also of one that was removed.
    pub(super) fn read_record(&self, id: RepositoryId) -> Result<Option<RepositoryRecord>, Error> {
        Ok(self.bodies("SELECT body FROM repository WHERE id = ?", [int(id.0)])?.pop())
    }

    pub(super) fn read_tokens(&self) -> Result<Vec<TokenRecord>, Error> {
        self.bodies("SELECT body FROM token WHERE lives ORDER BY name, hash", [])
    }

    pub(super) fn read_setting(&self, key: &str) -> Result<Option<serde_json::Value>, Error> {
        Ok(self.bodies("SELECT body FROM setting WHERE key = ?", [key])?.pop())
    }

    pub(super) fn read_journal(&self, after: Seq, limit: usize) -> Result<Vec<JournalRow>, Error> {
        let rows = self.journal_text(after, limit, usize::MAX)?;
        rows.iter().map(|(seq, body)| serde_json::from_str(body).map_err(Error::row(*seq))).collect()
    }

    /// The journal as it is stored: each row one line of JSON. Segments carry these very bytes. Ends after `limit`
    /// rows, or before the row that would make them more than `bytes`, but for the first.
    pub(crate) fn journal_text(&self, after: Seq, limit: usize, bytes: usize) -> Result<Vec<(Seq, String)>, Error> {
        let failed = Error::sqlite("read the journal");
        let sql = "SELECT seq, body FROM journal WHERE seq > ? ORDER BY seq LIMIT ?";
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let mut found = statement.query(params![int(after.0), int(limit as u64)]).map_err(&failed)?;
        let (mut rows, mut size) = (Vec::new(), 0_usize);
        while let Some(row) = found.next().map_err(&failed)? {
            let (number, body): (i64, String) = row.try_into().map_err(&failed)?;
            size = size.saturating_add(body.len());
            if size > bytes && !rows.is_empty() {
                break;
            }
            rows.push((seq(number), body));
        }
        Ok(rows)
    }

    pub(super) fn read_blobs(&self, after: Option<Digest>, limit: usize) -> Result<Vec<(Digest, u64)>, Error> {
        // The empty string of bytes stands before every digest.
        let after: &[u8] = after.as_ref().map_or(&[], |digest| &digest.0);
        let sql = "SELECT sha256, size_bytes FROM blob WHERE sha256 > ? ORDER BY sha256 LIMIT ?";
        self.rows(sql, params![after, int(limit as u64)], |row| {
            Ok((Digest(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned()))
        })
    }

    /// Whether a row refers to this blob, or ever did.
    pub(crate) fn names_blob(&self, digest: &Digest) -> Result<bool, Error> {
        let found: Vec<i64> = self.rows("SELECT 1 FROM blob WHERE sha256 = ?", [digest.0], |row| row.get(0))?;
        Ok(!found.is_empty())
    }

    /// How many blobs there are.
    pub(crate) fn blob_count(&self) -> Result<u64, Error> {
        let count = self.rows("SELECT count(*) FROM blob", [], |row| row.get::<_, i64>(0))?;
        Ok(count.first().copied().unwrap_or_default().cast_unsigned())
    }

    pub(super) fn bodies<T: DeserializeOwned>(&self, sql: &str, values: impl Params) -> Result<Vec<T>, Error> {
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
    ) -> Result<Vec<T>, Error> {
        let failed = Error::sqlite("read the truth");
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let read = |row: &Row<'_>| {
            give_way();
            read(row)
        };
        let rows = statement.query_map(values, read).and_then(Iterator::collect);
        rows.map_err(failed)
    }
}

/// What begins with `prefix` and comes after `after`, in byte order: from where, with which comparison, and to where. One lower
/// bound, or SQLite might begin at the other.
pub(super) fn beginning<'a>(prefix: &'a str, after: &'a str) -> (&'static str, &'a str, String) {
    let (from, least) = if after < prefix { (">=", prefix) } else { (">", after) };
    // Behind all that begin with it: no name has the last character of Unicode.
    (from, least, format!("{prefix}{}", char::MAX))
}

fn parse<T: DeserializeOwned>(body: &str) -> Result<T, Error> {
    serde_json::from_str(body).map_err(Error::row(Seq(0)))
}
