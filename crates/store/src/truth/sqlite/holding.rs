//! The size of each repository: sums that are updated with each change of an entry.

use super::connection::{Sqlite, int};
use crate::error::Result;
use crate::journal::entry::{Entry, State};
use crate::journal::record::RepositoryId;
use crate::truth::catalog::Holding;
use crate::truth::package::package;
use rusqlite::{Row, params};

/// A row of `holding`.
pub(super) fn holding_row(row: &Row<'_>) -> rusqlite::Result<(RepositoryId, Holding)> {
    let [id, files, size_bytes, packages] = [0, 1, 2, 3].map(|at| row.get::<_, i64>(at).map(i64::cast_unsigned));
    Ok((RepositoryId(id?), Holding { files: files?, size_bytes: size_bytes?, packages: packages? }))
}

impl Sqlite {
    /// The size of an entry before a change; `None`: it is not live.
    pub(super) fn live_size(&self, repository: RepositoryId, key: &str) -> Result<Option<i64>> {
        let sql =
            "SELECT json_extract(body, '$.hashes.size_bytes') FROM entry WHERE repository = ? AND key = ? AND live";
        Ok(self.rows(sql, params![int(repository.0), key], |row| row.get(0))?.pop())
    }

    /// Counts an entry after a change. `before`: its size before the change, if it was live.
    pub(super) fn count_entry(&self, id: RepositoryId, entry: &Entry, before: Option<i64>) -> Result<()> {
        let after = (entry.state == State::Live).then_some(int(entry.hashes.size_bytes));
        let files = i64::from(after.is_some()) - i64::from(before.is_some());
        let packages = match package(&entry.unit, &entry.key).filter(|_| files != 0) {
            Some(name) => self.count_package(id, name, files)?,
            None => 0,
        };
        let bytes = after.unwrap_or_default().wrapping_sub(before.unwrap_or_default());
        self.run(
            "INSERT INTO holding VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET files = files + excluded.files,
             size_bytes = size_bytes + excluded.size_bytes, packages = packages + excluded.packages",
            params![int(id.0), files, bytes, packages],
        )
    }

    /// Adds `by` live entries to a package. Returns the change of the number of packages.
    fn count_package(&self, id: RepositoryId, name: &str, by: i64) -> Result<i64> {
        let sql =
            "INSERT INTO package VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET live = live + excluded.live RETURNING live";
        let live = self.rows(sql, params![int(id.0), name, by], |row| row.get::<_, i64>(0))?.pop().unwrap_or_default();
        if live == 0 {
            self.run("DELETE FROM package WHERE repository = ? AND name = ?", params![int(id.0), name])?;
        }
        Ok(match (live, by) {
            (1, 1) => 1,
            (0, _) => -1,
            _ => 0,
        })
    }
}
