//! Compares all tables of two databases, row by row, except for the notes.

use super::connection::Sqlite;
use crate::error::{Error, Result};
use rusqlite::types::Value;
use rusqlite::{Row, Rows};

/// Notes are no part of the history, so no replay makes them.
const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'note'
    AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name";
/// The columns of the primary key, in its order; none: the table has only its own row numbers.
const KEY: &str = "SELECT group_concat(name, ', ') FROM
    (SELECT '\"' || name || '\"' AS name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk)";

impl Sqlite {
    /// The version of the tables.
    pub(crate) fn form(&self) -> Result<u32> {
        let read = self.connection.pragma_query_value(None, "user_version", |row| row.get(0));
        read.map_err(Error::sqlite("read the version of the tables"))
    }

    /// The tables, except for the notes, that do not have the same rows in both databases.
    pub(crate) fn differing_tables(&self, other: &Self) -> Result<Vec<String>> {
        let tables = |one: &Self| one.rows(TABLES, [], |row| row.get::<_, String>(0));
        let (mut all, mut differing) = (tables(self)?, Vec::new());
        all.extend(tables(other)?);
        all.sort();
        all.dedup();
        for table in all {
            if !self.same_rows(other, &table)? {
                differing.push(table);
            }
        }
        Ok(differing)
    }

    fn same_rows(&self, other: &Self, table: &str) -> Result<bool> {
        let failed = Error::sqlite("compare a table");
        let key: Vec<Option<String>> = self.rows(KEY, [table], |row| row.get(0))?;
        let order = key.into_iter().flatten().next().unwrap_or_else(|| "rowid".to_owned());
        let sql = format!("SELECT * FROM \"{table}\" ORDER BY {order}");
        let both = [self, other].map(|one| one.connection.prepare(&sql));
        let [Ok(mut one), Ok(mut two)] = both else { return Ok(false) };
        let columns = one.column_count();
        if columns != two.column_count() {
            return Ok(false);
        }
        let (mut one, mut two) = (one.query([]).map_err(&failed)?, two.query([]).map_err(&failed)?);
        loop {
            match (next(&mut one, columns).map_err(&failed)?, next(&mut two, columns).map_err(&failed)?) {
                (None, None) => return Ok(true),
                (one, two) if one != two => return Ok(false),
                _ => {}
            }
        }
    }
}

fn next(rows: &mut Rows<'_>, columns: usize) -> rusqlite::Result<Option<Vec<Value>>> {
    let read = |row: &Row<'_>| (0..columns).map(|column| row.get(column)).collect();
    rows.next()?.map(read).transpose()
}
