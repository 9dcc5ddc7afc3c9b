//! Reads of units.

use super::connection::{PrefixRange, Sqlite, int, parse};
use super::expectations::UNIT_IN_OTHER_CASE;
use crate::error::{Error, Result};
use crate::journal::entry::State;
use crate::journal::record::RepositoryId;
use crate::truth::catalog::{Facts, Outline, UnitFacts, UnitReads, UnitRows};
use rusqlite::params;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use telemetry::Millis;

/// The live entries of a unit. The index is named, because the planner has no statistics and would also read the withdrawn ones.
const LIVE_UNIT: &str = "SELECT body FROM entry INDEXED BY entry_unit_live
    WHERE repository = ? AND unit = ? AND live ORDER BY published, key";

impl UnitReads for Sqlite {
    fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows> {
        self.unit_rows(
            repository,
            unit,
            "SELECT body FROM entry WHERE repository = ? AND unit = ? ORDER BY published, key",
        )
    }

    fn live_unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows> {
        self.unit_rows(repository, unit, LIVE_UNIT)
    }

    /// Answered from the index only: no entry is read for its key.
    fn keys(&mut self, id: RepositoryId, unit: &str, limit: usize) -> Result<Vec<String>> {
        let sql = "SELECT key FROM entry WHERE repository = ? AND unit = ? ORDER BY published, key LIMIT ?";
        self.rows(sql, params![int(id.0), unit, int(limit as u64)], |row| row.get(0))
    }

    fn outlines(&mut self, repository: RepositoryId, unit: &str) -> Result<Vec<Outline>> {
        // Read in the order of the primary key and sorted here: SQLite would build a temporary table for the other order.
        let sql = "SELECT live, published, changed, brief, key, origin FROM outline
                   WHERE repository = ? AND unit = ? ORDER BY key";
        let failed = Error::sqlite("read entries in outline");
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query(params![int(repository.0), unit]).map_err(&failed)?;
        let (name, mut outlines) = (Arc::<str>::from(unit), Vec::new());
        while let Some(row) = rows.next().map_err(&failed)? {
            let (live, published, changed, brief): (bool, i64, i64, Option<String>) =
                (|| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))().map_err(&failed)?;
            let facts = match brief {
                Some(brief) => Facts::Brief(brief),
                None => self.whole_facts(repository, &row.get::<_, String>(4).map_err(&failed)?)?,
            };
            let origin = row.get::<_, Option<i64>>(5).map_err(&failed)?.map(Millis);
            let state = if live { State::Live } else { State::Withdrawn };
            let (unit, published, changed) = (name.clone(), Millis(published), Millis(changed));
            outlines.push(Outline { unit, state, published, changed, origin, facts });
        }
        outlines.sort_by_key(|outline| outline.published);
        Ok(outlines)
    }

    fn facts(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitFacts> {
        // One snapshot for both reads, as for a unit.
        let snapshot = self.connection.unchecked_transaction().map_err(Error::sqlite("read a unit"))?;
        let sql = "SELECT body FROM unit_facts WHERE repository = ? AND unit = ?";
        let facts = self.bodies(sql, params![int(repository.0), unit])?.pop().unwrap_or_default();
        let found = UnitFacts { seq: self.unit_seq(repository, unit)?, facts };
        snapshot.finish().map_err(Error::sqlite("read a unit"))?;
        Ok(found)
    }

    fn units_with_facts(
        &mut self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, serde_json::Value)>> {
        let PrefixRange { from, least, end } = PrefixRange::new(prefix, after);
        let sql = format!(
            "SELECT unit, body FROM unit_facts WHERE repository = ? AND unit {from} ? AND unit < ? ORDER BY unit LIMIT ?"
        );
        let values = params![int(id.0), least, end, int(limit as u64)];
        let rows = self.rows(&sql, values, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        rows.into_iter().map(|(unit, body)| Ok((unit, parse(&body)?))).collect()
    }

    fn unit_in_other_case(&mut self, id: RepositoryId, unit: &str) -> Result<Option<String>> {
        Ok(self.rows(UNIT_IN_OTHER_CASE, params![int(id.0), unit], |row| row.get(0))?.pop())
    }

    fn units(&mut self, id: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>> {
        let sql = "SELECT unit FROM unit WHERE repository = ? AND unit > ? AND live > 0 ORDER BY unit LIMIT ?";
        self.rows(sql, params![int(id.0), after, int(limit as u64)], |row| row.get(0))
    }

    fn units_ever(&mut self, id: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>> {
        let sql = "SELECT unit FROM unit WHERE repository = ? AND unit > ? ORDER BY unit LIMIT ?";
        self.rows(sql, params![int(id.0), after, int(limit as u64)], |row| row.get(0))
    }
}

impl Sqlite {
    /// A unit with the entries that a query returns.
    fn unit_rows(&self, repository: RepositoryId, unit: &str, sql: &str) -> Result<UnitRows> {
        // One snapshot for both reads, or a change between them could be lost.
        let snapshot = self.connection.unchecked_transaction().map_err(Error::sqlite("read a unit"))?;
        let rows = UnitRows {
            seq: self.unit_seq(repository, unit)?,
            entries: self.bodies(sql, params![int(repository.0), unit])?,
        };
        snapshot.finish().map_err(Error::sqlite("read a unit"))?;
        Ok(rows)
    }

    /// All facts of an entry without a brief text.
    fn whole_facts(&self, repository: RepositoryId, key: &str) -> Result<Facts> {
        #[derive(Deserialize)]
        struct Body {
            facts: Box<RawValue>,
        }
        let sql = "SELECT body FROM entry WHERE repository = ? AND key = ?";
        let body: Option<Body> = self.bodies(sql, params![int(repository.0), key])?.pop();
        // There always is a body, because entries are never deleted.
        Ok(Facts::Whole(body.map(|body| body.facts).unwrap_or_else(|| RawValue::NULL.to_owned())))
    }
}
