//! Random changes and batches for a catalog.

use super::{batch, entry, repository, setting, token};
use crate::{Batch, Change, Digest, EntryOrigin, Expect, RepositoryId, Seq, State, Withdrawal};
use proptest::prelude::*;
use serde_json::json;
use telemetry::Millis;

fn any_change() -> impl Strategy<Value = Change> {
    let name = || prop::sample::select(vec!["a", "b", "B", "é", "a/b", ""]);
    let reason = prop::sample::select(vec![
        None,
        Some(Withdrawal::Pruned),
        Some(Withdrawal::Deleted),
        Some(Withdrawal::Purged { why: "a secret".into() }),
    ]);
    // Roughly every fourth entry has the bytes of another one.
    let state = (any::<bool>(), reason, prop::option::weighted(0.25, 0..4u32));
    let flags = (any::<bool>(), any::<bool>());
    let state = (state, prop::option::of(0..9i64));
    let an_entry =
        (1..5u64, name(), 0..4u32, state, flags).prop_map(|(id, unit, number, (state, origin), (line, new))| {
            let (live, withdrawal, other) = state;
            let mut entry = entry(unit, number, if live { State::Live } else { State::Withdrawn });
            entry.withdrawal = withdrawal.filter(|_| !live);
            if let Some(other) = other {
                entry.hashes = crate::Hashes::of(format!("a-{other}").as_bytes());
            }
            entry.origin = origin.map(|at| Box::new(EntryOrigin { at: Millis(at), by: None, claimed_by: unit.into() }));
            entry.line = entry.line.filter(|_| line);
            entry.changed = if new { entry.published } else { entry.changed };
            Change::Entry { repository: RepositoryId(id), entry }
        });
    let a_repository = (0..5u64, name(), prop::collection::vec(name(), 0..3), prop::bool::weighted(0.3))
        .prop_map(|(id, name, members, removed)| repository(id, name, &members, removed));
    let a_token = (0..4u8, name(), any::<bool>()).prop_map(|(number, name, revoked)| token(number, name, revoked));
    let a_setting = (name(), prop::sample::select(vec![json!(null), json!(1), json!({"a": []})]))
        .prop_map(|(key, value)| setting(key, value));
    let values = || prop::sample::select(vec![json!(null), json!({"a": 1}), json!([])]);
    let a_unit = (1..5u64, name(), values()).prop_map(|(id, unit, facts)| Change::Unit {
        repository: RepositoryId(id),
        unit: unit.into(),
        facts,
    });
    let flags = (any::<bool>(), any::<bool>());
    let a_sight = (1..5u64, name(), flags, values()).prop_map(|(id, unit, (whole, uncounted), seen)| {
        Change::FirstSeen { repository: RepositoryId(id), unit: unit.into(), whole, uncounted, seen }
    });
    let gone = prop::collection::vec(0..4u32, 1..3).prop_map(|numbers| Change::Collected {
        blobs: numbers.into_iter().map(|number| crate::Hashes::of(format!("a-{number}").as_bytes()).sha256).collect(),
    });
    let redated = (1..9u64).prop_map(|first| Change::Redate { first: Seq(first) });
    prop_oneof![1 => redated, 1 => gone, 4 => an_entry, 1 => a_unit, 1 => a_sight, 2 => a_repository, 1 => a_token, 1 => a_setting]
}

pub(crate) fn any_batch() -> impl Strategy<Value = Batch> {
    let name = || prop::sample::select(vec!["a", "b", "é"]);
    let expect = prop_oneof![
        (1..5u64, name(), 0..9u64).prop_map(|(id, unit, seq)| Expect::UnitAt {
            repository: RepositoryId(id),
            unit: unit.into(),
            seq: Seq(seq)
        }),
        (1..5u64, name(), 0..9u64).prop_map(|(id, unit, seq)| Expect::FirstSeenAt {
            repository: RepositoryId(id),
            unit: unit.into(),
            seq: Seq(seq)
        }),
        (1..5u64, name(), 0..4u32).prop_map(|(id, unit, number)| Expect::KeyFree {
            repository: RepositoryId(id),
            key: format!("{unit}-{number}")
        }),
        (1..5u64, name(), 0..4u32).prop_map(|(id, unit, number)| Expect::KeyFreeInAnyCase {
            repository: RepositoryId(id),
            key: format!("{unit}-{number}").to_uppercase()
        }),
        (1..5u64, name())
            .prop_map(|(id, unit)| Expect::UnitSpeltOneWay { repository: RepositoryId(id), unit: unit.into() }),
        (1..5u64).prop_map(|id| Expect::RepositoryLives(RepositoryId(id))),
        (0..20u64).prop_map(|seq| Expect::JournalAt(Seq(seq))),
        (0..20u64).prop_map(|seq| Expect::RepositoriesAt(Seq(seq))),
        (0..100i64).prop_map(|at| Expect::NoChangeAfter(Millis(at))),
        (1..5u64, name()).prop_map(|(id, name)| {
            let Change::Repository { record, .. } = repository(id, name, &[], false) else { unreachable!() };
            Expect::RepositoryIs { id: RepositoryId(id), record: Box::new(record) }
        }),
        name().prop_map(|name| Expect::RepositoryNameFree(name.into())),
        name().prop_map(|name| Expect::TokenNameFree(name.into())),
        (0u8..4).prop_map(|number| Expect::TokenLives(Digest([number; 32]))),
        (0u8..4, name()).prop_map(|(number, name)| {
            let Change::Token { record } = token(number, name, false) else { unreachable!() };
            Expect::TokenIs(Box::new(record))
        }),
    ];
    let moment = prop::sample::select(vec![1, 2, 5, 97, 98, 99]);
    (moment, prop::collection::vec(expect, 0..2), prop::collection::vec(any_change(), 0..4))
        .prop_map(|(at, expect, changes)| Batch { at: Millis(at), ..batch(expect, changes) })
}
