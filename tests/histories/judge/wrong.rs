//! Made-up histories, right ones and wrong ones: the judge must find each fault, or it proves nothing.

use super::{History, Listing, Moment, Outcome, Read, Row, Write, judge};
use std::time::Duration;

const VERSIONS: &str = "created_at: 2026-01-01T00:00:00Z\n---\nlamp 1 aa\nlamp 2 bb\n";

fn at(millis: u64) -> Moment {
    Duration::from_millis(millis)
}

fn write(key: &str, value: Option<&str>, sent: u64, outcome: Outcome) -> Write {
    Write { key: key.to_owned(), value: value.map(str::to_owned), sent: at(sent), outcome }
}

fn done(at_millis: u64) -> Outcome {
    Outcome::Acknowledged(at(at_millis))
}

fn row(seq: u64, key: &str, value: Option<&str>) -> Row {
    Row { seq, change: Some((key.to_owned(), value.map(str::to_owned))) }
}

fn read(node: usize, key: &str, value: Option<&str>, sent: u64) -> Read {
    let (key, value) = (key.to_owned(), value.map(str::to_owned));
    Read { node, key, value, sent: at(sent), answered: at(sent + 5), is_fresh: true }
}

fn listing(node: usize, sent: u64, text: &str) -> Listing {
    Listing { node, sent: at(sent), answered: at(sent + 5), is_fresh: true, text: text.to_owned() }
}

/// A file that becomes `one` and then `two`, and two versions of a gem, the first of which is yanked; and a change of which nothing is known.
fn right() -> History {
    History {
        grace: Duration::ZERO,
        writes: vec![
            write("file", Some("one"), 0, done(10)),
            write("file", Some("two"), 20, done(30)),
            write("gem lamp 1", Some("a"), 0, done(12)),
            write("gem lamp 2", Some("b"), 15, done(40)),
            write("gem lamp 1", None, 50, done(60)),
            write("other", Some("x"), 5, Outcome::Unknown),
            write("refused", Some("x"), 5, Outcome::Refused),
        ],
        reads: vec![
            read(0, "file", None, 1),
            read(0, "file", Some("one"), 11),
            read(1, "file", Some("one"), 18),
            read(1, "file", Some("two"), 24),
            read(2, "file", Some("two"), 31),
            read(0, "gem lamp 1", Some("a"), 52),
            read(0, "gem lamp 1", None, 61),
            read(0, "other", None, 90),
            read(1, "other", Some("x"), 6),
            read(2, "refused", None, 90),
        ],
        listings: vec![
            listing(0, 13, &VERSIONS[..VERSIONS.len() - 10]),
            listing(1, 41, VERSIONS),
            listing(2, 70, &format!("{VERSIONS}lamp -1 cc\n")),
        ],
        rows: vec![
            Row { seq: 7, change: None },
            row(8, "file", Some("one")),
            row(9, "gem lamp 1", Some("a")),
            row(10, "file", Some("two")),
            row(11, "other", Some("x")),
            row(12, "gem lamp 2", Some("b")),
            row(13, "gem lamp 1", None),
        ],
    }
}

/// The judgement about the right history after a change.
#[track_caller]
fn after(change: impl FnOnce(&mut History), said: &str) {
    let mut history = right();
    change(&mut history);
    let Err(fault) = judge(&history) else { panic!("a wrong history is found to be right") };
    assert!(fault.contains(said), "{fault}");
}

#[test]
fn a_right_history_is_right() {
    judge(&right()).unwrap();
    judge(&History::default()).unwrap();
}

#[test]
fn a_number_that_is_missing_is_found() {
    after(|history| drop(history.rows.remove(4)), "a gap: after row 10 comes row 12");
}

#[test]
fn a_change_that_was_acknowledged_and_is_not_there_is_found() {
    after(|history| history.rows[6].change = None, "lost: gem lamp 1 = None");
}

#[test]
fn a_change_that_was_refused_and_done_or_done_twice_or_made_by_nobody_is_found() {
    after(|history| history.rows[0] = row(7, "refused", Some("x")), "which was refused");
    after(|history| history.rows[0] = row(7, "file", Some("one")), "again");
    after(|history| history.rows[0] = row(7, "file", Some("three")), "which nobody sent");
}

#[test]
fn a_change_that_overtakes_an_acknowledged_one_is_found() {
    let swap = |history: &mut History| {
        let one = history.rows[1].change.take();
        history.rows[1].change = std::mem::replace(&mut history.rows[3].change, one);
    };
    after(swap, "row 8 was sent at 20ms, after row 10 was acknowledged");
}

#[test]
fn an_answer_from_before_an_acknowledged_change_is_found_and_not_if_it_says_that_it_may_be_old() {
    let late = read(2, "file", Some("one"), 31);
    after(|history| history.reads[4] = late.clone(), "stale: node 2 said file = Some(\"one\")");
    after(|history| history.reads.push(read(1, "gem lamp 2", None, 41)), "stale: node 1 said gem lamp 2 = None");
    let mut told = right();
    told.reads[4] = Read { is_fresh: false, ..late.clone() };
    judge(&told).unwrap();
    // And within the time that others have to learn of it.
    let mut soon = right();
    soon.grace = at(1000);
    soon.reads[4] = late;
    judge(&soon).unwrap();
}

#[test]
fn an_answer_after_the_time_that_others_have_is_found() {
    let late = |history: &mut History| {
        history.grace = at(1000);
        history.reads[4] = read(2, "file", Some("one"), 1031);
    };
    after(late, "stale: node 2");
}

#[test]
fn a_node_that_goes_back_is_found_although_it_says_that_it_may_be_old() {
    let back = |history: &mut History| {
        history.reads.push(Read { is_fresh: false, ..read(1, "file", Some("one"), 40) });
    };
    after(back, "back in time: node 1 said file = Some(\"one\")");
}

#[test]
fn a_value_that_nobody_wrote_or_that_comes_before_it_was_sent_is_found() {
    after(|history| history.reads.push(read(1, "file", Some("three"), 40)), "which it never was");
    after(|history| history.reads[1] = read(0, "file", Some("two"), 11), "node 0 said file = Some(\"two\")");
}

#[test]
fn lists_that_differ_or_shrink_or_lack_an_acknowledged_line_are_found() {
    after(|history| history.listings[1].text = VERSIONS.replace("bb", "bc"), "is not the beginning of that of");
    after(|history| history.listings[1].text = VERSIONS.replace("00Z", "01Z"), "is not the beginning of that of");
    let other = |history: &mut History| history.listings[2].text = format!("{VERSIONS}lamp 3 cc\n");
    after(other, "line 2 is `lamp 3`, and the journal has Some((13, \"lamp -1\"))");
    after(|history| history.listings[1].sent = at(61), "stale: /versions of node 1 at 61ms ends with row 12");
    let shrinks = |history: &mut History| {
        history.listings.push(Listing { is_fresh: false, ..listing(2, 80, VERSIONS) });
    };
    after(shrinks, "back in time: /versions of node 2");
    let early = |history: &mut History| {
        history.listings[2] = Listing { text: history.listings[2].text.clone(), ..listing(2, 41, "") };
    };
    after(early, "which was sent later");
}
