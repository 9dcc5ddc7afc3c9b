//! One change at a time into the journal and what is derived from it.

use super::{Sqlite, int, json, seq};
use crate::{Batch, Change, Conflict, Entry, Error, Expect, JournalRow, RepositoryId, Seq, State};
use rusqlite::{OptionalExtension, Params, params};

/// The entry of a key that may be spelt otherwise: asked for by readers, and again when an expectation is decided. The
/// index is named, as the planner, which has no figures, would rather walk the whole repository.
pub(super) const KEY_IN_ANY_CASE: &str =
    "SELECT body FROM entry INDEXED BY entry_folded WHERE repository = ?1 AND lower(key) = lower(?2)
     ORDER BY key LIMIT 1";

/// A unit that is spelt otherwise and has something to offer.
pub(super) const UNIT_IN_OTHER_CASE: &str =
    "SELECT unit FROM unit INDEXED BY unit_folded WHERE repository = ?1 AND lower(unit) = lower(?2)
     AND unit <> ?2 AND live > 0 ORDER BY unit LIMIT 1";

impl Sqlite {
    /// Begins a transaction and puts every batch into it whose expectations hold. [`Sqlite::finish`] makes it last.
    pub(crate) fn begin(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>, Error> {
        self.run("BEGIN IMMEDIATE", [])?;
        let decided = self.decide(batches);
        if decided.is_err() {
            self.undo();
        }
        decided
    }

    /// Commits: when this returns, the changes are on disk.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        let finished = self.run("COMMIT", []);
        if finished.is_err() {
            self.undo();
        }
        finished.map(|_| ())
    }

    /// Takes back what was begun.
    pub(crate) fn undo(&mut self) {
        // SQLite has rolled back by itself after some errors; then there is nothing to take back.
        let _ = self.run("ROLLBACK", []);
    }

    /// Rows of a journal, in one transaction.
    pub(super) fn write_rows(&mut self, rows: &[JournalRow]) -> Result<(), Error> {
        self.run("BEGIN IMMEDIATE", [])?;
        let written = self.counter().and_then(|mut last| {
            for row in rows {
                row.follows(last)?;
                self.apply(row)?;
                last = row.seq;
            }
            self.count(last)
        });
        if written.is_err() {
            self.undo();
            return written;
        }
        self.finish()
    }

    /// Expectations are decided before the first change of a batch, so a refused batch leaves nothing to take back.
    fn decide(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>, Error> {
        let mut last = self.counter()?;
        let mut answers = Vec::with_capacity(batches.len());
        for batch in batches {
            if let Some(broken) = self.broken(batch, last)? {
                answers.push(Err(Conflict(broken)));
                continue;
            }
            for change in &batch.changes {
                last.0 += 1;
                self.apply(&JournalRow::new(last, batch, change))?;
            }
            answers.push(Ok(last));
        }
        self.count(last)?;
        Ok(answers)
    }

    fn broken(&self, batch: &Batch, last: Seq) -> Result<Option<Expect>, Error> {
        for expect in &batch.expect {
            let holds = match expect {
                Expect::UnitAt { repository, unit, seq } => self.unit_seq(*repository, unit)? == *seq,
                Expect::FirstSeenAt { repository, unit, seq } => self.last_first_seen(*repository, unit)? == *seq,
                Expect::KeyFree { repository, key } => {
                    let sql = "SELECT 1 FROM entry WHERE repository = ? AND key = ?";
                    !self.exists(sql, params![int(repository.0), key])?
                }
                Expect::KeyFreeInAnyCase { repository, key } => {
                    !self.exists(KEY_IN_ANY_CASE, params![int(repository.0), key])?
                }
                Expect::UnitSpeltOneWay { repository, unit } => {
                    !self.exists(UNIT_IN_OTHER_CASE, params![int(repository.0), unit])?
                }
                Expect::RepositoryLives(id) => {
                    self.exists("SELECT 1 FROM repository WHERE id = ? AND lives", [int(id.0)])?
                }
                Expect::RepositoryIs { id, record } => self.read_record(*id)?.as_ref() == Some(&**record),
                Expect::JournalAt(seq) => last == *seq,
                Expect::RepositoryNameFree(name) => {
                    !self.exists("SELECT 1 FROM repository WHERE name = ? AND lives", [name])?
                }
                Expect::TokenNameFree(name) => !self.exists("SELECT 1 FROM token WHERE name = ? AND lives", [name])?,
                Expect::TokenLives(hash) => self.exists("SELECT 1 FROM token WHERE hash = ? AND lives", [hash.0])?,
            };
            if !holds {
                return Ok(Some(expect.clone()));
            }
        }
        Ok(None)
    }

    fn apply(&self, row: &JournalRow) -> Result<(), Error> {
        let body = json(row)?;
        self.run("INSERT INTO journal VALUES (?, ?)", params![int(row.seq.0), body])?;
        match &row.change {
            Change::Entry { repository, entry } => self.apply_entry(row.seq, *repository, entry),
            Change::Unit { repository, unit, facts } => self.apply_unit(row.seq, *repository, unit, facts),
            Change::FirstSeen { repository, unit, .. } => self.apply_first_seen(row.seq, *repository, unit, body.len()),
            Change::Repository { id, record } => {
                let values = params![int(id.0), record.name, record.removed.is_none(), json(record)?];
                self.run("INSERT OR REPLACE INTO repository VALUES (?, ?, ?, ?)", values)
            }
            Change::Token { record } => {
                let values = params![record.hash.0, record.name, record.revoked.is_none(), json(record)?];
                self.run("INSERT OR REPLACE INTO token VALUES (?, ?, ?, ?)", values)
            }
            Change::Setting { key, value } if value.is_null() => self.run("DELETE FROM setting WHERE key = ?", [key]),
            Change::Setting { key, value } => {
                self.run("INSERT OR REPLACE INTO setting VALUES (?, ?)", params![key, json(value)?])
            }
        }
    }

    fn apply_entry(&self, seq: Seq, repository: RepositoryId, entry: &Entry) -> Result<(), Error> {
        let id = int(repository.0);
        let live = entry.state == State::Live;
        let was_live =
            self.exists("SELECT 1 FROM entry WHERE repository = ? AND key = ? AND live", params![id, entry.key])?;
        self.run(
            "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?)",
            params![id, entry.key, entry.unit, live, entry.published.0, json(entry)?],
        )?;
        self.run(
            "INSERT INTO unit VALUES (?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET seq = excluded.seq, live = live + excluded.live",
            params![id, entry.unit, int(seq.0), i64::from(live) - i64::from(was_live)],
        )?;
        if let Some(line) = &entry.line {
            self.run("INSERT INTO line VALUES (?, ?, ?)", params![id, int(seq.0), line])?;
        }
        let blob = params![entry.hashes.sha256.0, int(entry.hashes.size_bytes)];
        self.run("INSERT OR IGNORE INTO blob VALUES (?, ?)", blob)
    }

    fn apply_unit(&self, seq: Seq, id: RepositoryId, unit: &str, facts: &serde_json::Value) -> Result<(), Error> {
        self.run(
            "INSERT INTO unit VALUES (?, ?, ?, 0) ON CONFLICT DO UPDATE SET seq = excluded.seq",
            params![int(id.0), unit, int(seq.0)],
        )?;
        if facts.is_null() {
            return self.run("DELETE FROM unit_facts WHERE repository = ? AND unit = ?", params![int(id.0), unit]);
        }
        let values = params![int(id.0), unit, json(facts)?];
        self.run("INSERT OR REPLACE INTO unit_facts VALUES (?, ?, ?)", values)
    }

    pub(super) fn counter(&self) -> Result<Seq, Error> {
        let failed = Error::sqlite("read the counter");
        let mut statement = self.connection.prepare_cached("SELECT seq FROM counter").map_err(&failed)?;
        statement.query_row([], |row| row.get(0)).map(seq).map_err(failed)
    }

    fn count(&self, last: Seq) -> Result<(), Error> {
        self.run("UPDATE counter SET seq = ?", [int(last.0)])
    }

    pub(super) fn unit_seq(&self, repository: RepositoryId, unit: &str) -> Result<Seq, Error> {
        let failed = Error::sqlite("read a unit");
        let sql = "SELECT seq FROM unit WHERE repository = ? AND unit = ?";
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let found = statement.query_row(params![int(repository.0), unit], |row| row.get(0)).optional();
        Ok(seq(found.map_err(failed)?.unwrap_or_default()))
    }

    fn exists(&self, sql: &str, values: impl Params) -> Result<bool, Error> {
        let failed = Error::sqlite("decide an expectation");
        self.connection.prepare_cached(sql).and_then(|mut statement| statement.exists(values)).map_err(failed)
    }

    pub(super) fn run(&self, sql: &str, values: impl Params) -> Result<(), Error> {
        let failed = Error::sqlite("write the truth");
        self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values)).map_err(failed)?;
        Ok(())
    }
}
