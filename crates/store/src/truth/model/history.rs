//! Reads of the journal, and of earlier states.

use super::state::Model;
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::{
    Authorship, FirstSeen, JournalReads, JournalRow, Subject, Transactions as _, UnitReads as _,
};
use crate::writer::first_seen_budget::cost;
use serde_json::Value;
use std::collections::BTreeMap;
use telemetry::Millis;

impl JournalReads for Model {
    fn last(&mut self) -> Result<Seq> {
        Ok(self.seq())
    }

    fn last_moment(&mut self) -> Result<Option<Millis>> {
        Ok(self.moment())
    }

    fn journal(&mut self, after: Seq, limit: usize) -> Result<Vec<JournalRow>> {
        Ok(self.journal.iter().filter(|row| row.seq > after).take(limit).cloned().collect())
    }

    fn moment_of(&mut self, seq: Seq, at: Millis) -> Result<Millis> {
        Ok(self.dated(seq, at))
    }

    fn journal_text(&mut self, after: Seq, limit: usize, max_bytes: usize) -> Result<Vec<(Seq, String)>> {
        let (mut rows, mut size) = (Vec::new(), 0_usize);
        for row in self.journal.iter().filter(|row| row.seq > after).take(limit) {
            let text = text(row)?;
            size = size.saturating_add(text.len());
            if size > max_bytes && !rows.is_empty() {
                break;
            }
            rows.push((row.seq, text));
        }
        Ok(rows)
    }

    fn row_as_of(&mut self, id: RepositoryId, of: Subject<'_>, through: Seq) -> Result<Option<JournalRow>> {
        let is = |change: &Change| match (change, of) {
            (Change::Entry { repository, entry }, Subject::Entry(key)) => *repository == id && entry.key == key,
            (Change::Unit { repository, unit, .. }, Subject::Unit(name)) => *repository == id && unit == name,
            _ => false,
        };
        let rows = self.journal.iter().rev().skip_while(|row| row.seq > through);
        Ok(rows
            .filter(|row| is(&row.change))
            .take(1)
            .find(|row| row.change.leaves_something())
            .map(|row| JournalRow { at: self.dated(row.seq, row.at), ..row.clone() }))
    }

    fn authors_as_of(&mut self, of: &[(RepositoryId, Subject<'_>, Seq)]) -> Result<Vec<Option<Authorship>>> {
        let author = |row: JournalRow| Authorship { seq: row.seq, at: row.at, by: row.by };
        of.iter().map(|(id, of, through)| Ok(self.row_as_of(*id, *of, *through)?.map(author))).collect()
    }

    fn units_with_facts_as_of(
        &mut self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
        through: Seq,
    ) -> Result<Vec<(String, Value)>> {
        let mut then = Self::default();
        then.replay(&self.journal(Seq(0), usize::try_from(through.0).unwrap_or(usize::MAX))?)?;
        then.units_with_facts(id, prefix, after, limit)
    }

    fn first_seen(&mut self, id: RepositoryId, of: &str, through: Seq) -> Result<Vec<FirstSeen>> {
        let mut rows = Vec::new();
        for row in self.journal.iter().filter(|row| row.seq <= through) {
            match &row.change {
                Change::FirstSeen { repository, unit, whole, seen, .. } if *repository == id && unit == of => {
                    rows.retain(|_| !whole);
                    let seen = serde_json::value::to_raw_value(seen).map_err(Error::row(row.seq))?;
                    rows.push(FirstSeen { seq: row.seq, at: self.dated(row.seq, row.at), whole: *whole, seen });
                }
                _ => {}
            }
        }
        Ok(rows)
    }

    fn first_seen_bytes(&mut self) -> Result<Vec<(RepositoryId, u64)>> {
        let mut bytes = BTreeMap::new();
        for row in &self.journal {
            if let Change::FirstSeen { repository, unit, uncounted, .. } = &row.change {
                let of = if *uncounted { 0 } else { cost(text(row)?.len(), unit) };
                *bytes.entry(*repository).or_default() += of;
            }
        }
        Ok(bytes.into_iter().collect())
    }

    fn lines(&mut self, repository: RepositoryId, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>> {
        let lines = self.lines.iter().filter(|((id, seq), _)| *id == repository && *seq > after);
        Ok(lines.take(limit).map(|((_, seq), line)| (*seq, line.clone())).collect())
    }

    fn last_line(&mut self, repository: RepositoryId, through: Seq) -> Result<Seq> {
        let mut by_then = self.lines.range((repository, Seq(0))..=(repository, through));
        Ok(by_then.next_back().map_or(Seq(0), |((_, seq), _)| *seq))
    }
}

fn text(row: &JournalRow) -> Result<String> {
    serde_json::to_string(row).map_err(Error::row(row.seq))
}
