//! Entries in outline, in a table of their own: those of a unit stand side by side, without what lists do not need.

use super::{Sqlite, int};
use crate::{Error, Facts, Outline, RepositoryId, State};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use telemetry::Millis;

/// It came later than the rest of the schema. A trigger keeps it, and so do versions that do not know it: it is no new
/// form. Without a text that the format put there `brief` is null.
const SCHEMA: &str = "
    CREATE TABLE outline (
        repository INTEGER NOT NULL, unit TEXT NOT NULL, key TEXT NOT NULL, live INTEGER NOT NULL,
        published INTEGER NOT NULL, changed INTEGER NOT NULL, brief TEXT, PRIMARY KEY (repository, unit, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER outline_of_entry AFTER INSERT ON entry BEGIN
        INSERT OR REPLACE INTO outline VALUES (
            new.repository, new.unit, new.key, new.live, new.published, json_extract(new.body, '$.changed'),
            CASE json_type(new.body, '$.facts.brief') WHEN 'text' THEN json_extract(new.body, '$.facts.brief') END
        );
    END;
    INSERT INTO outline SELECT repository, unit, key, live, published, json_extract(body, '$.changed'), NULL FROM entry;
";

/// Makes the table where it is not there yet.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let there = "SELECT 1 FROM sqlite_schema WHERE name = 'outline'";
    if connection.query_row(there, [], |_| Ok(())).optional()?.is_none() {
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {SCHEMA} COMMIT;"))?;
    }
    Ok(())
}

impl Sqlite {
    pub(super) fn read_outlines(&self, repository: RepositoryId, unit: &str) -> Result<Vec<Outline>, Error> {
        // In the order of the key, as they stand. The moments are put in order here: SQLite would make a table for that.
        let sql =
            "SELECT live, published, changed, brief, key FROM outline WHERE repository = ? AND unit = ? ORDER BY key";
        let failed = Error::sqlite("read entries in outline");
        let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query(params![int(repository.0), unit]).map_err(&failed)?;
        let (name, mut outlines) = (Arc::<str>::from(unit), Vec::new());
        while let Some(row) = rows.next().map_err(&failed)? {
            let (live, published, changed, brief): (bool, i64, i64, Option<String>) =
                (|| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))().map_err(&failed)?;
            let facts = match brief {
                Some(brief) => Facts::Brief(brief),
                None => self.read_facts(repository, &row.get::<_, String>(4).map_err(&failed)?)?,
            };
            let state = if live { State::Live } else { State::Withdrawn };
            let (unit, published, changed) = (name.clone(), Millis(published), Millis(changed));
            outlines.push(Outline { unit, state, published, changed, facts });
        }
        outlines.sort_by_key(|outline| outline.published);
        Ok(outlines)
    }

    /// Of an entry whose facts say nothing in short.
    fn read_facts(&self, repository: RepositoryId, key: &str) -> Result<Facts, Error> {
        #[derive(Deserialize)]
        struct Body {
            facts: Box<RawValue>,
        }
        let sql = "SELECT body FROM entry WHERE repository = ? AND key = ?";
        let body: Option<Body> = self.bodies(sql, params![int(repository.0), key])?.pop();
        // No entry is ever taken away.
        Ok(Facts::Whole(body.map(|body| body.facts).unwrap_or_else(|| RawValue::NULL.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, suite};

    #[test]
    fn a_truth_without_outlines_gets_them_and_keeps_them_whoever_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        let mut truth = Sqlite::writer(&path).unwrap();
        truth.commit(&[suite::batch(vec![], vec![suite::publish("rack", 1), suite::publish("rack", 2)])]).unwrap();
        let before = suite::outlines(&mut truth, suite::R, "rack");
        // As a version left it that did not know the table, which then is filled from bodies.
        truth.connection.execute_batch("DROP TRIGGER outline_of_entry; DROP TABLE outline;").unwrap();
        truth.close().unwrap();
        let mut truth = Sqlite::writer(&path).unwrap();
        let moments = |outlines: &[(State, Millis, Millis, String)]| -> Vec<_> {
            outlines.iter().map(|one| (one.0, one.1, one.2)).collect()
        };
        let filled = suite::outlines(&mut truth, suite::R, "rack");
        assert_eq!(moments(&filled), moments(&before));
        assert!(filled[0].3.starts_with('{') && filled[1].3.starts_with('{'), "the facts themselves: {filled:?}");
        truth.commit(&[suite::batch(vec![], vec![suite::withdraw("rack", 2)])]).unwrap();
        let after = suite::outlines(&mut truth, suite::R, "rack");
        assert_eq!((after[0].0, after[0].3.as_str()), (State::Withdrawn, "rack in short"));
        assert_eq!(after[1], filled[1]);
    }
}
