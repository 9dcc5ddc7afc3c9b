//! Rows that were made while the clock was ahead, and count as of the moment of a later row.
//!
//! Rows of the journal never change. So each read of a moment looks here, and the table is derived from the journal like all others.

use super::connection::{Sqlite, int};
use crate::error::Result;
use crate::journal::record::Seq;
use crate::truth::catalog::JournalRow;
use rusqlite::params;
use telemetry::Millis;

impl Sqlite {
    /// Writes which rows a row redates.
    pub(super) fn redate(&self, row: &JournalRow, first: Seq) -> Result<()> {
        self.run("INSERT INTO redated VALUES (?, ?, ?)", params![int(row.seq.0), int(first.0), row.at.0])?;
        self.track(row)
    }

    /// No use and no deletion of a blob is later than the moment of a row that redates others.
    pub(super) fn redate_uses(&self, row: &JournalRow) -> Result<()> {
        self.run("UPDATE blob_use SET ended = ?1 WHERE ended > ?1", [row.at.0])?;
        self.run("UPDATE collected SET at = ?1 WHERE at > ?1", [row.at.0])
    }

    /// The moment as of which the row `seq` counts, whose own moment is `at`.
    pub(super) fn dated(&self, seq: Seq, at: Millis) -> Result<Millis> {
        // A database of an earlier version that is only read has no such table.
        let exists = || self.exists("SELECT 1 FROM sqlite_schema WHERE name = 'redated'", []);
        let known = self.redates.get().copied();
        let redates = known.map_or_else(exists, Ok)?;
        let _ = self.redates.set(redates);
        if !redates {
            return Ok(at);
        }
        let sql = "SELECT at FROM redated WHERE seq > ?1 AND first <= ?1 ORDER BY at LIMIT 1";
        let redated: Vec<i64> = self.rows(sql, [int(seq.0)], |row| row.get(0))?;
        Ok(redated.first().map_or(at, |redated| at.min(Millis(*redated))))
    }
}
