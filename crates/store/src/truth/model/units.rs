//! Reads of units.

use super::state::Model;
use crate::error::{Error, Result};
use crate::journal::entry::{Entry, State};
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::{Facts, Outline, UnitFacts, UnitReads, UnitRows};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

impl UnitReads for Model {
    fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows> {
        let seq = self.units.get(&(repository, unit.to_owned())).copied().unwrap_or_default();
        let mut entries: Vec<Entry> = self.entries_of(repository).filter(|entry| entry.unit == unit).cloned().collect();
        entries.sort_by(|a, b| (a.published, &a.key).cmp(&(b.published, &b.key)));
        Ok(UnitRows { seq, entries })
    }

    fn live_unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows> {
        let mut rows = self.unit(repository, unit)?;
        rows.entries.retain(|entry| entry.state == State::Live);
        Ok(rows)
    }

    fn keys(&mut self, repository: RepositoryId, unit: &str, limit: usize) -> Result<Vec<String>> {
        Ok(self.unit(repository, unit)?.entries.into_iter().take(limit).map(|entry| entry.key).collect())
    }

    fn outlines(&mut self, repository: RepositoryId, unit: &str) -> Result<Vec<Outline>> {
        let name = Arc::<str>::from(unit);
        let outline = |entry: Entry| {
            let Entry { state, published, changed, facts, origin, .. } = entry;
            let origin = origin.map(|origin| origin.at);
            let facts = match facts[Facts::BRIEF].as_str() {
                Some(brief) => Facts::Brief(brief.to_owned()),
                None => Facts::Whole(serde_json::value::to_raw_value(&facts).map_err(Error::row(Seq(0)))?),
            };
            Ok(Outline { unit: name.clone(), state, published, changed, origin, facts })
        };
        self.unit(repository, unit)?.entries.into_iter().map(outline).collect()
    }

    fn facts(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitFacts> {
        let place = (repository, unit.to_owned());
        let seq = self.units.get(&place).copied().unwrap_or_default();
        Ok(UnitFacts { seq, facts: self.facts.get(&place).cloned().unwrap_or_default() })
    }

    fn units_with_facts(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, Value)>> {
        let begins = |unit: &String| unit.starts_with(prefix) && unit.as_str() > after;
        let here = self.facts.iter().filter(|((id, unit), _)| *id == repository && begins(unit));
        Ok(here.take(limit).map(|((_, unit), facts)| (unit.clone(), facts.clone())).collect())
    }

    fn unit_in_other_case(&mut self, repository: RepositoryId, unit: &str) -> Result<Option<String>> {
        Ok(self.other_case(repository, unit).cloned())
    }

    fn units(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>> {
        let names = self.live_entries_of(repository).map(|entry| entry.unit.as_str());
        let names: BTreeSet<&str> = names.filter(|unit| *unit > after).collect();
        Ok(names.into_iter().take(limit).map(str::to_owned).collect())
    }

    fn units_ever(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>> {
        let units = self.units.keys().filter(|(id, unit)| *id == repository && unit.as_str() > after);
        Ok(units.take(limit).map(|(_, unit)| unit.clone()).collect())
    }
}
