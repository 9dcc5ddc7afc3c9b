//! The lines that a log gains, when it restarts, and how it continues from its file.

use super::*;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::form::Mark;

const MD5: &str = "0123456789abcdef0123456789abcdef";

fn say(tokens: &[&str], md5: &str) -> ToSay {
    let tokens = tokens.iter().map(|token| (*token).to_owned()).collect();
    ToSay { tokens, md5: Md5OfInfo::Known(md5.to_owned()), until: None }
}

fn settle(log: &mut ViewLog, at: i64) -> Vec<u8> {
    let of = MadeOf { members: "1".into(), rules: String::new(), dates: 0 };
    log.settle(of, ViewRules::default(), [(RepositoryId(1), Seq(1))], Millis(at)).unwrap().pieces.concat()
}

#[test]
fn a_log_gains_the_line_of_each_difference_and_none_where_there_is_none() {
    let mut log = ViewLog::default();
    log.begin(Millis(0)).unwrap();
    log.touch("lamp", say(&["1", "2"], MD5));
    log.touch("oil", ToSay::nothing(None));
    let begun = settle(&mut log, 1);
    let nothing = Said::nothing_md5();
    let expected = format!("created_at: 1970-01-01T00:00:00Z\n---\nlamp 1,2 {MD5}\noil -0 {nothing}\n");
    assert_eq!(String::from_utf8(begun.clone()).unwrap(), expected);
    log.touch("lamp", say(&["1", "2"], MD5));
    log.touch("oil", ToSay::nothing(None));
    assert!(settle(&mut log, 2) == begun);
    log.touch("lamp", say(&["2", "3"], "other"));
    log.touch("oil", say(&["1"], MD5));
    assert!(settle(&mut log, 3) == [&begun[..], format!("lamp -1,3 other\noil 1 {MD5}\n").as_bytes()].concat());
}

/// A name whose versions fit into no line must not end the file for all others.
#[test]
fn a_line_that_would_be_too_long_is_left_out() {
    let mut log = ViewLog::default();
    log.begin(Millis(0)).unwrap();
    let tokens: Vec<String> = (0..200_000).map(|n| format!("1.{n:06}")).collect();
    let all: Vec<&str> = tokens.iter().map(String::as_str).collect();
    log.touch("lamp", say(&all, MD5));
    log.touch("oil", say(&["1"], MD5));
    let begun = format!("created_at: 1970-01-01T00:00:00Z\n---\noil 1 {MD5}\n");
    assert_eq!(String::from_utf8(settle(&mut log, 1)).unwrap(), begun);
    // Two lines that clients can read add up to one that they cannot.
    log.touch("lamp", say(&all[..100_000], MD5));
    settle(&mut log, 2);
    log.touch("lamp", say(&all, MD5));
    settle(&mut log, 3);
    log.touch("oil", say(&["1", "2"], MD5));
    assert!(settle(&mut log, 4).ends_with(format!("\noil 2 {MD5}\n").as_bytes()));
}

#[test]
fn an_unknown_md5_is_said_until_it_is_known_and_then_as_long_as_the_file_is_made_of_the_same() {
    let mut log = ViewLog::default();
    log.begin(Millis(0)).unwrap();
    let mut said = |basis: &str, known: Option<&str>, likely: Option<&str>| {
        let (basis, known) = (basis.to_owned(), known.map(str::to_owned));
        log.touch(
            "lamp",
            ToSay { md5: Md5OfInfo::Unknown { basis, known, likely: likely.map(str::to_owned) }, ..say(&["1"], "") },
        );
        settle(&mut log, 1);
        log.said.said("lamp").unwrap().md5
    };
    assert_eq!(said("a", None, None), "a");
    assert_eq!(said("a", Some("true"), None), "true");
    assert_eq!(said("a", None, None), "true");
    assert_eq!(said("b", None, None), "b");
    assert_eq!(said("a", None, None), "a");
    // A known MD5 takes precedence over that of the lines, and stays until the file may have changed.
    assert_eq!(said("c", None, Some("likely")), "likely");
    assert_eq!(said("c", Some("true"), Some("likely")), "true");
    assert_eq!(said("c", None, Some("likely")), "true");
    assert_eq!(said("d", None, Some("likely")), "likely");
}

#[test]
fn a_log_that_has_grown_by_much_begins_anew_with_all_names_that_it_ever_said() {
    let mut log = ViewLog::default();
    log.begin(Millis(0)).unwrap();
    let mut before = Vec::new();
    log.touch("lamp", say(&["1"], MD5));
    log.touch("oil", say(&["1"], MD5));
    settle(&mut log, 0);
    log.touch("oil", ToSay::nothing(None));
    for number in 2.. {
        let token = number.to_string();
        log.touch("lamp", say(&[&token], MD5));
        let now = settle(&mut log, number * 1000);
        if !now.starts_with(&before) {
            let nothing = Said::nothing_md5();
            let text = String::from_utf8(now).unwrap();
            assert!(text.ends_with(&format!("---\noil -0 {nothing}\nlamp {number} {MD5}\n")), "{text}");
            assert!(before.len() > PIECE);
            return;
        }
        before = now;
    }
}

#[test]
fn it_is_written_and_read_and_goes_on_as_before() {
    let mut log = ViewLog::default();
    log.begin(Millis(0)).unwrap();
    log.touch("lamp", ToSay { until: Some(Millis(50)), ..say(&["1"], MD5) });
    log.touch(
        "oil",
        ToSay {
            md5: Md5OfInfo::Unknown { basis: "a".into(), known: Some("b".into()), likely: None },
            ..say(&["1"], "")
        },
    );
    let text = settle(&mut log, 10);
    let mark = Mark { through: Seq(1), row: store::Digest([0; 32]) };
    let written = Bytes::from(IndexSource::write(&log, mark.clone()).unwrap().concat());
    let (mut log, read) = <ViewLog as IndexSource>::read(written).unwrap();
    assert_eq!(read, mark);
    let of = MadeOf { members: "1".into(), rules: String::new(), dates: 0 };
    let names = |log: &ViewLog, at| log.names(&of, &ViewRules::default(), Millis(at), None);
    assert_eq!(names(&log, 49), Names::These(BTreeSet::new()));
    assert_eq!(names(&log, 50), Names::These(["lamp".to_owned()].into()));
    assert_eq!(log.names(&MadeOf { dates: 1, ..of.clone() }, &ViewRules::default(), Millis(20), None), Names::All);
    assert_eq!(names(&log, 9), Names::All, "the clock was set back");
    assert_eq!(
        log.names(&MadeOf { members: "2".into(), ..of.clone() }, &ViewRules::default(), Millis(20), None),
        Names::All
    );
    log.touch(
        "oil",
        ToSay { md5: Md5OfInfo::Unknown { basis: "a".into(), known: None, likely: None }, ..say(&["1"], "") },
    );
    assert!(settle(&mut log, 20) == text);
}
