//! Records the day on which each version and file was last used, and since when the record is complete.

use super::database::Cache;
use crate::error::Result;
use crate::journal::record::RepositoryId;
use rusqlite::{OptionalExtension, params};
use telemetry::Millis;

impl Cache {
    /// Starts recording at `now`. Continues an earlier recording if that was stopped cleanly. Otherwise uses shortly before its
    /// end may be lost, and it starts over.
    pub(crate) fn begin_uses(&mut self, now: Millis) -> Result<()> {
        self.run(|database| {
            let sql = "SELECT since FROM uses_recorded WHERE stopped";
            let since: Option<i64> = database.query_row(sql, [], |row| row.get(0)).optional()?;
            let sql = "INSERT OR REPLACE INTO uses_recorded VALUES (1, ?, 0)";
            database.execute(sql, [since.unwrap_or(now.0)]).map(drop)
        })
    }

    /// Records that these were used on a day, given by its number. `lost`: some uses up to this moment are not recorded.
    pub(crate) fn record_uses(&mut self, uses: &[(RepositoryId, String, i64)], lost: Option<Millis>) -> Result<()> {
        self.run(|database| {
            let all = database.unchecked_transaction()?;
            {
                let sql = "INSERT INTO last_use VALUES (?, ?, ?)
                    ON CONFLICT DO UPDATE SET day = max(day, excluded.day)";
                let mut statement = database.prepare_cached(sql)?;
                for (id, name, day) in uses {
                    statement.execute(params![id.0.cast_signed(), name, day])?;
                }
            }
            if let Some(lost) = lost {
                let sql = "INSERT OR REPLACE INTO uses_recorded VALUES (1, ?, 0)";
                database.execute(sql, [lost.0])?;
            }
            all.commit()
        })
    }

    /// Removes the last uses of these names, which no longer exist.
    pub(crate) fn forget_uses(&mut self, id: RepositoryId, names: &[String]) -> Result<()> {
        self.run(|database| {
            let all = database.unchecked_transaction()?;
            for name in names {
                let sql = "DELETE FROM last_use WHERE repository = ? AND name = ?";
                all.prepare_cached(sql)?.execute(params![id.0.cast_signed(), name])?;
            }
            all.commit()
        })
    }

    /// Stops recording cleanly: every use is recorded. Saves when files were last verified, too.
    pub(crate) fn end_uses(&mut self) -> Result<()> {
        let verified = self.last_verified.save();
        self.run(|database| {
            database.execute("UPDATE uses_recorded SET stopped = 1", [])?;
            database.execute("INSERT OR REPLACE INTO last_verified VALUES (1, ?)", [&verified]).map(drop)
        })
    }

    /// Since when all uses are recorded. `None`: none are, or the database is new.
    pub(crate) fn uses_since(&mut self) -> Result<Option<Millis>> {
        let sql = "SELECT since FROM uses_recorded";
        self.run(|database| database.query_row(sql, [], |row| row.get(0).map(Millis)).optional())
    }

    /// Names that begin with `prefix`, each with the day of its last use, ordered by name.
    pub(crate) fn last_uses(&mut self, id: RepositoryId, prefix: &str) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT name, day FROM last_use WHERE repository = ?1 AND name >= ?2 AND name < ?2 || char(1114111)
            ORDER BY name";
        self.run(|database| {
            let mut statement = database.prepare_cached(sql)?;
            let rows =
                statement.query_map(params![id.0.cast_signed(), prefix], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::files::tests::open;

    const A: RepositoryId = RepositoryId(1);

    #[test]
    fn a_recording_goes_on_after_a_stop_and_starts_over_after_a_crash_or_a_loss() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = open(folder.path(), u64::MAX, 1);
        assert_eq!(cache.uses_since().unwrap(), None);
        cache.begin_uses(Millis(5)).unwrap();
        cache.end_uses().unwrap();
        cache.begin_uses(Millis(7)).unwrap();
        assert_eq!(cache.uses_since().unwrap(), Some(Millis(5)));
        cache.begin_uses(Millis(8)).unwrap();
        assert_eq!(cache.uses_since().unwrap(), Some(Millis(8)), "it was not stopped");
        cache.record_uses(&[], Some(Millis(9))).unwrap();
        assert_eq!(cache.uses_since().unwrap(), Some(Millis(9)));
    }

    #[test]
    fn the_latest_day_of_each_name_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = open(folder.path(), u64::MAX, 1);
        let uses = [(A, "a-1".to_owned(), 3), (A, "a-2".to_owned(), 4), (RepositoryId(2), "a-1".to_owned(), 9)];
        cache.record_uses(&uses, None).unwrap();
        cache.record_uses(&[(A, "a-1".to_owned(), 2), (A, "a-2".to_owned(), 6)], None).unwrap();
        assert_eq!(cache.last_uses(A, "a-").unwrap(), [("a-1".to_owned(), 3), ("a-2".to_owned(), 6)]);
        cache.forget_uses(A, &["a-1".to_owned(), "a-3".to_owned()]).unwrap();
        assert_eq!(cache.last_uses(A, "a-").unwrap(), [("a-2".to_owned(), 6)]);
        assert_eq!(cache.last_uses(RepositoryId(2), "a-").unwrap(), [("a-1".to_owned(), 9)]);
        assert_eq!(cache.last_uses(A, "a-2").unwrap().len(), 1);
    }
}
