//! What every catalog must do: example-based tests, and properties that compare SQLite with the model.

mod strategies;

pub(crate) use strategies::any_batch;

use crate::tests::rows;
use crate::tests::same::assert_same;
use crate::{Batch, Catalog, Change, Conflict, Digest, Entry, Error, Expect, JournalRow, Model};
use crate::{
    EntryReads, RepositoryId, RepositoryKind, RepositoryRecord, Seq, SettingReads, Sqlite, State, TokenRecord,
    Transactions as _,
};
use proptest::prelude::*;
use serde_json::json;
use telemetry::Millis;

/// Runs every test, each on a catalog of its own.
pub(crate) fn run<C: Catalog>(make: impl Fn() -> C) {
    an_empty_catalog_has_nothing(make());
    numbers_follow_each_other_and_a_new_repository_takes_its_own(make());
    a_unit_has_its_entries_by_date_and_the_number_of_its_last_change(make());
    a_withdrawn_entry_stays_and_its_unit_is_no_longer_named(make());
    crate::tests::facts::the_live_entries_of_a_unit_are_read_without_the_withdrawn_ones(make());
    lines_and_names_come_in_pieces(make());
    entries_are_found_by_what_their_keys_begin_with(make());
    a_refused_batch_changes_nothing_and_uses_no_number(make());
    a_rolled_back_transaction_leaves_no_trace(make(), make());
    batches_of_one_group_see_each_other(make());
    every_expectation_is_decided(make());
    what_differs_only_in_case_is_found(make());
    removed_and_revoked_ones_are_not_listed_and_their_names_are_free(make());
    crate::tests::facts::facts_of_a_unit_are_a_change_of_it(make());
    crate::tests::first_seen::first_seen_rows_add_up_and_are_read_as_of_each_change(make());
    rows::a_moment_is_never_before_that_of_the_last_change(make());
    rows::a_moment_that_moves_moves_in_the_change_too(make());
    rows::an_index_line_is_never_given_another_moment(make());
    rows::a_change_of_any_repository_has_the_number_of_all(make());
    rows::a_row_without_an_author_or_with_nul_in_a_name_is_not_written(make());
    rows::rows_of_earlier_programs_are_replayed(make(), make());
    rows::a_note_is_what_its_last_change_made_and_no_row(make());
    crate::tests::facts::a_setting_of_null_is_back_to_its_default(make());
    crate::tests::facts::settings_are_listed_by_the_beginning_of_their_keys(make());
    blobs_are_known_for_ever(make());
    crate::tests::holding::a_catalog_always_knows_how_much_each_repository_holds(make(), make());
    crate::tests::blob_uses::a_blob_is_used_until_each_entry_that_named_it_ends(make());
    crate::tests::blob_uses::other_bytes_under_a_key_end_the_use_of_the_ones_before(make());
    crate::tests::blob_uses::a_purge_ends_the_use_of_all_bytes_that_a_key_ever_had(make());
    crate::tests::blob_uses::a_collected_blob_comes_back_only_with_its_bytes(make());
    crate::tests::blob_uses::a_removed_repository_whose_bytes_are_collected_does_not_come_back(make());
    crate::tests::blob_uses::the_uses_except_some_entries_are_those_of_the_others(make());
    the_journal_replayed_makes_the_same(make(), make());
    a_gap_and_a_later_form_are_not_replayed(make());
}

pub(crate) const R: RepositoryId = RepositoryId(1);

pub(crate) fn entry(unit: &str, number: u32, state: State) -> Entry {
    let key = format!("{unit}-{number}");
    let mut facts = json!({ "number": number, "of": unit, "ü\0": [1.5, null] });
    if number.is_multiple_of(2) {
        facts[crate::Facts::BRIEF] = format!("{unit} in short").into();
    }
    let (line, hashes) = (Some(format!("{unit} {number} {state:?}")), crate::Hashes::of(key.as_bytes()));
    let live = Entry::live(unit.into(), key, hashes, Millis(i64::from(100 - number)));
    Entry { state, changed: Millis(0), facts, line, ..live }
}

pub(crate) fn publish(unit: &str, number: u32) -> Change {
    Change::Entry { repository: R, entry: entry(unit, number, State::Live) }
}

pub(crate) fn withdraw(unit: &str, number: u32) -> Change {
    Change::Entry { repository: R, entry: entry(unit, number, State::Withdrawn) }
}

pub(crate) fn repository(id: u64, name: &str, members: &[&str], removed: bool) -> Change {
    let kind = if members.is_empty() { RepositoryKind::Hosted } else { RepositoryKind::Group };
    let record = RepositoryRecord {
        members: members.iter().map(|member| (*member).into()).collect(),
        removed: removed.then_some(Millis(2)),
        ..RepositoryRecord::new(name, "any", kind, Millis(1))
    };
    Change::Repository { id: RepositoryId(id), record }
}

pub(crate) fn token(number: u8, name: &str, revoked: bool) -> Change {
    let record = TokenRecord {
        name: name.into(),
        owner: "somebody".into(),
        hash: Digest([number; 32]),
        scopes: vec!["read".into()],
        repository_ids: Vec::new(),
        repositories: vec![],
        unit: None,
        maker: None,
        otp: None,
        created: Millis(1),
        expires: None,
        revoked: revoked.then_some(Millis(2)),
    };
    Change::Token { record }
}

pub(crate) fn setting(key: &str, value: serde_json::Value) -> Change {
    Change::Setting { key: key.into(), value }
}

pub(crate) fn batch(expect: Vec<Expect>, changes: Vec<Change>) -> Batch {
    Batch { by: "tester".into(), from: "cli".into(), at: Millis(5), expect, changes, ..Batch::default() }
}

pub(crate) fn made(catalog: &mut impl Catalog, changes: Vec<Change>) -> Seq {
    catalog.commit_batches(&[batch(vec![], changes)]).unwrap().remove(0).unwrap()
}

pub(crate) fn refused(catalog: &mut impl Catalog, expect: Expect) -> bool {
    let answers = catalog.commit_batches(&[batch(vec![expect.clone()], vec![setting("x", json!(1))])]).unwrap();
    assert!(answers[0].is_ok() || answers[0] == Err(Conflict(expect)));
    answers[0].is_err()
}

fn an_empty_catalog_has_nothing(mut catalog: impl Catalog) {
    assert_eq!(catalog.last().unwrap(), Seq(0));
    assert_eq!(catalog.unit(R, "rack").unwrap(), crate::UnitRows::default());
    assert_eq!(catalog.entry(R, "rack-1").unwrap(), None);
    assert!(catalog.journal(Seq(0), 10).unwrap().is_empty() && catalog.blobs(None, 10).unwrap().is_empty());
    assert_eq!(catalog.commit_batches(&[]).unwrap(), []);
    assert_eq!(made(&mut catalog, vec![]), Seq(0), "a batch without changes ends where it started");
}

fn numbers_follow_each_other_and_a_new_repository_takes_its_own(mut catalog: impl Catalog) {
    assert_eq!(made(&mut catalog, vec![setting("a", json!(1)), repository(0, "first", &[], false)]), Seq(2));
    assert_eq!(made(&mut catalog, vec![publish("rack", 1)]), Seq(3));
    assert_eq!(catalog.repositories().unwrap()[0].0, RepositoryId(2));
    let journal = catalog.journal(Seq(1), 1).unwrap();
    assert!(
        matches!(&journal[..], [JournalRow { v: 2, seq: Seq(2), change: Change::Repository { id, .. }, .. }] if id.0 == 2)
    );
}

fn a_unit_has_its_entries_by_date_and_the_number_of_its_last_change(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("rack", 1), publish("rack", 2), publish("rake", 1)]);
    made(&mut catalog, vec![withdraw("rack", 1)]);
    let rack = catalog.unit(R, "rack").unwrap();
    assert_eq!(rack.seq, Seq(4));
    assert_eq!(rack.entries, [entry("rack", 2, State::Live), entry("rack", 1, State::Withdrawn)]);
    assert_eq!(catalog.unit(R, "rake").unwrap().seq, Seq(3));
    let outline = |entry: &Entry, facts: &str| (entry.state, entry.published, entry.changed, facts.to_owned(), None);
    let [short, whole] = &rack.entries[..] else { unreachable!() };
    assert_eq!(
        outlines(&mut catalog, R, "rack"),
        [outline(short, "rack in short"), outline(whole, &whole.facts.to_string())]
    );
    assert_eq!(catalog.entry(R, "rack-1").unwrap(), Some(entry("rack", 1, State::Withdrawn)));
    assert_eq!(catalog.unit(RepositoryId(2), "rack").unwrap().seq, Seq(0));
}

fn a_withdrawn_entry_stays_and_its_unit_is_no_longer_named(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("rack", 1), publish("rack", 2), withdraw("rack", 1), withdraw("rack", 1)]);
    assert_eq!(catalog.units(R, "", 9).unwrap(), ["rack"]);
    made(&mut catalog, vec![withdraw("rack", 2)]);
    assert!(catalog.units(R, "", 9).unwrap().is_empty());
    made(&mut catalog, vec![publish("rack", 1), publish("rack", 1), withdraw("rack", 1)]);
    assert!(catalog.units(R, "", 9).unwrap().is_empty());
    assert_eq!(catalog.unit(R, "rack").unwrap().entries.len(), 2);
    assert_eq!(catalog.keys(R, "rack", 9).unwrap(), ["rack-2", "rack-1"]);
    assert_eq!(catalog.keys(R, "rack", 1).unwrap(), ["rack-2"]);
    assert!(catalog.keys(R, "rac", 9).unwrap().is_empty());
}

fn lines_and_names_come_in_pieces(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("b", 1), publish("a", 1), publish("B", 1), publish("é", 1)]);
    let units = |entries: Vec<Entry>| entries.into_iter().map(|entry| entry.unit).collect::<Vec<_>>();
    assert_eq!(units(catalog.entries(R, "", "a").unwrap()), ["B", "a"]);
    assert_eq!(units(catalog.entries(R, "a", "z").unwrap()), ["b"]);
    assert_eq!(catalog.units(R, "", 2).unwrap(), ["B", "a"]);
    assert_eq!(catalog.units(R, "a", 9).unwrap(), ["b", "é"]);
    assert_eq!(catalog.lines(R, Seq(1), 2).unwrap(), [(Seq(2), "a 1 Live".into()), (Seq(3), "B 1 Live".into())]);
    made(&mut catalog, vec![setting("a", json!(1))]);
    assert_eq!([0, 1, 3, 99].map(|through| catalog.last_line(R, Seq(through)).unwrap().0), [0, 1, 3, 4]);
    assert_eq!(catalog.last_line(RepositoryId(2), Seq(99)).unwrap(), Seq(0));
    assert_eq!(catalog.journal(Seq(2), 9).unwrap().len(), 3);
}

fn entries_are_found_by_what_their_keys_begin_with(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("a", 2), publish("a-1", 1), publish("a", 1), publish("b", 1), publish("é", 1)]);
    let keys = |catalog: &mut _, prefix, after, limit| -> Vec<String> {
        let found = EntryReads::entries_beginning(catalog, R, prefix, after, limit).unwrap();
        found.into_iter().map(|entry| entry.key).collect()
    };
    assert_eq!(keys(&mut catalog, "a-1", "", 9), ["a-1", "a-1-1"]);
    assert_eq!(keys(&mut catalog, "a-", "", 2), ["a-1", "a-1-1"]);
    assert_eq!(keys(&mut catalog, "a-", "a-1", 9), ["a-1-1", "a-2"]);
    assert_eq!(keys(&mut catalog, "a-", "a-2", 9), [""; 0]);
    assert_eq!(keys(&mut catalog, "a-", "b", 9), [""; 0]);
    assert_eq!(keys(&mut catalog, "é", "", 9), ["é-1"]);
    assert_eq!(keys(&mut catalog, "A", "", 9), [""; 0]);
    assert!(catalog.entries_beginning(RepositoryId(2), "a", "", 9).unwrap().is_empty());
    catalog.commit_batches(&[batch(vec![], vec![withdraw("a", 1)])]).unwrap();
    let mut live = |after, limit| catalog.live_entries_beginning(R, "a-", after, limit).unwrap();
    let live = [("", 9), ("a-1-1", 9), ("", 1)].map(|(after, limit)| live(after, limit)).concat();
    assert_eq!(live.iter().map(|entry| &entry.key[..]).collect::<Vec<_>>(), ["a-1-1", "a-2", "a-2", "a-1-1"]);
}

fn a_refused_batch_changes_nothing_and_uses_no_number(mut catalog: impl Catalog) {
    let stale = Expect::UnitAt { repository: R, unit: "rack".into(), seq: Seq(0) };
    let first = batch(vec![stale.clone()], vec![publish("rack", 1)]);
    let second = batch(vec![stale.clone()], vec![publish("rack", 2)]);
    let third = batch(vec![], vec![publish("rake", 1)]);
    let answers = catalog.commit_batches(&[first, second, third]).unwrap();
    assert_eq!(answers, [Ok(Seq(1)), Err(Conflict(stale)), Ok(Seq(2))]);
    assert_eq!(catalog.last().unwrap(), Seq(2));
    assert_eq!(catalog.unit(R, "rack").unwrap().entries.len(), 1);
}

fn a_rolled_back_transaction_leaves_no_trace(mut catalog: impl Catalog, mut other: impl Catalog) {
    let first = || batch(vec![], vec![repository(0, "first", &[], false), publish("rack", 1)]);
    for catalog in [&mut catalog as &mut dyn Catalog, &mut other] {
        catalog.commit_batches(&[first()]).unwrap().remove(0).unwrap();
    }
    let second = || batch(vec![], vec![withdraw("rack", 1), publish("rake", 1), token(1, "ci", false)]);
    assert_eq!(catalog.begin(&[second()]).unwrap(), [Ok(Seq(5))]);
    catalog.rollback();
    assert_same(&mut catalog, &mut other);
    assert_eq!(catalog.begin(&[second()]).unwrap(), [Ok(Seq(5))], "the numbers are used again");
    catalog.commit().unwrap();
    catalog.rollback();
    assert_eq!(catalog.last().unwrap(), Seq(5), "a committed transaction cannot be rolled back");
}

fn batches_of_one_group_see_each_other(mut catalog: impl Catalog) {
    let free = || vec![Expect::RepositoryNameFree("first".into())];
    let answers = catalog.commit_batches(&[
        batch(free(), vec![repository(0, "first", &[], false)]),
        batch(free(), vec![repository(0, "first", &[], false)]),
        batch(vec![Expect::RepositoryLives(RepositoryId(1))], vec![publish("rack", 1)]),
    ]);
    assert!(matches!(answers.unwrap()[..], [Ok(Seq(1)), Err(_), Ok(Seq(2))]));
}

fn every_expectation_is_decided(mut catalog: impl Catalog) {
    made(&mut catalog, vec![repository(0, "first", &[], false), token(1, "ci", false), publish("rack", 1)]);
    let unit = |seq| Expect::UnitAt { repository: R, unit: "rack".into(), seq: Seq(seq) };
    assert!(!refused(&mut catalog, unit(3)));
    assert!(refused(&mut catalog, unit(2)));
    let key = |key: &str| Expect::KeyFree { repository: R, key: key.into() };
    assert!(refused(&mut catalog, key("rack-1")));
    assert!(!refused(&mut catalog, key("rack-2")));
    made(&mut catalog, vec![withdraw("rack", 1)]);
    assert!(refused(&mut catalog, key("rack-1")), "a tombstone keeps its key");
    assert!(!refused(&mut catalog, Expect::RepositoryLives(RepositoryId(1))));
    assert!(refused(&mut catalog, Expect::RepositoryLives(RepositoryId(2))));
    let is = |private| {
        let Change::Repository { record, .. } = repository(1, "first", &[], false) else { unreachable!() };
        Expect::RepositoryIs { id: RepositoryId(1), record: Box::new(RepositoryRecord { private, ..record }) }
    };
    assert!(!refused(&mut catalog, is(false)));
    assert!(refused(&mut catalog, is(true)));
    let last = catalog.last().unwrap();
    assert!(!refused(&mut catalog, Expect::JournalAt(last)));
    assert!(refused(&mut catalog, Expect::JournalAt(last)), "that it held is a change too");
    assert!(refused(&mut catalog, Expect::RepositoryNameFree("first".into())));
    assert!(!refused(&mut catalog, Expect::RepositoryNameFree("First".into())));
    assert!(refused(&mut catalog, Expect::TokenNameFree("ci".into())));
    assert!(!refused(&mut catalog, Expect::TokenNameFree("dev".into())));
    assert!(!refused(&mut catalog, Expect::TokenLives(Digest([1; 32]))));
    assert!(refused(&mut catalog, Expect::TokenLives(Digest([2; 32]))));
    made(&mut catalog, vec![token(1, "ci", true)]);
    assert!(refused(&mut catalog, Expect::TokenLives(Digest([1; 32]))), "a revoked token does not live");
}

fn what_differs_only_in_case_is_found(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("Rack", 1), publish("é", 1), publish("a/B", 1)]);
    let key = |key: &str| Expect::KeyFreeInAnyCase { repository: R, key: key.into() };
    let unit = |unit: &str| Expect::UnitSpeltOneWay { repository: R, unit: unit.into() };
    for (spelt, taken) in [("Rack-1", true), ("rACK-1", true), ("rack-2", false), ("É-1", false), ("a/b-1", true)] {
        assert_eq!(refused(&mut catalog, key(spelt)), taken, "{spelt:?}");
        assert_eq!(catalog.entry_in_any_case(R, spelt).unwrap().is_some(), taken, "{spelt:?}");
    }
    for (spelt, taken) in [("Rack", false), ("rack", true), ("rac", false), ("É", false), ("a/b", true)] {
        assert_eq!(refused(&mut catalog, unit(spelt)), taken, "{spelt:?}");
        assert_eq!(catalog.unit_in_other_case(R, spelt).unwrap().is_some(), taken, "{spelt:?}");
    }
    let other = RepositoryId(2);
    assert_eq!(catalog.unit_in_other_case(other, "rack").unwrap(), None);
    assert_eq!(catalog.entry_in_any_case(other, "rack-1").unwrap(), None);
    made(&mut catalog, vec![withdraw("Rack", 1)]);
    assert!(!refused(&mut catalog, unit("rack")), "a unit without live entries frees its name");
    assert!(refused(&mut catalog, key("rack-1")), "a tombstone keeps its key in any case");
}

fn removed_and_revoked_ones_are_not_listed_and_their_names_are_free(mut catalog: impl Catalog) {
    made(&mut catalog, vec![repository(0, "z", &[], false), repository(0, "a", &["z"], false), token(1, "ci", false)]);
    let names = |catalog: &mut _| -> Vec<String> {
        SettingReads::repositories(catalog).unwrap().into_iter().map(|(_, record)| record.name).collect()
    };
    assert_eq!(names(&mut catalog), ["a", "z"]);
    made(&mut catalog, vec![repository(1, "z", &[], true), token(1, "ci", true)]);
    assert_eq!(names(&mut catalog), ["a"]);
    assert!(catalog.tokens().unwrap().is_empty());
    assert!(refused(&mut catalog, Expect::RepositoryLives(RepositoryId(1))));
    assert!(!refused(&mut catalog, Expect::RepositoryNameFree("z".into())));
    let removed = catalog.removed_repositories("z").unwrap();
    assert_eq!(removed.iter().map(|(id, record)| (id.0, &*record.name)).collect::<Vec<_>>(), [(1, "z")]);
    assert!(catalog.removed_repositories("a").unwrap().is_empty());
    assert!(!refused(&mut catalog, Expect::TokenNameFree("ci".into())));
}

fn blobs_are_known_for_ever(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("a", 1), publish("b", 1), withdraw("a", 1)]);
    let all = catalog.blobs(None, 9).unwrap();
    assert_eq!((all.len(), all[0].1), (2, 3));
    assert_eq!(catalog.blobs(None, 1).unwrap(), all[..1]);
    assert_eq!(catalog.blobs(Some(all[0].0), 9).unwrap(), all[1..]);
}

fn the_journal_replayed_makes_the_same(mut catalog: impl Catalog, mut other: impl Catalog) {
    made(&mut catalog, vec![repository(0, "first", &[], false), token(1, "ci", false), publish("rack", 1)]);
    made(&mut catalog, vec![setting("a", json!(1)), withdraw("rack", 1)]);
    let rows = catalog.journal(Seq(0), 99).unwrap();
    other.replay(&rows[..2]).unwrap();
    other.replay(&rows[2..]).unwrap();
    assert_same(&mut catalog, &mut other);
}

fn a_gap_and_a_later_form_are_not_replayed(mut catalog: impl Catalog) {
    let row = |seq, v| JournalRow {
        v,
        seq: Seq(seq),
        at: Millis(1),
        by: "x".into(),
        from: "cli".into(),
        change: setting("a", json!(seq)),
    };
    assert!(matches!(catalog.replay(&[row(1, 1), row(3, 1)]), Err(Error::Gap { after: Seq(1), found: Seq(3) })));
    assert!(matches!(catalog.replay(&[row(1, JournalRow::VERSION + 1)]), Err(Error::Row { seq: Seq(1), .. })));
    assert_eq!(catalog.last().unwrap(), Seq(0), "all or nothing");
    assert_eq!(catalog.setting("a").unwrap(), None);
}

pub(crate) fn outlines(
    catalog: &mut impl Catalog,
    id: RepositoryId,
    unit: &str,
) -> Vec<(State, Millis, Millis, String, Option<Millis>)> {
    let outlines = catalog.outlines(id, unit).unwrap().into_iter();
    let facts = |facts| match facts {
        crate::Facts::Brief(brief) => brief,
        crate::Facts::Whole(facts) => facts.get().to_owned(),
    };
    outlines.map(|one| (one.state, one.published, one.changed, facts(one.facts), one.origin)).collect()
}

#[test]
fn the_model_does_what_a_catalog_must() {
    run(Model::default);
}

#[test]
fn sqlite_does_what_a_catalog_must() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    run(|| {
        count.set(count.get() + 1);
        Sqlite::writer(&folder.path().join(format!("{}.sqlite", count.get()))).unwrap()
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_equals_the_model_whatever_is_committed_and_rolled_back(
        groups in prop::collection::vec((prop::collection::vec(any_batch(), 0..4), prop::bool::weighted(0.8)), 1..8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut sqlite = Sqlite::writer(&folder.path().join("truth.sqlite")).unwrap();
        let mut model = Model::default();
        for (group, commit) in groups {
            prop_assert_eq!(sqlite.begin(&group).unwrap(), model.begin(&group).unwrap());
            for catalog in [&mut sqlite as &mut dyn Catalog, &mut model] {
                if commit {
                    catalog.commit().unwrap();
                } else {
                    catalog.rollback();
                }
            }
        }
        assert_same(&mut sqlite, &mut model);
    }
}
