//! Whatever happened since, the truth as of a change is what it was when that was the last.

use crate::suite::{any_batch, publish, repository};
use crate::{Batch, Catalog, Change, Model, Past, RepositoryId, Seq, Sqlite, past};
use proptest::prelude::*;
use telemetry::Millis;

/// Holds each moment of a catalog against a model that went no further.
fn assert_past(catalog: &mut impl Catalog) {
    let journal = catalog.journal(Seq(0), usize::MAX >> 1).unwrap();
    for through in 0..=journal.len() {
        let mut model = Model::default();
        model.replay(&journal[..through]).unwrap();
        let through = Seq(through as u64);
        for id in (0..8).map(RepositoryId) {
            for (within, limit) in [(("", ""), 9), (("", "a"), 1), (("a", ""), 2)] {
                let known = model.known(id, within.0, within.1, limit).unwrap();
                assert_eq!(catalog.known_then(id, within, limit, through).unwrap(), known);
            }
            let began = Past::of(catalog, through).entries_beginning(id, "a", 99).unwrap();
            assert_eq!(began, model.entries_beginning(id, "a", "", 99).unwrap());
        }
        for row in &journal {
            if let Change::Entry { repository, entry } = &row.change {
                let mut past = Past::of(catalog, through);
                assert_eq!(past.entry(*repository, &entry.key).unwrap(), model.entry(*repository, &entry.key).unwrap());
                let unit = model.unit(*repository, &entry.unit).unwrap().entries;
                assert_eq!(past.unit(*repository, &entry.unit).unwrap(), unit);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_past_is_what_it_was(groups in prop::collection::vec(prop::collection::vec(any_batch(), 0..4), 1..8)) {
        let folder = tempfile::tempdir().unwrap();
        let mut sqlite = Sqlite::writer(&folder.path().join("truth.sqlite")).unwrap();
        let mut model = Model::default();
        for group in groups {
            prop_assert_eq!(sqlite.commit(&group).unwrap(), model.commit(&group).unwrap());
        }
        assert_past(&mut sqlite);
        assert_past(&mut model);
    }

    #[test]
    fn a_moment_is_the_last_change_that_was_made_by_then(mut moments in prop::collection::vec(0..9i64, 0..40)) {
        moments.sort_unstable();
        let mut model = Model::default();
        for at in &moments {
            let batch = Batch { at: Millis(*at), changes: vec![publish("rack", 1)], ..Batch::default() };
            model.commit(&[batch]).unwrap().remove(0).unwrap();
        }
        for moment in -1..10 {
            let made = moments.iter().filter(|at| **at <= moment).count() as u64;
            prop_assert_eq!(past::through(&mut model, Millis(moment)).unwrap(), Seq(made));
        }
    }
}

#[test]
fn where_the_clock_was_put_back_a_moment_stays_the_change_that_it_was() {
    let mut model = Model::default();
    let make = |model: &mut Model, at| {
        let changes = vec![repository(0, "a", &[], false)];
        model.commit(&[Batch { at: Millis(at), changes, ..Batch::default() }]).unwrap().remove(0).unwrap();
    };
    [10, 20, 30, 15, 16, 40].iter().for_each(|at| make(&mut model, *at));
    let before: Vec<Seq> = (0..40).map(|at| past::through(&mut model, Millis(at)).unwrap()).collect();
    assert!([Seq(2), Seq(5)].contains(&before[25]), "{before:?}");
    (41..99).for_each(|at| make(&mut model, at));
    assert_eq!(before, (0..40).map(|at| past::through(&mut model, Millis(at)).unwrap()).collect::<Vec<_>>());
}
