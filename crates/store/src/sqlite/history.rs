//! Which changes an entry, or what is known of a unit, went through: the numbers of their rows in the journal.

use super::read::beginning;
use super::{Sqlite, int};
use crate::{Change, Error, JournalRow, RepositoryId, Seq, Subject};
use rusqlite::{Connection, OptionalExtension, params};

/// It came later than the rest of the schema. Triggers keep it, and so do versions that do not know it: it is no new form.
/// Whoever writes puts the row into the journal first, so the change is the last there. A table that already is there is filled
/// from the journal, with the same rows: that nothing is known of a unit is one only where something was.
const SCHEMA: &str = "
    CREATE TABLE history (
        repository INTEGER NOT NULL, of_entry INTEGER NOT NULL, name TEXT NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY (repository, of_entry, name, seq)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO history SELECT json_extract(body, '$.repository'), 1, json_extract(body, '$.entry.key'), seq
        FROM journal WHERE json_extract(body, '$.change') = 'entry';
    INSERT INTO history SELECT repository, 0, unit, seq FROM (
        SELECT repository, unit, seq, known, lag(known, 1, 'null') OVER (PARTITION BY repository, unit ORDER BY seq) AS before
            FROM (SELECT seq, json_extract(body, '$.repository') AS repository, json_extract(body, '$.unit') AS unit,
                json_type(body, '$.facts') AS known FROM journal WHERE json_extract(body, '$.change') = 'unit')
    ) WHERE known <> 'null' OR before <> 'null';
    CREATE TRIGGER history_of_entry AFTER INSERT ON entry BEGIN
        INSERT INTO history VALUES (new.repository, 1, new.key, (SELECT max(seq) FROM journal));
    END;
    CREATE TRIGGER history_of_unit AFTER INSERT ON unit_facts BEGIN
        INSERT INTO history VALUES (new.repository, 0, new.unit, (SELECT max(seq) FROM journal));
    END;
    CREATE TRIGGER history_of_no_unit AFTER DELETE ON unit_facts BEGIN
        INSERT INTO history VALUES (old.repository, 0, old.unit, (SELECT max(seq) FROM journal));
    END;
";

/// Makes the table where it is not there yet.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let there = "SELECT 1 FROM sqlite_schema WHERE name = 'history'";
    if connection.query_row(there, [], |_| Ok(())).optional()?.is_none() {
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {SCHEMA} COMMIT;"))?;
    }
    Ok(())
}

impl Sqlite {
    pub(super) fn read_state(&self, id: RepositoryId, of: Subject<'_>, through: Seq) -> Result<Option<Change>, Error> {
        let (of_entry, name) = match of {
            Subject::Entry(key) => (true, key),
            Subject::Unit(unit) => (false, unit),
        };
        let sql = "SELECT seq FROM history WHERE repository = ? AND of_entry = ? AND name = ? AND seq <= ?
            ORDER BY seq DESC LIMIT 1";
        let values = params![int(id.0), of_entry, name, int(through.0)];
        let found: Vec<i64> = self.rows(sql, values, |row| row.get(0))?;
        let Some(number) = found.first() else { return Ok(None) };
        let rows: Vec<JournalRow> = self.bodies("SELECT body FROM journal WHERE seq = ?", [number])?;
        Ok(rows.into_iter().map(|row| row.change).find(Change::tells))
    }

    pub(super) fn read_known_then(
        &self,
        id: RepositoryId,
        (prefix, after): (&str, &str),
        limit: usize,
        through: Seq,
    ) -> Result<Vec<(String, serde_json::Value)>, Error> {
        let (mut known, mut after) = (Vec::new(), after.to_owned());
        loop {
            let (from, least, end) = beginning(prefix, &after);
            let sql = format!(
                "SELECT DISTINCT name FROM history WHERE repository = ? AND of_entry = 0 AND name {from} ? AND name < ?
                 ORDER BY name LIMIT ?"
            );
            let values = params![int(id.0), least, end, int(limit as u64)];
            let units: Vec<String> = self.rows(&sql, values, |row| row.get(0))?;
            let full = units.len() == limit;
            after = units.last().cloned().unwrap_or_default();
            for unit in units {
                if let Some(Change::Unit { facts, .. }) = self.read_state(id, Subject::Unit(&unit), through)? {
                    known.push((unit, facts));
                }
            }
            if !full || known.len() >= limit {
                known.truncate(limit);
                return Ok(known);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, suite};
    use serde_json::json;

    /// As a version left it that did not know the table.
    const FORGET: &str = "DROP TRIGGER history_of_entry; DROP TRIGGER history_of_unit; DROP TRIGGER history_of_no_unit;
        DROP TABLE history;";

    #[test]
    fn a_history_from_the_journal_has_the_rows_of_one_that_was_there_from_the_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        let history = |truth: &Sqlite| -> Vec<(i64, bool, String, i64)> {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            truth.rows("SELECT * FROM history ORDER BY seq", [], read).unwrap()
        };
        let said = |unit: &str, facts| Change::Unit { repository: suite::R, unit: unit.into(), facts };
        let mut truth = Sqlite::writer(&path).unwrap();
        let none = || said("rack", json!(null));
        let some = || said("rack", json!(["a"]));
        suite::made(
            &mut truth,
            vec![none(), some(), some(), none(), none(), suite::publish("rack", 1), some(), none()],
        );
        suite::made(&mut truth, vec![said("rake", json!({})), none(), said("rake", json!(null))]);
        let whole = history(&truth);
        let changes: Vec<_> = whole.iter().map(|(.., seq)| *seq).collect();
        assert_eq!(changes, [2, 3, 4, 6, 7, 8, 9, 11], "where nothing was known, nothing changed");
        truth.connection.execute_batch(FORGET).unwrap();
        truth.close().unwrap();
        assert_eq!(history(&Sqlite::writer(&path).unwrap()), whole);
    }

    #[test]
    fn a_truth_without_a_history_gets_it_from_its_journal_and_keeps_it_whoever_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        let mut truth = Sqlite::writer(&path).unwrap();
        let owners = |facts| Change::Unit { repository: suite::R, unit: "rack".into(), facts };
        suite::made(&mut truth, vec![suite::publish("rack", 1), owners(json!(["a"])), suite::withdraw("rack", 1)]);
        truth.connection.execute_batch(FORGET).unwrap();
        suite::made(&mut truth, vec![owners(json!(null))]);
        truth.close().unwrap();
        let mut truth = Sqlite::writer(&path).unwrap();
        suite::made(&mut truth, vec![suite::publish("rack", 1)]);
        let mut state = |through| match truth.state(suite::R, Subject::Entry("rack-1"), Seq(through)).unwrap() {
            Some(Change::Entry { entry, .. }) => Some(entry.state),
            _ => None,
        };
        let (live, withdrawn) = (Some(crate::State::Live), Some(crate::State::Withdrawn));
        assert_eq!([0, 1, 2, 3, 4, 5].map(&mut state), [None, live, live, withdrawn, withdrawn, live]);
        let mut owners = |through| truth.known_then(suite::R, ("", ""), 9, Seq(through)).unwrap();
        assert_eq!(owners(1), []);
        assert_eq!(owners(3), [("rack".into(), json!(["a"]))]);
        assert_eq!(owners(5), []);
    }
}
