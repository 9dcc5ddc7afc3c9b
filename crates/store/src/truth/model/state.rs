//! The state of the model, and what a change does to it.

use crate::blobs::digest::Digest;
use crate::blobs::life::UseEnd;
use crate::journal::change::Change;
use crate::journal::entry::{Entry, State};
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use crate::truth::catalog::JournalRow;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use telemetry::Millis;

/// A catalog in memory.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub(super) journal: Vec<JournalRow>,
    pub(super) entries: BTreeMap<(RepositoryId, String), Entry>,
    pub(super) units: BTreeMap<(RepositoryId, String), Seq>,
    pub(super) lines: BTreeMap<(RepositoryId, Seq), String>,
    pub(super) facts: BTreeMap<(RepositoryId, String), Value>,
    pub(super) repositories: BTreeMap<RepositoryId, RepositoryRecord>,
    pub(super) tokens: BTreeMap<Digest, TokenRecord>,
    pub(super) settings: BTreeMap<String, Value>,
    pub(super) notes: BTreeMap<String, String>,
    pub(super) blobs: BTreeMap<Digest, u64>,
    /// By blob, repository and key; `None`: the entry still names it.
    pub(super) uses: BTreeMap<(Digest, RepositoryId, String), Option<UseEnd>>,
    pub(super) collected: BTreeMap<Digest, Millis>,
    /// Repositories that have lost bytes of a live entry.
    pub(super) lost: BTreeSet<RepositoryId>,
    /// The state before the running transaction.
    pub(super) before: Option<Box<Model>>,
}

impl Model {
    /// The number of the last change.
    pub(super) fn seq(&self) -> Seq {
        Seq(self.journal.len() as u64)
    }

    /// The number of the last change of any repository.
    pub(super) fn last_of_repositories(&self) -> Seq {
        let last = self.journal.iter().rev().find(|row| matches!(row.change, Change::Repository { .. }));
        last.map_or(Seq(0), |row| row.seq)
    }

    /// The moment of the last change.
    pub(super) fn moment(&self) -> Option<Millis> {
        self.journal.last().map(|row| row.at)
    }

    /// The moment as of which a row counts.
    pub(super) fn dated(&self, seq: Seq, at: Millis) -> Millis {
        let later = self.journal.iter().filter(|later| later.seq > seq);
        let redated = later.filter(|later| matches!(later.change, Change::Redate { first } if first <= seq));
        redated.map(|later| later.at).chain([at]).min().unwrap_or(at)
    }

    /// The entries of a repository, ordered by key.
    pub(super) fn entries_of(&self, repository: RepositoryId) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |((id, _), _)| *id == repository).map(|(_, entry)| entry)
    }

    /// Its live entries.
    pub(super) fn live_entries_of(&self, repository: RepositoryId) -> impl Iterator<Item = &Entry> {
        self.entries_of(repository).filter(|entry| entry.state == State::Live)
    }

    pub(super) fn apply(&mut self, row: JournalRow) {
        match row.change.clone() {
            Change::Entry { repository, entry } => {
                self.units.insert((repository, entry.unit.clone()), row.seq);
                self.track_entry(row.at, repository, &entry);
                if let Some(line) = &entry.line {
                    self.lines.insert((repository, row.seq), line.clone());
                }
                self.entries.insert((repository, entry.key.clone()), entry);
            }
            Change::Unit { repository, unit, facts } => {
                self.units.insert((repository, unit.clone()), row.seq);
                match facts.is_null() {
                    true => self.facts.remove(&(repository, unit)),
                    false => self.facts.insert((repository, unit), facts),
                };
            }
            Change::Collected { blobs } => blobs.iter().for_each(|digest| self.track_collected(digest, row.at)),
            // Reads take it from the journal.
            Change::FirstSeen { .. } => {}
            Change::Redate { .. } => self.redate_uses(row.at),
            Change::Repository { id, record } => {
                self.repositories.insert(id, record);
            }
            Change::Token { record } => {
                self.tokens.insert(record.hash, record);
            }
            Change::Setting { key, value } if value.is_null() => {
                self.settings.remove(&key);
            }
            Change::Setting { key, value } => {
                self.settings.insert(key, value);
            }
        }
        self.journal.push(row);
    }
}
