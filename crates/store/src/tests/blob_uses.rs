//! The entries that keep a blob: tests for every catalog, and a database that fills the tables from its journal.

use super::same::assert_same;
use crate::blobs::holds::Holds;
use crate::truth::suite::{R, any_batch, batch, entry, made, publish, refused, repository, withdraw};
use crate::{
    BlobLife, BlobUse, Catalog, Change, Conflict, Digest, Expect, Hashes, Keep, Model, Seq, Sqlite, State,
    Transactions as _, UseEnd, Withdrawal,
};
use proptest::prelude::*;
use std::time::Duration;
use telemetry::Millis;

/// The moment of every batch of the suite.
const THEN: Millis = Millis(5);

fn digest(key: &str) -> Digest {
    Hashes::of(key.as_bytes()).sha256
}

fn uses(catalog: &mut impl Catalog, key: &str) -> Vec<BlobUse> {
    let of = digest(key);
    catalog.blob_uses(&of, &of).unwrap().into_iter().map(|(_, one)| one).collect()
}

fn ended(keep: Keep) -> BlobUse {
    BlobUse { ended: Some(UseEnd { at: THEN, keep }), removed: None }
}

const LIVE: BlobUse = BlobUse { ended: None, removed: None };

fn withdrawn(number: u32, why: Withdrawal) -> Change {
    Change::Entry { repository: R, entry: entry("rack", number, State::Live).withdrawn(why, THEN) }
}

/// The entry `rack-NUMBER` with the bytes of another key.
fn with_bytes(number: u32, of: &str) -> Change {
    let hashes = Hashes::of(of.as_bytes());
    Change::Entry { repository: R, entry: crate::Entry { hashes, ..entry("rack", number, State::Live) } }
}

fn collected(key: &str) -> Change {
    Change::Collected { blobs: vec![digest(key)] }
}

pub(crate) fn a_blob_is_used_until_each_entry_that_named_it_ends(mut catalog: impl Catalog) {
    let reasons = [
        (Withdrawal::Pruned, Keep::Nothing),
        (Withdrawal::Deleted, Keep::Undo),
        (Withdrawal::Cleanup { rule: "keep-versions".into(), no_undo: false }, Keep::Undo),
        (Withdrawal::Purged { why: "a secret".into() }, Keep::Purged),
    ];
    made(&mut catalog, vec![publish("rack", 9), withdraw("rack", 9)]);
    assert_eq!(uses(&mut catalog, "rack-9"), [ended(Keep::Horizon)], "a row without a reason");
    for (number, (why, keep)) in (1..).zip(reasons) {
        let key = format!("rack-{number}");
        made(&mut catalog, vec![publish("rack", number)]);
        assert_eq!(uses(&mut catalog, &key), [LIVE]);
        made(&mut catalog, vec![withdrawn(number, why)]);
        assert_eq!(uses(&mut catalog, &key), [ended(keep)]);
        made(&mut catalog, vec![publish("rack", number), with_bytes(7, &key)]);
        assert_eq!(uses(&mut catalog, &key), [LIVE; 2], "two entries name it");
        made(&mut catalog, vec![with_bytes(7, "other")]);
    }
    let life = BlobLife { horizon: Duration::from_millis(40), undo: Duration::from_millis(7), ..BlobLife::default() };
    let until = |keep| ended(keep).keeps_until(&life).unwrap().0 - THEN.0;
    assert_eq!(Keep::ALL.map(until), [40, 7, 0, 0]);
    assert_eq!(LIVE.keeps_until(&life), None);
    let removed = |one| BlobUse { removed: Some(Millis(6)), ..one };
    assert_eq!(removed(LIVE).keeps_until(&life), Some(Millis(13)));
    assert_eq!(removed(ended(Keep::Nothing)).keeps_until(&life), Some(THEN), "a removal extends no period");
    assert!(removed(LIVE).keeps(&life, Millis(12)) && !removed(LIVE).keeps(&life, Millis(13)));
}

pub(crate) fn other_bytes_under_a_key_end_the_use_of_the_ones_before(mut catalog: impl Catalog) {
    made(&mut catalog, vec![with_bytes(1, "one"), with_bytes(1, "two")]);
    assert_eq!(uses(&mut catalog, "one"), [ended(Keep::Horizon)]);
    assert_eq!(uses(&mut catalog, "two"), [LIVE]);
    made(&mut catalog, vec![with_bytes(1, "one")]);
    assert_eq!((uses(&mut catalog, "one"), uses(&mut catalog, "two")), (vec![LIVE], vec![ended(Keep::Horizon)]));
}

pub(crate) fn a_purge_ends_the_use_of_all_bytes_that_a_key_ever_had(mut catalog: impl Catalog) {
    made(&mut catalog, vec![with_bytes(1, "one"), with_bytes(1, "two"), with_bytes(2, "one"), publish("rack", 1)]);
    made(&mut catalog, vec![withdrawn(1, Withdrawal::Purged { why: "a secret".into() })]);
    assert_eq!(uses(&mut catalog, "one"), [ended(Keep::Purged), LIVE], "another entry keeps its bytes");
    assert_eq!(uses(&mut catalog, "two"), [ended(Keep::Purged)]);
    assert_eq!(uses(&mut catalog, "rack-1"), [ended(Keep::Purged)]);
}

pub(crate) fn a_collected_blob_comes_back_only_with_its_bytes(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("rack", 1), publish("rack", 2), withdraw("rack", 1), collected("rack-1")]);
    let gone = digest("rack-1");
    assert_eq!(catalog.collected(&gone).unwrap(), Some(THEN));
    assert_eq!(catalog.collected(&digest("rack-2")).unwrap(), None);
    assert_eq!([gone, digest("rack-2")].map(|digest| catalog.generation(&digest).unwrap()), [Seq(4), Seq(0)]);
    let at = |generation| Expect::BlobAt { digest: gone, generation: Seq(generation) };
    assert_eq!([0, 3, 4].map(|generation| refused(&mut catalog, at(generation))), [true, true, false]);
    assert!(!catalog.refers_to_blob(&gone).unwrap());
    assert_eq!(catalog.blob_count().unwrap(), 1);
    assert_eq!(uses(&mut catalog, "rack-1"), []);
    made(&mut catalog, vec![withdraw("rack", 1)]);
    assert_eq!((uses(&mut catalog, "rack-1"), catalog.blob_count().unwrap()), (vec![], 1), "it stays deleted");
    let restored = batch(vec![], vec![publish("rack", 1)]);
    let answer = catalog.commit_batches(std::slice::from_ref(&restored)).unwrap().remove(0);
    assert_eq!(answer, Err(Conflict(Expect::BlobKept(gone))));
    let held = crate::Batch { holds: vec![Holds::default().hold(gone)], ..restored };
    catalog.commit_batches(&[held]).unwrap().remove(0).unwrap();
    assert_eq!((catalog.collected(&gone).unwrap(), catalog.blob_count().unwrap()), (None, 2));
    assert_eq!(uses(&mut catalog, "rack-1"), [LIVE]);
    assert_eq!(catalog.generation(&gone).unwrap(), Seq(4), "published again, it is an object of another name");
}

pub(crate) fn a_removed_repository_whose_bytes_are_collected_does_not_come_back(mut catalog: impl Catalog) {
    made(&mut catalog, vec![repository(1, "one", &[], false), repository(2, "two", &[], false)]);
    made(&mut catalog, vec![publish("rack", 1), repository(1, "one", &[], true), repository(2, "two", &[], true)]);
    assert_eq!(uses(&mut catalog, "rack-1"), [BlobUse { ended: None, removed: Some(Millis(2)) }]);
    made(&mut catalog, vec![collected("rack-1")]);
    let back = |id, name| batch(vec![], vec![repository(id, name, &[], false)]);
    let answers = catalog.commit_batches(&[back(1, "one"), back(2, "two")]).unwrap();
    assert_eq!(answers[0], Err(Conflict(Expect::RepositoryWhole(R))));
    assert!(answers[1].is_ok());
}

pub(crate) fn the_uses_except_some_entries_are_those_of_the_others(mut catalog: impl Catalog) {
    made(&mut catalog, vec![with_bytes(1, "one"), with_bytes(2, "one"), withdrawn(3, Withdrawal::Pruned)]);
    let except = |numbers: &[u32]| numbers.iter().map(|number| (R, format!("rack-{number}"))).collect();
    let (one, mut of) =
        (digest("one"), |numbers: &[u32]| catalog.blob_uses_except(&digest("one"), &except(numbers)).unwrap());
    assert_eq!((of(&[]), of(&[1]), of(&[1, 2])), (vec![LIVE; 2], vec![LIVE], vec![]));
    assert_eq!(of(&[3]), [LIVE; 2], "an entry that does not name it changes nothing");
    assert_eq!(catalog.blob_uses_except(&digest("rack-3"), &except(&[])).unwrap(), [ended(Keep::Nothing)]);
    made(&mut catalog, vec![with_bytes(1, "two")]);
    let mut both = vec![(one, 3), (digest("two"), 3)];
    both.sort();
    assert_eq!(catalog.blobs_of_entry(R, "rack-1").unwrap(), both);
    made(&mut catalog, vec![collected("one")]);
    assert_eq!(catalog.blobs_of_entry(R, "rack-1").unwrap(), [(digest("two"), 3)]);
    assert_eq!(catalog.blobs_of_entry(R, "rack-2").unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_database_without_uses_gets_from_its_journal_those_that_it_would_have(
        batches in prop::collection::vec(any_batch(), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.sqlite");
        let (mut sqlite, mut model) = (Sqlite::writer(&path).unwrap(), Model::default());
        sqlite.commit_batches(&batches).unwrap();
        model.commit_batches(&batches).unwrap();
        sqlite.run("DROP TABLE blob_use", []).unwrap();
        sqlite.run("DROP TABLE lost", []).unwrap();
        sqlite.run("DROP TABLE collected", []).unwrap();
        drop(sqlite);
        assert_same(&mut Sqlite::writer(&path).unwrap(), &mut model);
    }
}
