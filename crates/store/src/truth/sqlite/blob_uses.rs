//! The entries that keep a blob: one row per blob and entry that named it. Updated with every change of an entry, and filled from
//! the journal in a database without the tables.

use super::connection::{Sqlite, int};
use crate::blobs::digest::Digest;
use crate::blobs::life::{BlobUse, Keep, UseEnd};
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::entry::{Entry, State};
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::{BlobReads, JournalReads as _, JournalRow};
use rusqlite::{OptionalExtension, Row, params};
use std::collections::BTreeSet;
use telemetry::{Millis, give_way};

/// The number of rows that are read at a time to fill the tables.
const PAGE: usize = 1024;

/// `ended` and `keep` are null while the entry names the blob. `keep` is the position in [`Keep::ALL`]. `lost`: repositories that
/// have lost bytes of a live entry.
const TABLES: &str = "
    CREATE TABLE collected (sha256 BLOB PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE lost (repository INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE blob_use (
        sha256 BLOB NOT NULL, repository INTEGER NOT NULL, key TEXT NOT NULL, ended INTEGER, keep INTEGER,
        PRIMARY KEY (sha256, repository, key)
    ) STRICT, WITHOUT ROWID;
";

const USES: &str = "SELECT sha256, ended, keep, CASE WHEN lives = 0 THEN json_extract(body, '$.removed') END, repository, key
    FROM blob_use LEFT JOIN repository ON id = repository WHERE sha256 BETWEEN ? AND ? ORDER BY sha256, repository, key";

/// The size of a blob that an entry names or named.
const SIZE: &str =
    "SELECT size_bytes FROM blob JOIN blob_use USING (sha256) WHERE sha256 = ? AND repository = ? AND key = ?";

/// The digests that earlier changes of an entry named, the last one first.
const EARLIER: &str = "SELECT json_extract(body, '$.entry.hashes.sha256') FROM history JOIN journal USING (seq)
    WHERE repository = ? AND of_entry = 1 AND name = ? AND seq < ? ORDER BY seq DESC LIMIT ?";

impl BlobReads for Sqlite {
    fn blob_uses(&mut self, from: &Digest, through: &Digest) -> Result<Vec<(Digest, BlobUse)>> {
        self.rows(USES, params![from.0, through.0], |row| Ok((Digest(row.get(0)?), blob_use(row)?)))
    }

    fn blob_uses_except(&mut self, digest: &Digest, except: &BTreeSet<(RepositoryId, String)>) -> Result<Vec<BlobUse>> {
        let uses = self.rows(USES, params![digest.0, digest.0], |row| {
            let place = (RepositoryId(row.get::<_, i64>(4)?.cast_unsigned()), row.get(5)?);
            Ok((!except.contains(&place)).then_some(blob_use(row)?))
        })?;
        Ok(uses.into_iter().flatten().collect())
    }

    fn blobs_of_entry(&mut self, repository: RepositoryId, key: &str) -> Result<Vec<(Digest, u64)>> {
        let all: BTreeSet<Digest> =
            self.earlier_digests(repository, key, Seq(i64::MAX.cast_unsigned()), i64::MAX)?.into_iter().collect();
        let mut blobs = Vec::new();
        for digest in all {
            let place = params![digest.0, int(repository.0), key];
            let sizes: Vec<i64> = self.rows(SIZE, place, |row| row.get(0))?;
            blobs.extend(sizes.first().map(|size| (digest, size.cast_unsigned())));
        }
        Ok(blobs)
    }

    fn named_by(&mut self, digest: &Digest) -> Result<Vec<RepositoryId>> {
        let sql = "SELECT DISTINCT repository FROM blob_use WHERE sha256 = ? AND ended IS NULL ORDER BY repository";
        self.rows(sql, [digest.0], |row| Ok(RepositoryId(row.get::<_, i64>(0)?.cast_unsigned())))
    }

    fn collected(&mut self, digest: &Digest) -> Result<Option<Millis>> {
        let at = self.rows("SELECT at FROM collected WHERE sha256 = ?", [digest.0], |row| row.get(0).map(Millis))?;
        Ok(at.first().copied())
    }

    fn blob_size(&mut self, digest: &Digest) -> Result<Option<u64>> {
        let sizes =
            self.rows("SELECT size_bytes FROM blob WHERE sha256 = ?", [digest.0], |row| row.get::<_, i64>(0))?;
        Ok(sizes.first().map(|size| size.cast_unsigned()))
    }

    fn generations(&mut self, from: &Digest, through: &Digest) -> Result<Vec<(Digest, Seq)>> {
        self.generations_of(from, through)
    }
}

fn blob_use(row: &Row<'_>) -> rusqlite::Result<BlobUse> {
    let keep = row.get::<_, Option<u8>>(2)?.and_then(|at| Keep::ALL.get(usize::from(at)).copied());
    let ended = row.get::<_, Option<i64>>(1)?.zip(keep).map(|(at, keep)| UseEnd { at: Millis(at), keep });
    Ok(BlobUse { ended, removed: row.get::<_, Option<i64>>(3)?.map(Millis) })
}

impl Sqlite {
    /// Makes missing tables, and fills them from the journal.
    pub(super) fn set_up_blob_uses(&mut self) -> Result<()> {
        let failed = Error::sqlite("set up the truth");
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'blob_use'";
        if self.connection.query_row(sql, [], |_| Ok(())).optional().map_err(&failed)?.is_some() {
            return Ok(());
        }
        self.run("BEGIN IMMEDIATE", [])?;
        let filled = self.connection.execute_batch(TABLES).map_err(failed).and_then(|()| self.fill());
        self.run(if filled.is_ok() { "COMMIT" } else { "ROLLBACK" }, [])?;
        filled
    }

    fn fill(&mut self) -> Result<()> {
        let mut after = Seq(0);
        loop {
            let rows = self.journal(after, PAGE)?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.seq;
            for row in &rows {
                give_way();
                self.track(row)?;
            }
        }
    }

    /// Updates the entries that keep a blob after a change.
    pub(super) fn track(&self, row: &JournalRow) -> Result<()> {
        match &row.change {
            Change::Entry { repository, entry } => self.track_entry(row.seq, row.at, *repository, entry),
            Change::Collected { blobs } => blobs.iter().try_for_each(|digest| self.track_collected(digest, row.at)),
            Change::Redate { .. } => self.redate_uses(row),
            _ => Ok(()),
        }
    }

    fn track_entry(&self, seq: Seq, at: Millis, repository: RepositoryId, entry: &Entry) -> Result<()> {
        let digest = entry.hashes.sha256;
        let keep = entry.keep();
        let all = entry.state == State::Withdrawn && keep == Keep::Purged;
        let earlier = self.earlier_digests(repository, &entry.key, seq, if all { i64::MAX } else { 1 })?;
        for earlier in earlier.into_iter().filter(|earlier| *earlier != digest) {
            let keep = if all { keep } else { Keep::Horizon };
            let sql = "UPDATE blob_use SET ended = ?, keep = ?
                WHERE sha256 = ? AND repository = ? AND key = ? AND (ended IS NULL OR ?)";
            self.run(sql, params![at.0, keep as i64, earlier.0, int(repository.0), entry.key, all])?;
        }
        if entry.state == State::Live {
            self.run("DELETE FROM collected WHERE sha256 = ?", [digest.0])?;
        } else if self.exists("SELECT 1 FROM collected WHERE sha256 = ?", [digest.0])? {
            return Ok(());
        }
        self.run("INSERT OR IGNORE INTO blob VALUES (?, ?)", params![digest.0, int(entry.hashes.size_bytes)])?;
        let end = (entry.state == State::Withdrawn).then_some((at.0, keep as i64)).unzip();
        // A withdrawal that is written again for the same reason keeps its first end.
        let sql = "INSERT INTO blob_use VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
            ended = CASE WHEN keep IS excluded.keep THEN ended ELSE excluded.ended END, keep = excluded.keep";
        self.run(sql, params![digest.0, int(repository.0), entry.key, end.0, end.1])
    }

    fn track_collected(&self, digest: &Digest, at: Millis) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO lost SELECT repository FROM blob_use WHERE sha256 = ? AND ended IS NULL";
        self.run(sql, [digest.0])?;
        self.run("DELETE FROM blob_use WHERE sha256 = ?", [digest.0])?;
        self.run("DELETE FROM blob WHERE sha256 = ?", [digest.0])?;
        self.run("INSERT OR REPLACE INTO collected VALUES (?, ?)", params![digest.0, at.0])
    }

    fn earlier_digests(&self, id: RepositoryId, key: &str, before: Seq, limit: i64) -> Result<Vec<Digest>> {
        let texts: Vec<String> = self.rows(EARLIER, params![int(id.0), key, int(before.0), limit], |row| row.get(0))?;
        texts.iter().map(|text| text.parse().map_err(|_| bad_digest(text))).collect()
    }
}

fn bad_digest(text: &str) -> Error {
    Error::Row { seq: Seq(0), why: format!("`{text}` is not a digest") }
}
