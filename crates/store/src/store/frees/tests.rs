//! The bytes that a plan announces are the bytes that are freed after it is carried out.

use super::{Question, Withdrawals, frees, would_free};
use crate::truth::suite::{R, any_batch, batch};
use crate::{Batch, BlobLife, Catalog, Change, Entry, Frees, Model, Sqlite, State, Withdrawal};
use proptest::prelude::*;
use telemetry::Millis;

/// A moment after all moments of the suite.
const LATER: Millis = Millis(1_000_000);

fn sum(catalog: &mut impl Catalog, withdrawn: &Withdrawals, of: Question) -> Frees {
    let mut all = Frees::default();
    for (blob, ended) in withdrawn.clone().by_blob(catalog).unwrap() {
        all = all.and(of(catalog, &blob, &ended, &BlobLife::default()).unwrap());
    }
    all
}

/// Some of the entries after they were withdrawn for one of the reasons.
fn withdrawals(catalog: &mut impl Catalog, which: u8, why: &Withdrawal) -> Vec<Entry> {
    let all = catalog.entries_beginning(R, "", "", 1_000).unwrap().into_iter().enumerate();
    let purge = matches!(why, Withdrawal::Purged { .. });
    let some = all.filter(|(at, entry)| which & (1 << (at % 8)) > 0 && (purge || entry.state == State::Live));
    let again = |entry: &Entry| entry.state == State::Withdrawn && entry.withdrawal.as_ref() == Some(why);
    some.map(|(_, entry)| entry)
        .filter(|entry| !again(entry))
        .map(|entry| entry.withdrawn(why.clone(), LATER))
        .collect()
}

/// The freed bytes that a plan announces, and those after it was carried out.
fn planned_and_real(catalog: &mut impl Catalog, batches: &[Batch], which: u8, why: &Withdrawal) -> (Frees, Frees) {
    catalog.commit_batches(batches).unwrap();
    let mut removed =
        ["a", "b", "B", "é", "a/b", ""].into_iter().flat_map(|name| catalog.removed_repositories(name).unwrap());
    if removed.any(|(id, _)| id == R) {
        // Entries of a removed repository cannot be withdrawn.
        return Default::default();
    }
    let entries = withdrawals(catalog, which, why);
    let mut withdrawn = Withdrawals::default();
    entries.iter().for_each(|entry| withdrawn.add(R, entry));
    let planned = sum(catalog, &withdrawn, would_free);
    let changes = entries.into_iter().map(|entry| Change::Entry { repository: R, entry }).collect();
    let carried_out = Batch { at: LATER, ..batch(vec![], changes) };
    catalog.commit_batches(&[carried_out]).unwrap().remove(0).unwrap();
    (planned, sum(catalog, &withdrawn, frees))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_a_plan_says_comes_free_is_what_comes_free(
        batches in prop::collection::vec(any_batch(), 1..16),
        which in any::<u8>(),
        why in prop::sample::select(vec![
            Withdrawal::Retracted,
            Withdrawal::Deleted,
            Withdrawal::Pruned,
            Withdrawal::Purged { why: "a secret".into() },
        ]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut sqlite = Sqlite::writer(&folder.path().join("truth.sqlite")).unwrap();
        let (planned, real) = planned_and_real(&mut sqlite, &batches, which, &why);
        prop_assert_eq!(planned, real);
        let in_model = planned_and_real(&mut Model::default(), &batches, which, &why);
        prop_assert_eq!(in_model, (planned, real));
    }
}
