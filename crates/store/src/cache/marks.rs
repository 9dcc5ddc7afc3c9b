//! Marks of the collector: blobs that were unreferenced at its first check. If a mark is lost, the wait of its blob starts over.

use super::database::Cache;
use super::rows::digest;
use crate::blobs::digest::Digest;
use crate::error::Result;
use rusqlite::params;
use std::collections::HashMap;
use telemetry::Millis;

impl Cache {
    /// The marks of the blobs from `from` through `through`, with the moment of each.
    pub(crate) fn marks(&mut self, from: &Digest, through: &Digest) -> Result<HashMap<Digest, Millis>> {
        self.run(|database| {
            let mut statement = database.prepare_cached("SELECT sha256, at FROM mark WHERE sha256 BETWEEN ? AND ?")?;
            let rows =
                statement.query_map(params![from.0, through.0], |row| Ok((digest(row, 0)?, Millis(row.get(1)?))))?;
            rows.collect()
        })
    }

    /// Marks some blobs at `at`, and removes the marks of others.
    pub(crate) fn change_marks(&mut self, add: &[Digest], at: Millis, remove: &[Digest]) -> Result<()> {
        self.run(|database| {
            let transaction = database.unchecked_transaction()?;
            for digest in add {
                let mut insert = transaction.prepare_cached("INSERT OR IGNORE INTO mark VALUES (?, ?)")?;
                insert.execute(params![digest.0, at.0])?;
            }
            for digest in remove {
                transaction.prepare_cached("DELETE FROM mark WHERE sha256 = ?")?.execute([digest.0])?;
            }
            transaction.commit()
        })
    }
}
