//! The pragmas, and databases with earlier and later schema versions.

use super::*;
use crate::disk::{Disk as _, RealDisk};
use crate::journal::change::Change;
use crate::journal::entry::{EntryOrigin, State};
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::{JournalReads as _, SettingReads as _, Subject, Transactions as _, UnitReads as _};
use crate::truth::sqlite::{Sqlite, copy_database, entries, expectations};
use crate::truth::suite;
use serde_json::json;
use telemetry::Millis;

/// Turns a database into one of a program without this table.
const FORGET_HISTORY: &str = "DROP TRIGGER history_of_entry; DROP TRIGGER history_of_unit;
    DROP TRIGGER history_of_no_unit; DROP TABLE history;";

#[test]
fn the_pragmas_that_durability_rests_on_are_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let writer = Sqlite::writer(&path).unwrap().connection;
    let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    let figures = [
        ("synchronous", 2),
        ("foreign_keys", 0),
        ("busy_timeout", 5000),
        ("wal_autocheckpoint", 1000),
        ("application_id", APPLICATION),
        ("user_version", FORM),
    ];
    for (name, value) in figures {
        assert_eq!(pragma(&writer, name).unwrap(), value, "{name}");
    }
    let reader = Sqlite::reader(&path).unwrap().connection;
    assert_eq!(pragma(&reader, "query_only").unwrap(), 1);
    reader.execute("DELETE FROM counter", []).unwrap_err();
}

#[test]
fn no_statement_is_prepared_anew_for_other_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let writer = Sqlite::writer(&path).unwrap();
    for truth in [&writer, &Sqlite::reader(&path).unwrap()] {
        let mut statement = truth.connection.prepare(expectations::KEY_IN_ANY_CASE).unwrap();
        for key in ["a", "b", "c"] {
            assert!(!statement.exists((1, key)).unwrap());
        }
        assert_eq!(statement.get_status(rusqlite::StatementStatus::RePrepare), 0);
    }
}

#[test]
fn a_database_of_the_first_form_gets_the_later_tables_and_uses_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let old = Connection::open(&path).unwrap();
    let insert = "INSERT INTO unit VALUES (1, 'Rack', 1, 1)";
    let form = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1;");
    old.execute_batch(&format!("{SCHEMA} {form} {insert};")).unwrap();
    old.close().unwrap();
    let mut truth = Sqlite::writer(&path).unwrap();
    let found = truth.unit_in_other_case(RepositoryId(1), "rack").unwrap();
    assert_eq!(found.as_deref(), Some("Rack"));
    assert_eq!(truth.facts(RepositoryId(1), "Rack").unwrap().seq, Seq(1));
    assert_eq!(pragma(&truth.connection, "user_version").unwrap(), FORM);
    for (sql, index) in [
        (expectations::KEY_IN_ANY_CASE, "entry_folded"),
        (expectations::UNIT_IN_OTHER_CASE, "unit_folded"),
        (entries::PUBLISHED, "entry_published_live"),
    ] {
        let mut plan = truth.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let parameters = vec!["1"; plan.parameter_count()];
        let row: String = plan.query_row(rusqlite::params_from_iter(parameters), |row| row.get(3)).unwrap();
        assert!(row.contains(index), "{row}");
    }
}

#[test]
fn a_database_of_a_later_form_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    Sqlite::writer(&path).unwrap().connection.execute_batch("PRAGMA user_version = 5").unwrap();
    let data = folder.path();
    let copy = || copy_database(&path, &data.join("copy.sqlite"), &mut |_| {});
    copy().unwrap();
    let bytes = |length: usize| RealDisk.open(&data.join("copy.sqlite")).unwrap().take(length as u64);
    for refused in [
        Sqlite::writer(&path).map(drop),
        Sqlite::reader(&path).map(drop),
        Sqlite::copied(&data.join("copy.sqlite")).map(drop),
        refuse_newer_copy(bytes(START_BYTES), &path),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(&error, Error::TooNew { found, .. } if found == "5"), "{error}");
        assert!(error.to_string().contains("its database has the form `5`"), "{error}");
    }
    refuse_newer_copy(bytes(START_BYTES - 1), &path).unwrap();
    Sqlite::writer(&data.join("present.sqlite")).unwrap();
    copy_database(&data.join("present.sqlite"), &data.join("copy.sqlite"), &mut |_| {}).unwrap();
    refuse_newer_copy(bytes(START_BYTES), &path).unwrap();
}

#[test]
fn a_database_without_outlines_gets_them_and_keeps_them_whoever_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let mut truth = Sqlite::writer(&path).unwrap();
    suite::made(&mut truth, vec![suite::publish("rack", 1), suite::publish("rack", 2)]);
    let before = suite::outlines(&mut truth, suite::R, "rack");
    // The database of a program without the table, which is then filled from bodies.
    truth.connection.execute_batch("DROP TRIGGER outline_of_entry; DROP TABLE outline;").unwrap();
    Box::new(truth).close().unwrap();
    let mut truth = Sqlite::writer(&path).unwrap();
    let moments = |outlines: &[(State, Millis, Millis, String, Option<Millis>)]| -> Vec<_> {
        outlines.iter().map(|one| (one.0, one.1, one.2)).collect()
    };
    let filled = suite::outlines(&mut truth, suite::R, "rack");
    assert_eq!(moments(&filled), moments(&before));
    assert!(filled[0].3.starts_with('{') && filled[1].3.starts_with('{'), "the facts themselves: {filled:?}");
    suite::made(&mut truth, vec![suite::withdraw("rack", 2)]);
    let after = suite::outlines(&mut truth, suite::R, "rack");
    assert_eq!((after[0].0, after[0].3.as_str()), (State::Withdrawn, "rack in short"));
    assert_eq!(after[1], filled[1]);
}

#[test]
fn a_database_whose_outlines_lack_origins_gets_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let mut truth = Sqlite::writer(&path).unwrap();
    suite::made(&mut truth, vec![suite::publish("rack", 1)]);
    // The database of a program with version 3 of the schema.
    truth.connection.execute_batch("DROP TRIGGER outline_of_entry; DROP TABLE outline;").unwrap();
    truth.connection.execute_batch(super::OUTLINE).unwrap();
    Box::new(truth).close().unwrap();
    let mut truth = Sqlite::writer(&path).unwrap();
    let mut entry = suite::entry("rack", 2, State::Live);
    entry.origin = Some(Box::new(EntryOrigin { at: Millis(7), by: None, claimed_by: "admin".into() }));
    suite::made(&mut truth, vec![Change::Entry { repository: suite::R, entry }]);
    let origins: Vec<_> = suite::outlines(&mut truth, suite::R, "rack").into_iter().map(|one| one.4).collect();
    assert_eq!(origins, [Some(Millis(7)), None], "the newer entry comes first, as its moment is earlier");
}

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
    suite::made(&mut truth, vec![none(), some(), some(), none(), none(), suite::publish("rack", 1), some(), none()]);
    suite::made(&mut truth, vec![said("rake", json!({})), none(), said("rake", json!(null))]);
    let whole = history(&truth);
    let changes: Vec<_> = whole.iter().map(|(.., seq)| *seq).collect();
    assert_eq!(changes, [2, 3, 4, 6, 7, 8, 9, 11], "without facts before, nothing changed");
    truth.connection.execute_batch(FORGET_HISTORY).unwrap();
    Box::new(truth).close().unwrap();
    assert_eq!(history(&Sqlite::writer(&path).unwrap()), whole);
}

#[test]
fn a_database_without_a_history_gets_it_from_its_journal_and_keeps_it_whoever_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let mut truth = Sqlite::writer(&path).unwrap();
    let owners = |facts| Change::Unit { repository: suite::R, unit: "rack".into(), facts };
    suite::made(&mut truth, vec![suite::publish("rack", 1), owners(json!(["a"])), suite::withdraw("rack", 1)]);
    truth.connection.execute_batch(FORGET_HISTORY).unwrap();
    suite::made(&mut truth, vec![owners(json!(null))]);
    Box::new(truth).close().unwrap();
    let mut truth = Sqlite::writer(&path).unwrap();
    suite::made(&mut truth, vec![suite::publish("rack", 1)]);
    let mut state = |through| match truth.state_as_of(suite::R, Subject::Entry("rack-1"), Seq(through)).unwrap() {
        Some(Change::Entry { entry, .. }) => Some(entry.state),
        _ => None,
    };
    let (live, withdrawn) = (Some(State::Live), Some(State::Withdrawn));
    assert_eq!([0, 1, 2, 3, 4, 5].map(&mut state), [None, live, live, withdrawn, withdrawn, live]);
    let mut owners = |through| truth.units_with_facts_as_of(suite::R, "", "", 9, Seq(through)).unwrap();
    assert_eq!(owners(1), []);
    assert_eq!(owners(3), [("rack".into(), json!(["a"]))]);
    assert_eq!(owners(5), []);
}

#[test]
fn a_database_without_the_number_of_repositories_gets_it_from_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let mut truth = Sqlite::writer(&path).unwrap();
    for (changes, expected) in [
        (vec![suite::publish("rack", 1)], Seq(0)),
        (vec![suite::repository(0, "a", &[], false), suite::publish("rack", 2)], Seq(2)),
        (vec![suite::repository(2, "a", &[], true), suite::setting("a", json!("\"change\":\"repository\""))], Seq(4)),
    ] {
        suite::made(&mut truth, changes);
        truth.connection.execute_batch("DROP TABLE repository_changes").unwrap();
        Box::new(truth).close().unwrap();
        truth = Sqlite::writer(&path).unwrap();
        assert_eq!(truth.repositories_at().unwrap(), expected);
    }
}
