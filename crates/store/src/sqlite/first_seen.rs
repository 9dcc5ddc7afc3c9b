//! What was first seen of upstreams: an index of rows of the journal by unit, and what they cost in all.

use super::{Sqlite, int, seq};
use crate::first_seen::cost;
use crate::{Error, FirstSeen, RepositoryId, Seq};
use rusqlite::params;
use telemetry::give_way;

/// The rows stay in the journal alone: a copy would double what a version costs.
pub(super) const SCHEMA: &str = "
    CREATE TABLE first_seen (
        repository INTEGER NOT NULL, unit TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (repository, unit, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE first_seen_bytes (repository INTEGER PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
";

/// The rows of a unit, the newest first.
const ROWS: &str = "SELECT body FROM first_seen JOIN journal USING (seq)
    WHERE repository = ? AND unit = ? AND seq <= ? ORDER BY seq DESC";

impl Sqlite {
    pub(super) fn apply_first_seen(&self, at: Seq, id: RepositoryId, unit: &str, body: usize) -> Result<(), Error> {
        self.run("INSERT INTO first_seen VALUES (?, ?, ?)", params![int(id.0), unit, int(at.0)])?;
        self.run(
            "INSERT INTO first_seen_bytes VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes",
            params![int(id.0), int(cost(body, unit))],
        )
    }

    /// The number of the last row of a unit; 0: it has none.
    pub(super) fn last_first_seen(&self, id: RepositoryId, unit: &str) -> Result<Seq, Error> {
        let sql = "SELECT seq FROM first_seen WHERE repository = ? AND unit = ? ORDER BY seq DESC LIMIT 1";
        let found: Vec<i64> = self.rows(sql, params![int(id.0), unit], |row| row.get(0))?;
        Ok(seq(found.first().copied().unwrap_or_default()))
    }

    pub(super) fn read_first_seen(&self, id: RepositoryId, unit: &str, through: Seq) -> Result<Vec<FirstSeen>, Error> {
        let failed = Error::sqlite("read the truth");
        let mut statement = self.connection.prepare_cached(ROWS).map_err(&failed)?;
        let mut found = statement.query(params![int(id.0), unit, int(through.0)]).map_err(&failed)?;
        let mut rows: Vec<FirstSeen> = Vec::new();
        while rows.last().is_none_or(|row| !row.whole)
            && let Some(row) = found.next().map_err(&failed)?
        {
            give_way();
            let body: String = row.get(0).map_err(&failed)?;
            rows.push(serde_json::from_str(&body).map_err(Error::row(through))?);
        }
        rows.reverse();
        Ok(rows)
    }

    pub(super) fn read_first_seen_bytes(&self) -> Result<Vec<(RepositoryId, u64)>, Error> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok((RepositoryId(row.get::<_, i64>(0)?.cast_unsigned()), row.get::<_, i64>(1)?.cast_unsigned()))
        };
        self.rows("SELECT repository, bytes FROM first_seen_bytes ORDER BY repository", [], read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite;

    #[test]
    fn a_unit_is_read_by_its_index_and_never_by_walking_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let mut truth = Sqlite::writer(&folder.path().join("truth.sqlite")).unwrap();
        suite::made(&mut truth, vec![suite::publish("rack", 1)]);
        let plan = format!("EXPLAIN QUERY PLAN {ROWS}");
        let plan: Vec<String> = truth.rows(&plan, params![1, "a", 5], |row| row.get(3)).unwrap();
        assert!(plan[0].starts_with("SEARCH first_seen USING PRIMARY KEY"), "{plan:?}");
        assert!(plan[1].starts_with("SEARCH journal USING INTEGER PRIMARY KEY"), "{plan:?}");
        assert_eq!(plan.len(), 2, "{plan:?}");
    }
}
