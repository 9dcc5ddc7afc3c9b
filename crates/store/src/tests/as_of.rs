//! The truth as of a change equals the truth when that change was the last one.

use crate::truth::as_of::last_change_by;
use crate::truth::catalog::Subject;
use crate::truth::suite::{any_batch, batch, publish, repository};
use crate::{Batch, Catalog, CatalogAsOf, Change, JournalReads as _, JournalRow, Model, RepositoryId, Seq, Sqlite};
use crate::{EntryReads as _, Transactions as _, UnitReads as _};
use proptest::prelude::*;
use telemetry::Millis;

/// Compares a catalog as of each of its changes with a model that has only the changes up to it.
fn assert_as_of_each_change(catalog: &mut impl Catalog) {
    let journal = catalog.dated_journal(Seq(0), usize::MAX >> 1).unwrap();
    for through in 0..=journal.len() {
        let mut model = Model::default();
        model.replay(&journal[..through]).unwrap();
        let through = Seq(through as u64);
        for id in (0..8).map(RepositoryId) {
            for (within, limit) in [(("", ""), 9), (("", "a"), 1), (("a", ""), 2)] {
                let known = model.units_with_facts(id, within.0, within.1, limit).unwrap();
                assert_eq!(catalog.units_with_facts_as_of(id, within.0, within.1, limit, through).unwrap(), known);
            }
            let began = CatalogAsOf::new(catalog, through).entries_beginning(id, "a", 99).unwrap();
            assert_eq!(began, model.entries_beginning(id, "a", "", 99).unwrap());
        }
        let subjects = journal.iter().filter_map(|row| match &row.change {
            Change::Entry { repository, entry } => Some((*repository, Subject::Entry(&entry.key), through)),
            Change::Unit { repository, unit, .. } => Some((*repository, Subject::Unit(unit), through)),
            _ => None,
        });
        let subjects: Vec<_> = subjects.collect();
        let authors = catalog.authors_as_of(&subjects).unwrap();
        for ((id, subject, _), author) in subjects.into_iter().zip(authors) {
            let row = catalog.row_as_of(id, subject, through).unwrap();
            assert_eq!(author.map(|one| (one.seq, one.at, one.by)), row.map(|row| (row.seq, row.at, row.by)));
        }
        for row in &journal {
            if let Change::Entry { repository, entry } = &row.change {
                let mut then = CatalogAsOf::new(catalog, through);
                assert_eq!(then.entry(*repository, &entry.key).unwrap(), model.entry(*repository, &entry.key).unwrap());
                let unit = model.unit(*repository, &entry.unit).unwrap().entries;
                assert_eq!(then.unit(*repository, &entry.unit).unwrap(), unit);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_truth_as_of_a_change_equals_what_it_was(groups in prop::collection::vec(prop::collection::vec(any_batch(), 0..4), 1..8)) {
        let folder = tempfile::tempdir().unwrap();
        let mut sqlite = Sqlite::writer(&folder.path().join("truth.sqlite")).unwrap();
        let mut model = Model::default();
        for group in groups {
            prop_assert_eq!(sqlite.commit_batches(&group).unwrap(), model.commit_batches(&group).unwrap());
        }
        assert_as_of_each_change(&mut sqlite);
        assert_as_of_each_change(&mut model);
    }

    #[test]
    fn a_moment_is_the_last_change_made_by_it(mut moments in prop::collection::vec(0..9i64, 0..40)) {
        moments.sort_unstable();
        let mut model = Model::default();
        for at in &moments {
            let batch = Batch { at: Millis(*at), ..batch(vec![], vec![publish("rack", 1)]) };
            model.commit_batches(&[batch]).unwrap().remove(0).unwrap();
        }
        for moment in -1..10 {
            let made = moments.iter().filter(|at| **at <= moment).count() as u64;
            prop_assert_eq!(last_change_by(&mut model, Millis(moment)).unwrap(), Seq(made));
        }
    }
}

#[test]
fn where_the_clock_was_set_back_a_moment_always_stays_the_same_change() {
    let mut model = Model::default();
    let make = |model: &mut Model, at| {
        // An earlier program, which took the moments from its clock, could write this.
        let seq = Seq(model.last().unwrap().0 + 1);
        let change = repository(seq.0, "a", &[], false);
        let row = JournalRow { v: 1, seq, at: Millis(at), by: "x".into(), from: String::new(), change };
        model.replay(&[row]).unwrap();
    };
    [10, 20, 30, 15, 16, 40].iter().for_each(|at| make(&mut model, *at));
    let before: Vec<Seq> = (0..40).map(|at| last_change_by(&mut model, Millis(at)).unwrap()).collect();
    assert!([Seq(2), Seq(5)].contains(&before[25]), "{before:?}");
    (41..99).for_each(|at| make(&mut model, at));
    assert_eq!(before, (0..40).map(|at| last_change_by(&mut model, Millis(at)).unwrap()).collect::<Vec<_>>());
}
