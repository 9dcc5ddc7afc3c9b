//! Property: once a change is acknowledged, no stamp that it affects holds, through groups of groups.

use super::{job, options};
use crate::truth::suite::any_batch;
use crate::{
    Batch, Change, CommitError, Model, RepositoryId, SettingReads as _, Stamp, Store, Transactions as _, Unit,
};
use proptest::prelude::*;
use telemetry::Millis;

/// Written differently from the writer's code: whether `holder` is `id` or names, itself or by members, the name of `id`.
fn holds(model: &mut Model, holder: RepositoryId, id: RepositoryId, depth: usize) -> bool {
    let living = model.repositories().unwrap();
    let of = |id: RepositoryId| living.iter().find(|(other, _)| *other == id).map(|(_, record)| record);
    let Some(record) = of(holder) else { return holder == id };
    let members: Vec<_> = living.iter().filter(|(_, other)| record.members.contains(&other.name)).collect();
    holder == id || depth > 0 && members.iter().any(|(member, _)| holds(model, *member, id, depth - 1))
}

fn touched(store: &Store, model: &mut Model, batch: &Batch) -> Vec<(String, Stamp)> {
    let mut stamps = Vec::new();
    let mut stamp = |unit: Unit<'_>| {
        stamps.push((format!("{unit:?}"), store.revisions().stamp([unit], Millis(i64::MAX))));
    };
    for change in &batch.changes {
        match change {
            Change::Entry { repository, entry } => {
                for holder in (1..40).map(RepositoryId).filter(|holder| holds(model, *holder, *repository, 6)) {
                    stamp(Unit::All(holder));
                    stamp(Unit::Of(holder, &entry.unit));
                }
            }
            Change::Unit { repository, unit, .. } | Change::FirstSeen { repository, unit, .. } => {
                let holders = (1..40).map(RepositoryId).filter(|holder| holds(model, *holder, *repository, 6));
                holders.for_each(|holder| stamp(Unit::Of(holder, unit)));
            }
            Change::Repository { .. } | Change::Setting { .. } => stamp(Unit::Settings),
            Change::Token { .. } => stamp(Unit::Tokens),
            Change::Redate { .. } | Change::Collected { .. } => {}
        }
    }
    stamps
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn an_acknowledgement_comes_after_every_stamp_it_touches_is_void(
        batches in prop::collection::vec(any_batch(), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(options(folder.path())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut model = Model::default();
        for batch in batches {
            let stamps = touched(&store, &mut model, &batch);
            let answer = runtime.block_on(store.commit(batch.clone(), &mut job()));
            let expected = model.commit_batches(&[batch]).unwrap().remove(0);
            for (unit, stamp) in stamps {
                prop_assert_eq!(store.revisions().holds(&stamp, Millis(0)), expected.is_err(), "{}", unit);
            }
            prop_assert_eq!(answer.map_err(|error| matches!(error, CommitError::Conflict(_))), expected.map_err(|_| true));
        }
    }
}
