//! Writes one change into the journal and into the tables that are derived from it.

use super::connection::{Sqlite, int, json};
use crate::error::Result;
use crate::journal::change::Change;
use crate::journal::entry::{Entry, State};
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::JournalRow;
use crate::writer::first_seen_budget::cost;
use rusqlite::params;

impl Sqlite {
    /// Writes a row of the journal and updates the derived tables.
    pub(super) fn apply(&self, row: &JournalRow) -> Result<()> {
        let body = json(row)?;
        self.run("INSERT INTO journal VALUES (?, ?)", params![int(row.seq.0), body])?;
        match &row.change {
            Change::Entry { repository, entry } => {
                self.apply_entry(row.seq, *repository, entry)?;
                self.track(row)
            }
            Change::Redate { first } => self.redate(row, *first),
            Change::Collected { .. } => self.track(row),
            Change::Unit { repository, unit, facts } => self.apply_unit(row.seq, *repository, unit, facts),
            Change::FirstSeen { repository, unit, uncounted, .. } => {
                let bytes = if *uncounted { 0 } else { cost(body.len(), unit) };
                self.apply_first_seen(row.seq, *repository, unit, bytes)
            }
            Change::Repository { id, record } => {
                let values = params![int(id.0), record.name, record.removed.is_none(), json(record)?];
                self.run("INSERT OR REPLACE INTO repository VALUES (?, ?, ?, ?)", values)?;
                self.run("UPDATE repository_changes SET seq = ?", [int(row.seq.0)])
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

    fn apply_entry(&self, seq: Seq, repository: RepositoryId, entry: &Entry) -> Result<()> {
        let id = int(repository.0);
        let live = entry.state == State::Live;
        let size_before = self.live_size(repository, &entry.key)?;
        let was_live = size_before.is_some();
        self.count_entry(repository, entry, size_before)?;
        self.run(
            "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?)",
            params![id, entry.key, entry.unit, live, entry.published.0, json(entry)?],
        )?;
        self.run(
            "INSERT INTO unit VALUES (?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET seq = excluded.seq, live = live + excluded.live",
            params![id, entry.unit, int(seq.0), i64::from(live) - i64::from(was_live)],
        )?;
        match &entry.line {
            Some(line) => self.run("INSERT INTO line VALUES (?, ?, ?)", params![id, int(seq.0), line]),
            None => Ok(()),
        }
    }

    fn apply_unit(&self, seq: Seq, id: RepositoryId, unit: &str, facts: &serde_json::Value) -> Result<()> {
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

    fn apply_first_seen(&self, seq: Seq, id: RepositoryId, unit: &str, bytes: u64) -> Result<()> {
        self.run("INSERT INTO first_seen VALUES (?, ?, ?)", params![int(id.0), unit, int(seq.0)])?;
        self.run(
            "INSERT INTO first_seen_bytes VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes",
            params![int(id.0), int(bytes)],
        )
    }

    pub(super) fn set_last(&self, last: Seq) -> Result<()> {
        self.run("UPDATE counter SET seq = ?", [int(last.0)])
    }
}
