//! For tests: databases as earlier versions of Daylight wrote them.

use super::connection::Sqlite;
use std::path::Path;

/// The tables of each version of the schema.
const TABLES: [&[&str]; 3] = [
    &["counter", "journal", "entry", "unit", "line", "repository", "token", "setting", "blob"],
    &["unit_facts"],
    &["first_seen", "first_seen_bytes"],
];

/// Parts of rows that versions up to 3 of the schema did not have: the short text of an entry, and version 2 of rows.
const EARLIER_ROWS: &str = "
    UPDATE entry SET body = json_remove(body, '$.facts.brief', '$.origin', '$.withdrawal');
    UPDATE journal SET body = json_set(
        json_remove(body, '$.entry.facts.brief', '$.entry.origin', '$.entry.withdrawal', '$.from'), '$.v', 1);
";

/// Removes from a database the tables and columns that version `form` of the schema did not have. Its segments no longer match.
pub(crate) fn as_written_by_form(path: &Path, form: u32) {
    let truth = Sqlite::writer(path).unwrap();
    let Some(known) = TABLES.get(..form as usize) else { return };
    let names = |what: &str| -> Vec<String> {
        let sql = format!("SELECT name FROM sqlite_schema WHERE type = '{what}' AND name NOT LIKE 'sqlite%'");
        truth.rows(&sql, [], |row| row.get(0)).unwrap()
    };
    for trigger in names("trigger") {
        truth.damage(&format!("DROP TRIGGER {trigger}"));
    }
    for table in names("table").iter().filter(|table| !known.concat().contains(&table.as_str())) {
        truth.damage(&format!("DROP TABLE {table}"));
    }
    truth.damage(
        "DROP INDEX entry_folded; DROP INDEX entry_published_live; DROP INDEX entry_live; DROP INDEX unit_folded;",
    );
    truth.damage(EARLIER_ROWS);
    truth.damage(&format!("PRAGMA user_version = {form}; PRAGMA wal_checkpoint(TRUNCATE);"));
}

impl Sqlite {
    /// Changes the database without the program.
    pub(crate) fn damage(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }
}
