//! The truth in memory, as plainly as it can be said: what the suite holds SQLite against, and the oracle of
//! other crates' property tests.

use crate::{Batch, Catalog, Change, Conflict, Digest, Entry, Error, Expect, FirstSeen, JournalRow, RepositoryId};
use crate::{Facts, Holding, Outline, RepositoryRecord, Seq, Span, State, Subject, TokenRecord, UnitFacts, UnitRows};
use std::collections::{BTreeMap, BTreeSet};

/// A catalog in memory.
#[derive(Debug, Clone, Default)]
pub struct Model {
    journal: Vec<JournalRow>,
    entries: BTreeMap<(RepositoryId, String), Entry>,
    units: BTreeMap<(RepositoryId, String), Seq>,
    lines: BTreeMap<(RepositoryId, Seq), String>,
    facts: BTreeMap<(RepositoryId, String), serde_json::Value>,
    repositories: BTreeMap<RepositoryId, RepositoryRecord>,
    tokens: BTreeMap<Digest, TokenRecord>,
    settings: BTreeMap<String, serde_json::Value>,
    blobs: BTreeMap<Digest, u64>,
}

impl Model {
    fn seq(&self) -> Seq {
        Seq(self.journal.len() as u64)
    }

    fn holds(&self, expect: &Expect) -> bool {
        match expect {
            Expect::UnitAt { repository, unit, seq } => {
                self.units.get(&(*repository, unit.clone())).copied().unwrap_or_default() == *seq
            }
            Expect::FirstSeenAt { repository, unit, seq } => {
                let of = |change: &Change| matches!(change, Change::FirstSeen { repository: id, unit: name, .. } if id == repository && name == unit);
                let last = self.journal.iter().rev().find(|row| of(&row.change));
                last.map_or(Seq(0), |row| row.seq) == *seq
            }
            Expect::KeyFree { repository, key } => !self.entries.contains_key(&(*repository, key.clone())),
            Expect::KeyFreeInAnyCase { repository, key } => self.like(*repository, key).is_none(),
            Expect::UnitSpeltOneWay { repository, unit } => self.other(*repository, unit).is_none(),
            Expect::RepositoryLives(id) => self.repositories.get(id).is_some_and(|record| record.removed.is_none()),
            Expect::RepositoryIs { id, record } => self.repositories.get(id) == Some(&**record),
            Expect::JournalAt(seq) => self.seq() == *seq,
            Expect::RepositoryNameFree(name) => {
                !self.repositories.values().any(|record| record.removed.is_none() && record.name == *name)
            }
            Expect::TokenNameFree(name) => {
                !self.tokens.values().any(|record| record.revoked.is_none() && record.name == *name)
            }
            Expect::TokenLives(hash) => self.tokens.get(hash).is_some_and(|record| record.revoked.is_none()),
        }
    }

    fn like(&self, repository: RepositoryId, key: &str) -> Option<&Entry> {
        let like = |(id, there): &(RepositoryId, String)| *id == repository && there.eq_ignore_ascii_case(key);
        self.entries.iter().find(|(there, _)| like(there)).map(|(_, entry)| entry)
    }

    fn other(&self, repository: RepositoryId, unit: &str) -> Option<&String> {
        let live = self.entries.iter().filter(|((id, _), entry)| *id == repository && entry.state == State::Live);
        let units = live.map(|(_, entry)| &entry.unit);
        units.filter(|there| *there != unit && there.eq_ignore_ascii_case(unit)).min()
    }

    fn apply(&mut self, row: JournalRow) {
        match row.change.clone() {
            Change::Entry { repository, entry } => {
                self.units.insert((repository, entry.unit.clone()), row.seq);
                self.blobs.entry(entry.hashes.sha256).or_insert(entry.hashes.size_bytes);
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
            // Read from the journal.
            Change::FirstSeen { .. } => {}
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

impl Catalog for Model {
    fn commit(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>, Error> {
        let one = |batch: &Batch| {
            if let Some(broken) = batch.expect.iter().find(|expect| !self.holds(expect)) {
                return Err(Conflict(broken.clone()));
            }
            for change in &batch.changes {
                self.apply(JournalRow::new(Seq(self.seq().0 + 1), batch, change));
            }
            Ok(self.seq())
        };
        Ok(batches.iter().map(one).collect())
    }

    fn replay(&mut self, rows: &[JournalRow]) -> Result<(), Error> {
        let mut last = self.seq();
        for row in rows {
            row.follows(last)?;
            last = row.seq;
        }
        rows.iter().for_each(|row| self.apply(row.clone()));
        Ok(())
    }

    fn last(&mut self) -> Result<Seq, Error> {
        Ok(self.seq())
    }

    fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows, Error> {
        let seq = self.units.get(&(repository, unit.to_owned())).copied().unwrap_or_default();
        let in_unit = self.entries.iter().filter(|((id, _), entry)| *id == repository && entry.unit == unit);
        let mut entries: Vec<Entry> = in_unit.map(|(_, entry)| entry.clone()).collect();
        entries.sort_by(|a, b| (a.published, &a.key).cmp(&(b.published, &b.key)));
        Ok(UnitRows { seq, entries })
    }

    fn entries(&mut self, repository: RepositoryId, after: &str, through: &str) -> Result<Vec<Entry>, Error> {
        let here = self.entries.iter().filter(|((id, _), _)| *id == repository).map(|(_, entry)| entry);
        let within = here.filter(|entry| entry.unit.as_str() > after && entry.unit.as_str() <= through);
        let mut entries: Vec<Entry> = within.cloned().collect();
        entries.sort_by(|a, b| (&a.unit, a.published, &a.key).cmp(&(&b.unit, b.published, &b.key)));
        Ok(entries)
    }

    fn facts(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitFacts, Error> {
        let place = (repository, unit.to_owned());
        let seq = self.units.get(&place).copied().unwrap_or_default();
        Ok(UnitFacts { seq, facts: self.facts.get(&place).cloned().unwrap_or_default() })
    }

    fn known(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, serde_json::Value)>, Error> {
        let begins = |unit: &String| unit.starts_with(prefix) && unit.as_str() > after;
        let here = self.facts.iter().filter(|((id, unit), _)| *id == repository && begins(unit));
        Ok(here.take(limit).map(|((_, unit), facts)| (unit.clone(), facts.clone())).collect())
    }

    fn state(&mut self, id: RepositoryId, of: Subject<'_>, through: Seq) -> Result<Option<Change>, Error> {
        let is = |change: &Change| match (change, of) {
            (Change::Entry { repository, entry }, Subject::Entry(key)) => *repository == id && entry.key == key,
            (Change::Unit { repository, unit, .. }, Subject::Unit(name)) => *repository == id && unit == name,
            _ => false,
        };
        let rows = self.journal.iter().rev().skip_while(|row| row.seq > through).map(|row| &row.change);
        Ok(rows.filter(|change| is(change)).take(1).find(|change| change.tells()).cloned())
    }

    fn known_then(
        &mut self,
        id: RepositoryId,
        (prefix, after): (&str, &str),
        limit: usize,
        through: Seq,
    ) -> Result<Vec<(String, serde_json::Value)>, Error> {
        let mut then = Self::default();
        then.replay(&self.journal(Seq(0), usize::try_from(through.0).unwrap_or(usize::MAX))?)?;
        then.known(id, prefix, after, limit)
    }

    fn first_seen(&mut self, id: RepositoryId, of: &str, through: Seq) -> Result<Vec<FirstSeen>, Error> {
        let mut rows = Vec::new();
        for row in self.journal.iter().filter(|row| row.seq <= through) {
            match &row.change {
                Change::FirstSeen { repository, unit, whole, seen } if *repository == id && unit == of => {
                    rows.retain(|_| !whole);
                    rows.push((row, *whole, seen));
                }
                _ => {}
            }
        }
        let read = |(row, whole, seen): (&JournalRow, bool, &serde_json::Value)| {
            let seen = serde_json::value::to_raw_value(seen).map_err(Error::row(row.seq))?;
            Ok(FirstSeen { seq: row.seq, at: row.at, whole, seen })
        };
        rows.into_iter().map(read).collect()
    }

    fn first_seen_bytes(&mut self) -> Result<Vec<(RepositoryId, u64)>, Error> {
        let mut bytes = BTreeMap::new();
        for row in &self.journal {
            if let Change::FirstSeen { repository, unit, .. } = &row.change {
                let body = serde_json::to_string(row).map_err(Error::row(row.seq))?;
                *bytes.entry(*repository).or_default() += crate::first_seen::cost(body.len(), unit);
            }
        }
        Ok(bytes.into_iter().collect())
    }

    fn published(&mut self, repository: RepositoryId, span: Span) -> Result<Vec<Entry>, Error> {
        let live = self.entries.iter().filter(|((id, _), entry)| *id == repository && entry.state == State::Live);
        let within = live.map(|(_, entry)| entry).filter(|e| (span.from..=span.until).contains(&e.published));
        let mut entries: Vec<Entry> = within.cloned().collect();
        entries.sort_by(|a, b| (b.published, &b.key).cmp(&(a.published, &a.key)));
        Ok(entries.into_iter().skip(span.skip).take(span.limit).collect())
    }

    fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Error> {
        Ok(self.entries.get(&(repository, key.to_owned())).cloned())
    }

    fn outlines(&mut self, repository: RepositoryId, unit: &str) -> Result<Vec<Outline>, Error> {
        let name = std::sync::Arc::<str>::from(unit);
        let outline = |entry: Entry| {
            let Entry { state, published, changed, facts, .. } = entry;
            let facts = match facts[Facts::BRIEF].as_str() {
                Some(brief) => Facts::Brief(brief.to_owned()),
                None => Facts::Whole(serde_json::value::to_raw_value(&facts).map_err(Error::row(Seq(0)))?),
            };
            Ok(Outline { unit: name.clone(), state, published, changed, facts })
        };
        self.unit(repository, unit)?.entries.into_iter().map(outline).collect()
    }

    fn entries_beginning(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let begin =
            |(id, key): &(RepositoryId, String)| *id == repository && key.starts_with(prefix) && key.as_str() > after;
        let found = self.entries.iter().filter(|(place, _)| begin(place));
        Ok(found.take(limit).map(|(_, entry)| entry.clone()).collect())
    }

    fn entry_in_any_case(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>, Error> {
        Ok(self.like(repository, key).cloned())
    }

    fn unit_in_other_case(&mut self, repository: RepositoryId, unit: &str) -> Result<Option<String>, Error> {
        Ok(self.other(repository, unit).cloned())
    }

    fn keys(&mut self, repository: RepositoryId, unit: &str, limit: usize) -> Result<Vec<String>, Error> {
        Ok(self.unit(repository, unit)?.entries.into_iter().take(limit).map(|entry| entry.key).collect())
    }

    fn units(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        let live = self.entries.iter().filter(|((id, _), entry)| *id == repository && entry.state == State::Live);
        let names: BTreeSet<&str> = live.map(|(_, entry)| entry.unit.as_str()).filter(|unit| *unit > after).collect();
        Ok(names.into_iter().take(limit).map(str::to_owned).collect())
    }

    fn units_ever(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        let units = self.units.keys().filter(|(id, unit)| *id == repository && unit.as_str() > after);
        Ok(units.take(limit).map(|(_, unit)| unit.clone()).collect())
    }

    fn lines(&mut self, repository: RepositoryId, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>, Error> {
        let lines = self.lines.iter().filter(|((id, seq), _)| *id == repository && *seq > after);
        Ok(lines.take(limit).map(|((_, seq), line)| (*seq, line.clone())).collect())
    }

    fn last_line(&mut self, repository: RepositoryId, through: Seq) -> Result<Seq, Error> {
        let mut by_then = self.lines.range((repository, Seq(0))..=(repository, through));
        Ok(by_then.next_back().map_or(Seq(0), |((_, seq), _)| *seq))
    }

    fn repositories(&mut self) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        let living = self.repositories.iter().filter(|(_, record)| record.removed.is_none());
        let mut living: Vec<_> = living.map(|(id, record)| (*id, record.clone())).collect();
        living.sort_by(|(a, left), (b, right)| (&left.name, a).cmp(&(&right.name, b)));
        Ok(living)
    }

    fn removed_repositories(&mut self, name: &str) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        let removed = |record: &RepositoryRecord| record.removed.is_some() && record.name == name;
        let found = self.repositories.iter().filter(|(_, record)| removed(record));
        Ok(found.map(|(id, record)| (*id, record.clone())).collect())
    }

    fn holding(&mut self, repository: RepositoryId) -> Result<Holding, Error> {
        let live = |id: &RepositoryId, entry: &Entry| *id == repository && entry.state == State::Live;
        let live = self.entries.iter().filter(|((id, _), entry)| live(id, entry));
        Ok(live.fold(Holding::default(), |sum, (_, entry)| Holding {
            files: sum.files + 1,
            size_bytes: sum.size_bytes + entry.hashes.size_bytes,
        }))
    }

    fn tokens(&mut self) -> Result<Vec<TokenRecord>, Error> {
        let mut living: Vec<_> = self.tokens.values().filter(|record| record.revoked.is_none()).cloned().collect();
        living.sort_by(|a, b| (&a.name, a.hash).cmp(&(&b.name, b.hash)));
        Ok(living)
    }

    fn setting(&mut self, key: &str) -> Result<Option<serde_json::Value>, Error> {
        Ok(self.settings.get(key).cloned())
    }

    fn journal(&mut self, after: Seq, limit: usize) -> Result<Vec<JournalRow>, Error> {
        Ok(self.journal.iter().filter(|row| row.seq > after).take(limit).cloned().collect())
    }

    fn blobs(&mut self, after: Option<Digest>, limit: usize) -> Result<Vec<(Digest, u64)>, Error> {
        let blobs = self.blobs.iter().filter(|(digest, _)| Some(**digest) > after);
        Ok(blobs.take(limit).map(|(digest, size)| (*digest, *size)).collect())
    }
}
