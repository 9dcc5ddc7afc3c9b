//! A migration computes the sums from the entries.

use crate::State;
use crate::tests::holding::file;
use crate::truth::catalog::EntryReads as _;
use crate::truth::sqlite::Sqlite;
use crate::truth::suite::{made, publish, withdraw};

#[test]
fn a_database_without_the_sums_gets_them_from_its_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let mut truth = Sqlite::writer(&path).unwrap();
    made(&mut truth, vec![publish("a", 1), publish("a", 2), publish("b", 1), withdraw("b", 1)]);
    made(&mut truth, vec![file("org/lamp/1.0/lamp-1.0.zip", b"12", State::Live), withdraw("c", 3)]);
    let sums = |truth: &Sqlite| {
        let read =
            |row: &rusqlite::Row<'_>| (0..3).map(|at| row.get(at)).collect::<Result<Vec<rusqlite::types::Value>, _>>();
        let sql = "SELECT repository, name, live FROM package ORDER BY 1, 2";
        truth.rows(sql, [], read).unwrap()
    };
    let (before, packages) = (truth.holdings().unwrap(), sums(&truth));
    truth.connection.execute_batch("DROP TABLE holding; DROP TABLE package").unwrap();
    drop(truth);
    let mut truth = Sqlite::writer(&path).unwrap();
    assert_eq!(truth.holdings().unwrap(), before);
    assert_eq!(sums(&truth), packages);
    assert_eq!(before.len(), 2);
}
