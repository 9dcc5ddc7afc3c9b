//! Records keep every byte of unknown settings.

use super::*;
use crate::truth::catalog::JournalRow;

/// A record with settings of every kind of JSON value.
const RECORD: &str = concat!(
    r#"{"name":"first","format":"any","kind":"remote","private":true,"members":["a","b"],"switched_off":["x"],"strict":true,"#,
    r#""base":{"through":7,"created":-3},"limits":{"z":18446744073709551615,"a":[],"m":{}},"ratio":0.5,"#,
    r#""text":"é \"quoted\" \\ \n","nothing":null,"created":5,"removed":null}"#
);

#[test]
fn a_record_is_written_as_it_was_read_with_the_unknown_settings_in_their_order() {
    let record: RepositoryRecord = serde_json::from_str(RECORD).unwrap();
    assert_eq!(serde_json::to_string(&record).unwrap(), RECORD);
    assert_eq!((record.name.as_str(), record.kind, record.members.len()), ("first", RepositoryKind::Remote, 2));
    let other: RepositoryRecord = serde_json::from_str(&RECORD.replace("0.5", "0.6")).unwrap();
    assert!(record != other && record == record.clone());
}

#[test]
fn a_journal_row_is_written_as_it_was_read() {
    let row = format!(r#"{{"v":1,"seq":9,"at":5,"by":"ops","change":"repository","id":3,"record":{RECORD}}}"#);
    let read: JournalRow = serde_json::from_str(&row).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), row);
}

#[test]
fn early_records_without_members_are_read() {
    let early = r#"{"name":"first","format":"any","kind":"hosted","private":false,"created":1}"#;
    let record: RepositoryRecord = serde_json::from_str(early).unwrap();
    assert_eq!(record, RepositoryRecord::new("first", "any", RepositoryKind::Hosted, Millis(1)));
    assert!(serde_json::from_str::<RepositoryRecord>(&early.replace("private", "public")).is_err());
}
