//! The tables with the size of each repository, and their migration.

use crate::truth::package::package;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// `package` has the number of live entries of each package that has any.
pub(super) const TABLES: &str = "
    CREATE TABLE holding (
        repository INTEGER PRIMARY KEY, files INTEGER NOT NULL, size_bytes INTEGER NOT NULL, packages INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE package (
        repository INTEGER NOT NULL, name TEXT NOT NULL, live INTEGER NOT NULL, PRIMARY KEY (repository, name)
    ) STRICT, WITHOUT ROWID;
";

/// Fills the new tables from the entries.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut sums: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    let mut packages: BTreeMap<(i64, String), i64> = BTreeMap::new();
    let sql = "SELECT repository, unit, key, live, json_extract(body, '$.hashes.size_bytes') FROM entry";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let repository: i64 = row.get(0)?;
        let sum = sums.entry(repository).or_default();
        if !row.get::<_, bool>(3)? {
            continue;
        }
        *sum = (sum.0 + 1, sum.1 + row.get::<_, i64>(4)?);
        let [unit, key] = [row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?];
        if let Some(name) = package(unit, key) {
            *packages.entry((repository, name.to_owned())).or_default() += 1;
        }
    }
    for (repository, (files, size_bytes)) in sums {
        let sql = "INSERT INTO holding VALUES (?, ?, ?, 0)";
        connection.prepare_cached(sql)?.execute(params![repository, files, size_bytes])?;
    }
    for ((repository, name), live) in packages {
        connection.prepare_cached("INSERT INTO package VALUES (?, ?, ?)")?.execute(params![repository, name, live])?;
        let sql = "UPDATE holding SET packages = packages + 1 WHERE repository = ?";
        connection.prepare_cached(sql)?.execute([repository])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
