//! What every row of the journal must have: an author, an address, names without NUL, and a moment that is not before the last.

use crate::tests::same::assert_same;
use crate::truth::suite::{R, batch, entry, made, publish, repository, setting, token, withdraw};
use crate::{Batch, Catalog, Change, Conflict, Entry, Error, Expect, JournalRow, RepositoryId, Seq, State};
use serde_json::json;
use telemetry::Millis;

fn at(moment: i64, changes: Vec<Change>) -> Batch {
    Batch { at: Millis(moment), ..batch(vec![], changes) }
}

/// An entry without an index line.
fn file(state: State, published: i64, changed: i64) -> Change {
    let (published, changed) = (Millis(published), Millis(changed));
    Change::Entry { repository: R, entry: Entry { published, changed, line: None, ..entry("a", 1, state) } }
}

pub(crate) fn a_moment_is_never_before_that_of_the_last_change(mut catalog: impl Catalog) {
    let moments = |catalog: &mut dyn Catalog| -> Vec<i64> {
        catalog.journal(Seq(0), 99).unwrap().iter().map(|row| row.at.0).collect()
    };
    let answers = catalog.commit_batches(&[
        at(20, vec![setting("a", json!(1))]),
        at(10, vec![setting("b", json!(1)), setting("c", json!(1))]),
        at(9, vec![]),
        at(30, vec![setting("d", json!(1))]),
    ]);
    assert_eq!(answers.unwrap(), [Ok(Seq(1)), Ok(Seq(3)), Ok(Seq(3)), Ok(Seq(4))]);
    assert_eq!(moments(&mut catalog), [20, 20, 20, 30]);
    assert_eq!(catalog.last_moment().unwrap(), Some(Millis(30)));
    catalog.begin(&[at(50, vec![setting("d", json!(2))])]).unwrap();
    catalog.rollback();
    catalog.commit_batches(&[at(25, vec![setting("d", json!(3))])]).unwrap();
    assert_eq!(moments(&mut catalog), [20, 20, 20, 30, 30], "the later moment was rolled back");
}

pub(crate) fn a_moment_that_moves_moves_in_the_change_too(mut catalog: impl Catalog) {
    made(&mut catalog, vec![]);
    catalog.commit_batches(&[at(20, vec![setting("a", json!(1))])]).unwrap();
    let entry = |catalog: &mut dyn Catalog| {
        let entry = catalog.entry(R, "a-1").unwrap().unwrap();
        (entry.published.0, entry.changed.0)
    };
    for (change, expected) in [
        (file(State::Live, 10, 10), (20, 20)),
        (file(State::Live, 7, 10), (7, 20)),
        (file(State::Live, 7, 8), (7, 8)),
        // The removal of several folders takes several batches with one moment.
        (file(State::Withdrawn, 10, 10), (10, 10)),
    ] {
        catalog.commit_batches(&[at(10, vec![change])]).unwrap().remove(0).unwrap();
        assert_eq!(entry(&mut catalog), expected);
    }
    catalog.commit_batches(&[at(2, vec![repository(0, "a", &[], true), token(1, "ci", true)])]).unwrap();
    let (_, removed) = catalog.removed_repositories("a").unwrap().remove(0);
    assert_eq!((removed.created.0, removed.removed), (1, Some(Millis(20))));
    catalog.commit_batches(&[at(1, vec![repository(0, "b", &[], false), token(2, "ci", false)])]).unwrap();
    assert_eq!((catalog.repositories().unwrap()[0].1.created.0, catalog.tokens().unwrap()[0].created.0), (20, 20));
}

pub(crate) fn an_index_line_is_never_given_another_moment(mut catalog: impl Catalog) {
    let answers = catalog.commit_batches(&[
        at(20, vec![publish("a", 1)]),
        at(19, vec![setting("a", json!(1)), publish("a", 2)]),
        at(19, vec![file(State::Live, 19, 19)]),
        at(20, vec![withdraw("a", 1)]),
    ]);
    let refused = Err(Conflict(Expect::NoChangeAfter(Millis(19))));
    assert_eq!(answers.unwrap(), [Ok(Seq(1)), refused, Ok(Seq(2)), Ok(Seq(3))]);
    let expecting = |moment| Batch { expect: vec![Expect::NoChangeAfter(Millis(moment))], ..at(9, vec![]) };
    let answers = catalog.commit_batches(&[expecting(19), expecting(20), expecting(21)]).unwrap();
    assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true, true]);
}

pub(crate) fn a_change_of_any_repository_has_the_number_of_all(mut catalog: impl Catalog) {
    let expect = |seq| Batch { expect: vec![Expect::RepositoriesAt(Seq(seq))], ..batch(vec![], vec![]) };
    assert_eq!(catalog.repositories_at().unwrap(), Seq(0));
    made(&mut catalog, vec![setting("a", json!(1)), repository(0, "a", &[], false), publish("a", 1)]);
    let answers = catalog.commit_batches(&[
        expect(2),
        expect(3),
        batch(vec![], vec![repository(2, "a", &[], true)]),
        expect(2),
        expect(4),
    ]);
    assert_eq!(answers.unwrap().iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, false, true]);
    assert_eq!(catalog.repositories_at().unwrap(), Seq(4));
}

pub(crate) fn a_row_without_an_author_or_with_nul_in_a_name_is_not_written(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("a", 1)]);
    let whole = || batch(vec![], vec![setting("a", json!(1))]);
    for (missing, batch) in
        [("by", Batch { by: String::new(), ..whole() }), ("from", Batch { from: String::new(), ..whole() })]
    {
        assert!(matches!(catalog.begin(&[whole(), batch]), Err(Error::NoAuthor(what)) if what == missing));
    }
    for (of, change) in nul() {
        let error = catalog.begin(&[whole(), batch(vec![], vec![change])]).unwrap_err();
        assert!(matches!(&error, Error::Nul { what, name } if *what == of && name.contains('\0')), "{of}: {error}");
        assert!(!error.to_string().contains('\0') && error.hint().is_some(), "{error}");
    }
    assert_eq!(catalog.last().unwrap(), Seq(1));
    assert_eq!(made(&mut catalog, vec![setting("a", json!("a\0b"))]), Seq(2), "there is no open transaction");
}

/// Changes with a NUL in each kind of name.
fn nul() -> Vec<(&'static str, Change)> {
    let unit = || "a\0b".to_owned();
    let mut key = entry("a", 2, State::Live);
    key.key = "a\0b".into();
    vec![
        ("unit", publish("a\0b", 1)),
        ("key", Change::Entry { repository: R, entry: key }),
        ("unit", Change::Unit { repository: R, unit: unit(), facts: json!({}) }),
        ("unit", Change::FirstSeen { repository: R, unit: unit(), whole: false, uncounted: false, seen: json!({}) }),
        ("repository", repository(0, "a\0b", &[], false)),
        ("token", token(1, "a\0b", false)),
        ("setting", setting("a\0b", json!(1))),
    ]
}

pub(crate) fn rows_of_earlier_programs_are_replayed(mut catalog: impl Catalog, mut other: impl Catalog) {
    let row = |seq: u64, at, change| {
        let (seq, at) = (Seq(seq), Millis(at));
        JournalRow { v: 1, seq, at, by: "x".into(), from: String::new(), change }
    };
    let moments = [30, 20, 10].into_iter().cycle();
    let mut rows: Vec<_> = (1..).zip(moments).zip(nul()).map(|((seq, at), (_, change))| row(seq, at, change)).collect();
    rows[4].change = repository(5, "a\0b", &[], false);
    catalog.replay(&rows).unwrap();
    other.replay(&rows).unwrap();
    assert_same(&mut catalog, &mut other);
    assert!(catalog.entry_in_any_case(R, "A\0B-1").unwrap().is_some());
    assert_eq!(catalog.entries_beginning(R, "a\0", "", 9).unwrap().len(), 2);
    assert_eq!(catalog.last_moment().unwrap(), Some(Millis(30)));
    assert_eq!(catalog.repositories_at().unwrap(), Seq(5));
    assert_eq!(catalog.repositories().unwrap()[0].0, RepositoryId(5));
}

pub(crate) fn a_note_is_what_its_last_change_made_and_no_row(mut catalog: impl Catalog) {
    let mut seen = Vec::new();
    for (name, next) in [("a", Some("1")), ("a", None), ("b", Some("ü")), ("a", Some("")), ("a", None), ("b", None)] {
        let change = &mut |note: Option<&str>| {
            seen.push(note.map(str::to_owned));
            next.map(str::to_owned)
        };
        catalog.change_note(name, change).unwrap();
    }
    let seen: Vec<_> = seen.iter().map(Option::as_deref).collect();
    assert_eq!(seen, [None, Some("1"), None, Some("1"), Some(""), Some("ü")]);
    assert_eq!((catalog.last().unwrap(), catalog.last_moment().unwrap()), (Seq(0), None));
}
