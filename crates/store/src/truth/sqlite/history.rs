//! Reads of the journal, and of earlier states.

use super::connection::{PrefixRange, Sqlite, int, seq};
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::{Authorship, FirstSeen, JournalReads, JournalRow, Subject};
use rusqlite::params;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use telemetry::{Millis, give_way};

/// The first-seen rows of a unit, the newest first.
const FIRST_SEEN: &str = "SELECT body FROM first_seen JOIN journal USING (seq)
    WHERE repository = ? AND unit = ? AND seq <= ? ORDER BY seq DESC";

/// The moment of a journal row, if possible also of an unreadable one.
#[derive(Deserialize)]
struct Moment {
    at: Millis,
}

/// A journal row without its change.
#[derive(Deserialize)]
struct AuthoredRow {
    seq: Seq,
    at: Millis,
    by: String,
    /// The facts of a unit are null if the change leaves nothing. Other changes have none here.
    #[serde(default = "something")]
    facts: Option<IgnoredAny>,
}

#[expect(clippy::unnecessary_wraps, reason = "the default of a field")]
fn something() -> Option<IgnoredAny> {
    Some(IgnoredAny)
}

/// Rows of the journal from their texts.
pub(super) fn parsed(rows: &[(Seq, String)]) -> Result<Vec<JournalRow>> {
    rows.iter().map(|(seq, body)| serde_json::from_str(body).map_err(Error::row(*seq))).collect()
}

impl Sqlite {
    /// The stored row of the last change of a subject up to `through`, or a part of the row.
    fn row_body_as_of<T: DeserializeOwned>(
        &self,
        id: RepositoryId,
        of: Subject<'_>,
        through: Seq,
    ) -> Result<Option<T>> {
        let (of_entry, name) = match of {
            Subject::Entry(key) => (true, key),
            Subject::Unit(unit) => (false, unit),
        };
        let sql = "SELECT seq FROM history WHERE repository = ? AND of_entry = ? AND name = ? AND seq <= ?
            ORDER BY seq DESC LIMIT 1";
        let values = params![int(id.0), of_entry, name, int(through.0)];
        let found: Vec<i64> = self.rows(sql, values, |row| row.get(0))?;
        let Some(number) = found.first() else { return Ok(None) };
        Ok(self.bodies("SELECT body FROM journal WHERE seq = ?", [number])?.pop())
    }
}

impl JournalReads for Sqlite {
    fn last(&mut self) -> Result<Seq> {
        let failed = Error::sqlite("read the counter");
        let mut statement = self.connection.prepare_cached("SELECT seq FROM counter").map_err(&failed)?;
        statement.query_row([], |row| row.get(0)).map(seq).map_err(failed)
    }

    fn last_moment(&mut self) -> Result<Option<Millis>> {
        let rows: Vec<Moment> = self.bodies("SELECT body FROM journal ORDER BY seq DESC LIMIT 1", [])?;
        Ok(rows.first().map(|row| row.at))
    }

    fn journal(&mut self, after: Seq, limit: usize) -> Result<Vec<JournalRow>> {
        parsed(&self.journal_text(after, limit, usize::MAX)?)
    }

    fn moment_of(&mut self, seq: Seq, at: Millis) -> Result<Millis> {
        self.dated(seq, at)
    }

    fn journal_text(&mut self, after: Seq, limit: usize, max_bytes: usize) -> Result<Vec<(Seq, String)>> {
        let failed = Error::sqlite("read the journal");
        let sql = "SELECT seq, body FROM journal WHERE seq > ? ORDER BY seq LIMIT ?";
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let mut found = statement.query(params![int(after.0), int(limit as u64)]).map_err(&failed)?;
        let (mut rows, mut size) = (Vec::new(), 0_usize);
        while let Some(row) = found.next().map_err(&failed)? {
            let (number, body): (i64, String) = row.try_into().map_err(&failed)?;
            size = size.saturating_add(body.len());
            if size > max_bytes && !rows.is_empty() {
                break;
            }
            rows.push((seq(number), body));
        }
        Ok(rows)
    }

    fn row_as_of(&mut self, id: RepositoryId, of: Subject<'_>, through: Seq) -> Result<Option<JournalRow>> {
        let row: Option<JournalRow> = self.row_body_as_of(id, of, through)?;
        let row = row.filter(|row| row.change.leaves_something());
        row.map(|row| Ok(JournalRow { at: self.dated(row.seq, row.at)?, ..row })).transpose()
    }

    fn authors_as_of(&mut self, of: &[(RepositoryId, Subject<'_>, Seq)]) -> Result<Vec<Option<Authorship>>> {
        // One snapshot for all reads: otherwise each of them takes the locks of a transaction.
        let snapshot = self.connection.unchecked_transaction().map_err(Error::sqlite("read the journal"))?;
        let read = |(id, of, through): &(RepositoryId, Subject<'_>, Seq)| {
            let row: Option<AuthoredRow> = self.row_body_as_of(*id, *of, *through)?;
            let author = |AuthoredRow { seq, at, by, .. }| Ok(Authorship { seq, at: self.dated(seq, at)?, by });
            row.filter(|row| row.facts.is_some()).map(author).transpose()
        };
        let found = of.iter().map(read).collect::<Result<_>>()?;
        snapshot.finish().map_err(Error::sqlite("read the journal"))?;
        Ok(found)
    }

    fn units_with_facts_as_of(
        &mut self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
        through: Seq,
    ) -> Result<Vec<(String, serde_json::Value)>> {
        let (mut known, mut after) = (Vec::new(), after.to_owned());
        loop {
            let PrefixRange { from, least, end } = PrefixRange::new(prefix, &after);
            let sql = format!(
                "SELECT DISTINCT name FROM history WHERE repository = ? AND of_entry = 0 AND name {from} ? AND name < ?
                 ORDER BY name LIMIT ?"
            );
            let values = params![int(id.0), least, end, int(limit as u64)];
            let units: Vec<String> = self.rows(&sql, values, |row| row.get(0))?;
            let full = units.len() == limit;
            after = units.last().cloned().unwrap_or_default();
            for unit in units {
                if let Some(Change::Unit { facts, .. }) = self.state_as_of(id, Subject::Unit(&unit), through)? {
                    known.push((unit, facts));
                }
            }
            if !full || known.len() >= limit {
                known.truncate(limit);
                return Ok(known);
            }
        }
    }

    fn first_seen(&mut self, id: RepositoryId, unit: &str, through: Seq) -> Result<Vec<FirstSeen>> {
        let failed = Error::sqlite("read the truth");
        let mut statement = self.connection.prepare_cached(FIRST_SEEN).map_err(&failed)?;
        let mut found = statement.query(params![int(id.0), unit, int(through.0)]).map_err(&failed)?;
        let mut rows: Vec<FirstSeen> = Vec::new();
        while rows.last().is_none_or(|row| !row.whole)
            && let Some(row) = found.next().map_err(&failed)?
        {
            give_way();
            let body: String = row.get(0).map_err(&failed)?;
            let row: FirstSeen = serde_json::from_str(&body).map_err(Error::row(through))?;
            rows.push(FirstSeen { at: self.dated(row.seq, row.at)?, ..row });
        }
        rows.reverse();
        Ok(rows)
    }

    fn first_seen_bytes(&mut self) -> Result<Vec<(RepositoryId, u64)>> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok((RepositoryId(row.get::<_, i64>(0)?.cast_unsigned()), row.get::<_, i64>(1)?.cast_unsigned()))
        };
        self.rows("SELECT repository, bytes FROM first_seen_bytes ORDER BY repository", [], read)
    }

    fn lines(&mut self, id: RepositoryId, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>> {
        let sql = "SELECT seq, line FROM line WHERE repository = ? AND seq > ? ORDER BY seq LIMIT ?";
        let values = params![int(id.0), int(after.0), int(limit as u64)];
        self.rows(sql, values, |row| Ok((seq(row.get(0)?), row.get(1)?)))
    }

    fn last_line(&mut self, id: RepositoryId, through: Seq) -> Result<Seq> {
        let sql = "SELECT seq FROM line WHERE repository = ? AND seq <= ? ORDER BY seq DESC LIMIT 1";
        let found: Vec<i64> = self.rows(sql, params![int(id.0), int(through.0)], |row| row.get(0))?;
        Ok(seq(found.first().copied().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::suite;

    #[test]
    fn first_seen_rows_are_read_by_their_index_and_never_by_scanning_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let mut truth = Sqlite::writer(&folder.path().join("truth.sqlite")).unwrap();
        suite::made(&mut truth, vec![suite::publish("rack", 1)]);
        let plan = format!("EXPLAIN QUERY PLAN {FIRST_SEEN}");
        let plan: Vec<String> = truth.rows(&plan, params![1, "a", 5], |row| row.get(3)).unwrap();
        assert!(plan[0].starts_with("SEARCH first_seen USING PRIMARY KEY"), "{plan:?}");
        assert!(plan[1].starts_with("SEARCH journal USING INTEGER PRIMARY KEY"), "{plan:?}");
        assert_eq!(plan.len(), 2, "{plan:?}");
    }
}
