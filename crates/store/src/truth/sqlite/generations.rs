//! The generation of each blob: the number of the last journal row that says that its bytes were deleted. Objects have it in their
//! names (`objects/keys.rs`).
//!
//! This table was added later. A trigger maintains it, also for earlier programs, so it needs no new schema version. The journal row
//! is written before the others, so the trigger's change is the last one.

use super::connection::{Sqlite, seq};
use crate::blobs::digest::Digest;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use rusqlite::{OptionalExtension, params};

const TABLE: &str = "
    BEGIN IMMEDIATE;
    CREATE TABLE generation (sha256 BLOB PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT OR REPLACE INTO generation SELECT unhex(blob.value), seq FROM journal, json_each(body, '$.blobs') AS blob
        WHERE body LIKE '%\"change\":\"collected\"%' AND json_extract(body, '$.change') = 'collected' ORDER BY seq;
    CREATE TRIGGER generation_of_collected AFTER INSERT ON collected BEGIN
        INSERT OR REPLACE INTO generation VALUES (new.sha256, (SELECT max(seq) FROM journal));
    END;
    COMMIT;
";

impl Sqlite {
    /// Makes the table where it is missing, and fills it from the journal. Called once there is the table `collected`.
    pub(super) fn set_up_generations(&mut self) -> Result<()> {
        let failed = Error::sqlite("set up the truth");
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'generation'";
        match self.connection.query_row(sql, [], |_| Ok(())).optional().map_err(&failed)? {
            Some(()) => Ok(()),
            None => self.connection.execute_batch(TABLE).map_err(failed),
        }
    }

    /// The generations of the blobs from `from` through `through` that are not 0.
    pub(super) fn generations_of(&self, from: &Digest, through: &Digest) -> Result<Vec<(Digest, Seq)>> {
        let sql = "SELECT sha256, seq FROM generation WHERE sha256 BETWEEN ? AND ? ORDER BY sha256";
        self.rows(sql, params![from.0, through.0], |row| Ok((Digest(row.get(0)?), seq(row.get(1)?))))
    }
}
