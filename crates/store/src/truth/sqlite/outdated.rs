//! Whether a database of an earlier version lacks tables or indexes. They are filled when it is opened, which takes long for many
//! rows.

use super::connection::Sqlite;
use crate::journal::record::Seq;
use crate::truth::catalog::JournalReads as _;
use std::path::Path;

/// Tables and indexes that later versions added and filled from the rows.
const FILLED: [&str; 10] = [
    "outline",
    "history",
    "repository_changes",
    "holding",
    "blob_use",
    "generation",
    "entry_folded",
    "entry_unit_live",
    "entry_published_live",
    "entry_live",
];

/// The number of rows from which tables must be filled. `None`: none must be, or there is no readable database.
pub(crate) fn rows_to_fill(path: &Path) -> Option<Seq> {
    let mut truth = Sqlite::reader(path).ok()?;
    let names: Vec<String> = truth.rows("SELECT name FROM sqlite_schema", [], |row| row.get(0)).ok()?;
    let complete = FILLED.iter().all(|filled| names.iter().any(|name| name == filled));
    truth.last().ok().filter(|last| !complete && *last > Seq(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::suite;

    #[test]
    fn a_database_is_outdated_until_it_was_opened_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        assert_eq!(rows_to_fill(&path), None);
        let mut truth = Sqlite::writer(&path).unwrap();
        suite::made(&mut truth, vec![suite::publish("rack", 1)]);
        assert_eq!(rows_to_fill(&path), None);
        drop(truth);
        crate::truth::sqlite::as_written_by_form(&path, 2);
        assert_eq!(rows_to_fill(&path), Some(Seq(1)));
        drop(Sqlite::writer(&path).unwrap());
        assert_eq!(rows_to_fill(&path), None);
    }
}
