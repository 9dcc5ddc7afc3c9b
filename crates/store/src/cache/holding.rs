//! The number and size of the cached files of each upstream. Triggers maintain them in the database, and reads use a copy in
//! memory.

use super::database::Cache;
use crate::error::Result;
use crate::journal::record::RepositoryId;
use crate::truth::catalog::Holding;
use rusqlite::{Connection, Row};

impl Cache {
    /// Reads the figures of all upstreams into memory.
    pub(super) fn measure_holdings(&mut self) -> Result<()> {
        let ids: Vec<i64> = self.run(|database| {
            let mut statement = database.prepare("SELECT DISTINCT repository FROM holding")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        ids.into_iter().try_for_each(|id| self.measure_holding(RepositoryId(id.cast_unsigned())))
    }

    /// Reads the figures of one repository's upstreams into memory, after a change of its files.
    pub(super) fn measure_holding(&mut self, id: RepositoryId) -> Result<()> {
        let each = self.run(|database| holdings(database, id))?;
        self.holdings.set_cached(id, each);
        Ok(())
    }
}

fn holdings(database: &Connection, id: RepositoryId) -> rusqlite::Result<Vec<(i64, Holding)>> {
    let sql = "SELECT origin, files, bytes FROM holding WHERE repository = ?";
    let read = |row: &Row<'_>| {
        let [files, size_bytes] = [row.get::<_, i64>(1)?, row.get::<_, i64>(2)?].map(i64::cast_unsigned);
        Ok((row.get(0)?, Holding { files, size_bytes, packages: 0 }))
    };
    database.prepare_cached(sql)?.query_map([id.0.cast_signed()], read)?.collect()
}
