//! Two stores over one truth: each notices what the other has written before it decides or answers, and nothing is lost or doubled.

use super::{job, open, options};
use crate::truth::suite::{R, batch, publish, repository, setting, token};
use crate::{Change, CommitError, Expect, Lane, RepositoryId, Seq, Store, StoreOptions, Unit};
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex};
use telemetry::{Clock, Millis};

/// Two stores with folders of their own and one truth.
struct Pair {
    one: Arc<Store>,
    other: Arc<Store>,
    _folders: [tempfile::TempDir; 2],
}

/// The folder of another store with the truth of `data`.
pub(super) fn beside(data: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).close();
    let truth = |data: &Path| crate::Layout::new(data).truth();
    crate::disk::database_files::remove_database(&truth(folder.path())).unwrap();
    std::os::unix::fs::symlink(truth(data), truth(folder.path())).unwrap();
    folder
}

/// Two writers in each of two stores make `each` changes of one unit, and each change expects the one before.
pub(crate) async fn change_in_turn(stores: [&Arc<Store>; 2], each: u32) {
    let mut writers = Vec::new();
    for (at, store) in [stores, stores].concat().into_iter().enumerate() {
        let store = store.clone();
        writers.push(tokio::spawn(async move {
            for number in 0..each {
                loop {
                    let unit = store.unit(R, "rack", Lane::Change, &mut job()).await.unwrap();
                    let expect = vec![Expect::UnitAt { repository: R, unit: "rack".into(), seq: unit.seq }];
                    let change = publish("rack", at as u32 * each + number);
                    match store.commit(batch(expect, vec![change]), &mut job()).await {
                        Ok(_) => break,
                        Err(CommitError::Conflict(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let all = 4 * u64::from(each);
    for store in stores {
        store.follow(&mut job()).await.unwrap();
        let unit = store.unit(R, "rack", Lane::Change, &mut job()).await.unwrap();
        assert_eq!((unit.entries.len(), store.last(), store.holding(R).files), (all as usize, Seq(all), all));
    }
}

fn pair() -> Pair {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    let second = beside(folder.path());
    let other = open(second.path());
    Pair { one, other, _folders: [folder, second] }
}

async fn commit(store: &Store, changes: Vec<Change>) -> Seq {
    store.commit(batch(vec![], changes), &mut job()).await.unwrap()
}

#[tokio::test]
async fn a_batch_is_decided_by_what_the_other_store_has_written() {
    let Pair { one, other, _folders } = pair();
    assert_eq!(commit(&one, vec![publish("rack", 1)]).await, Seq(1));
    let unit = |seq| vec![Expect::UnitAt { repository: R, unit: "rack".into(), seq }];
    let stale = batch(unit(Seq(0)), vec![publish("rack", 2)]);
    assert!(matches!(other.commit(stale, &mut job()).await, Err(CommitError::Conflict(_))));
    assert_eq!(other.last(), Seq(1), "it knows the change that made the conflict");
    let current = batch(unit(Seq(1)), vec![publish("rack", 2)]);
    assert_eq!(other.commit(current, &mut job()).await.unwrap(), Seq(2));
    assert_eq!(commit(&one, vec![publish("rake", 1)]).await, Seq(3), "numbers have no gap");
}

#[tokio::test]
async fn rows_of_the_other_store_have_the_same_effects_as_own_ones() {
    let Pair { one, other, _folders } = pair();
    commit(&one, vec![repository(0, "hosted", &[], false)]).await;
    commit(&one, vec![repository(0, "all", &["hosted"], false)]).await;
    other.follow(&mut job()).await.unwrap();
    let group = RepositoryId(2);
    let units = [
        Unit::Of(R, "rack"),
        Unit::All(R),
        Unit::Of(group, "rack"),
        Unit::All(group),
        Unit::Of(R, "facts"),
        Unit::Of(R, "seen"),
        Unit::Tokens,
        Unit::Settings,
        Unit::SettingsOf(R),
        Unit::SettingsOf(group),
    ];
    let untouched = Unit::Of(RepositoryId(3), "rack");
    let stamp = |unit| other.revisions().stamp([unit], Millis(i64::MAX));
    let (stamps, kept) = (units.map(stamp), stamp(untouched));
    let seen = Change::FirstSeen {
        repository: R,
        unit: "seen".into(),
        whole: true,
        uncounted: false,
        seen: json!({ "1": 1 }),
    };
    let facts = Change::Unit { repository: R, unit: "facts".into(), facts: json!({ "a": 1 }) };
    let changes = vec![publish("rack", 1), facts, seen, token(1, "ci", false), setting("a", json!(1))];
    let last = commit(&one, changes).await;
    let holds = |stamp| other.revisions().holds(stamp, Millis(0));
    assert!(stamps.iter().all(holds), "it does not know of them yet");
    other.follow(&mut job()).await.unwrap();
    for (unit, stamp) in units.iter().zip(&stamps) {
        assert!(!holds(stamp), "{unit:?}");
    }
    assert!(holds(&kept));
    assert_eq!((other.last(), other.holding(R).files), (last, 1));
    assert_eq!(other.ship_now(&mut job()).await.unwrap(), last, "its own segments have the rows");
    // A group that the other store has made since contains the repository here, too.
    commit(&one, vec![repository(0, "more", &["hosted"], false)]).await;
    other.follow(&mut job()).await.unwrap();
    let more = Unit::All(RepositoryId(last.0 + 1));
    let stamp = other.revisions().stamp([more], Millis(i64::MAX));
    commit(&other, vec![publish("rack", 2)]).await;
    assert!(!other.revisions().holds(&stamp, Millis(0)));
}

#[tokio::test]
async fn rows_of_the_other_store_are_told_once_in_their_order_and_before_the_next_answer() {
    let Pair { one, other, _folders } = pair();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tells = told.clone();
    other.on_followed(move |rows| tells.lock().unwrap().extend(rows.iter().map(|row| row.seq)));
    let stale = || batch(vec![Expect::JournalAt(Seq(0))], vec![publish("rake", 1)]);
    commit(&one, vec![publish("rack", 1)]).await;
    other.commit(stale(), &mut job()).await.unwrap_err();
    assert_eq!(*told.lock().unwrap(), [Seq(1)]);
    commit(&other, vec![publish("rack", 2)]).await;
    for number in 3..6 {
        commit(&one, vec![publish("rack", number)]).await;
    }
    other.follow(&mut job()).await.unwrap();
    other.follow(&mut job()).await.unwrap();
    assert_eq!(*told.lock().unwrap(), [1, 3, 4, 5].map(Seq), "not its own");
}

#[tokio::test]
async fn moments_never_go_back_between_stores_whose_clocks_differ() {
    let folder = tempfile::tempdir().unwrap();
    let ahead = open(folder.path());
    let second = beside(folder.path());
    let behind = Store::open(StoreOptions { clock: Clock::at(Millis(1)), ..options(second.path()) }).unwrap();
    let at = |at, change| crate::Batch { at: Millis(at), ..batch(vec![], vec![change]) };
    ahead.commit(at(2_000, setting("a", json!(1))), &mut job()).await.unwrap();
    // A line that was rendered for an earlier moment is refused. After that the store knows the later moment.
    let line = at(1_500, publish("rack", 1));
    assert!(matches!(
        behind.commit(line, &mut job()).await,
        Err(CommitError::Conflict(crate::Conflict(Expect::NoChangeAfter(Millis(1_500)))))
    ));
    assert_eq!(behind.now(), Millis(2_000));
    behind.commit(at(1_500, setting("a", json!(2))), &mut job()).await.unwrap();
    ahead.commit(at(1_800, setting("a", json!(3))), &mut job()).await.unwrap();
    let moments = |store: Arc<Store>| async move {
        let rows = store.journal(Seq(0), 9, &mut job()).await.unwrap();
        rows.into_iter().map(|row| row.at).collect::<Vec<_>>()
    };
    assert_eq!(moments(ahead).await, [Millis(2_000); 3]);
    assert_eq!(moments(behind).await, [Millis(2_000); 3]);
}

#[tokio::test]
async fn of_many_changes_by_both_at_once_none_is_lost_and_each_unit_is_changed_in_turn() {
    let Pair { one, other, _folders } = pair();
    change_in_turn([&one, &other], 10).await;
}

#[tokio::test]
async fn a_note_is_changed_by_one_at_a_time_and_outlives_both() {
    let Pair { one, other, _folders } = pair();
    let count = |store: &Arc<Store>| {
        let store = store.clone();
        tokio::spawn(async move {
            let next = |note: Option<&str>| {
                let next = note.map_or(0, |note| note.parse::<u32>().unwrap()) + 1;
                (Some(next.to_string()), next)
            };
            store.change_note("count".into(), next, &mut job()).await.unwrap()
        })
    };
    let mut given = Vec::new();
    for counting in (0..20).map(|at| count(if at % 2 == 0 { &one } else { &other })).collect::<Vec<_>>() {
        given.push(counting.await.unwrap());
    }
    given.sort_unstable();
    assert_eq!(given, (1..=20).collect::<Vec<_>>(), "each number is given once");
    one.close();
    other.close();
    let again = open(_folders[0].path());
    let read = |note: Option<&str>| (None, note.map(str::to_owned));
    assert_eq!(again.change_note("count".into(), read, &mut job()).await.unwrap().as_deref(), Some("20"));
    assert_eq!(again.change_note("other".into(), read, &mut job()).await.unwrap(), None);
    assert_eq!((again.last(), again.journal(Seq(0), 9, &mut job()).await.unwrap()), (Seq(0), vec![]), "no history");
}
