//! Maps that are written to a journal and read from it.

use crate::error::Error;
use crate::maven::koji::answer::tests::trial::{DAY, NOW, Trial, changes};
use crate::maven::koji::change::{Change, Gone};
use crate::maven::koji::load::load;
use crate::maven::koji::map::KojiView;
use crate::maven::koji::take::take;
use crate::maven::koji::take_in::take_in;
use crate::record::{KojiRecord, RepositoryRecord};
use crate::repository::Repository;
use crate::upstream::Remote;
use crate::upstream::first_seen::followed_rows::FollowedRow;
use format::koji::model::{BuildId, EventId, TagId};
use std::sync::Arc;
use store::{JournalRow, Seq, Unit};
use telemetry::{Event, Millis};

const FOLDER: &str = "org/example/lamp/1.0";
const POM: &str = "org/example/lamp/1.0/lamp-1.0.pom";

fn event() -> Box<Event> {
    Event::job("test", Millis(NOW))
}

/// A build with a folder that all of them have, tagged at the event.
fn build(id: u32, at: u64) -> Vec<Change> {
    changes(id, &format!("lamp{id}"), at, &[(POM, b"<project/>"), (&format!("org/example/lamp/{id}/a.jar"), b"x")])
}

async fn room(max_bytes: u64, koji_maps_bytes: u64) -> Trial {
    Trial::unread(|_| (), max_bytes, koji_maps_bytes).await
}

/// The build that has the folder.
async fn owner(remote: &Remote, view: KojiView) -> Option<u32> {
    let known = load(remote, &mut event()).await.unwrap()?;
    known.map.place(FOLDER, view).ok().map(|place| place.build.0)
}

#[tokio::test]
async fn a_start_reads_the_map_that_was_written_and_reads_it_once() {
    let trial = room(1 << 20, 1 << 20).await;
    assert!(load(&trial.remote, &mut event()).await.unwrap().is_none());
    for id in 1..4 {
        let taken = take(&trial.remote, build(id, u64::from(id)), &mut event()).await.unwrap();
        assert!(taken.map.is_recorded());
        let moved: Vec<_> = taken.moved.iter().map(|moved| (&moved.from.name[..], &moved.to.name[..])).collect();
        assert_eq!(moved.len(), usize::from(id > 1), "{moved:?}");
    }
    let gone = Change::Gone { build: BuildId(3), tag: TagId(1), why: Gone::Untagged, event: None, by: None };
    let full = Change::Settled { event: EventId(3), seen: EventId(3), full: true };
    trial.clock.set(Some(Millis(NOW + DAY)));
    let taken = take(&trial.remote, vec![gone, full], &mut event()).await.unwrap();
    assert_eq!((owner(&trial.remote, KojiView::Now).await, taken.map.read_whole()), (Some(2), Some(Millis(NOW + DAY))));
    let again = trial.restarted();
    let (mut one, mut other) = (event(), event());
    let (one, other) = tokio::join!(load(&again, &mut one), load(&again, &mut other));
    let (one, other) = (one.unwrap().unwrap(), other.unwrap().unwrap());
    assert!(Arc::ptr_eq(&one.map, &other.map));
    assert_eq!(one.map.digest(), taken.map.digest());
    assert_eq!((one.checked, one.tried), (Millis(NOW + DAY), Millis(0)));
}

#[tokio::test]
async fn what_was_proven_of_a_changed_folder_ends_and_of_others_it_stays() {
    let trial = room(1 << 20, 1 << 20).await;
    take(&trial.remote, build(1, 1), &mut event()).await.unwrap();
    let (revisions, id) = (trial.remote.remotes.store.revisions(), trial.remote.repository.id);
    let stamp = |folder: &str| revisions.stamp([Unit::Of(id, folder)], Millis(i64::MAX));
    let changed = [stamp("org/example/lamp/2"), stamp("org/example/lamp"), stamp("org"), stamp(FOLDER)];
    let (all, other) = (revisions.stamp([Unit::All(id)], Millis(i64::MAX)), stamp("org/example/lamp/1"));
    take(&trial.remote, build(2, 2), &mut event()).await.unwrap();
    assert!(changed.iter().chain([&all]).all(|stamp| !revisions.holds(stamp, Millis(NOW))));
    assert!(revisions.holds(&other, Millis(NOW)));
}

#[tokio::test]
async fn without_room_in_the_journal_memory_goes_on_and_a_start_reads_what_the_journal_has() {
    let trial = room(6_000, 1 << 20).await;
    let first = take(&trial.remote, build(1, 1), &mut event()).await.unwrap();
    assert!(first.map.is_recorded());
    let mut all = Vec::new();
    (2..40).for_each(|id| all.extend(build(id, u64::from(id))));
    let more = take(&trial.remote, all, &mut event()).await.unwrap();
    assert!(!more.map.is_recorded());
    assert_eq!(owner(&trial.remote, KojiView::Now).await, Some(39));
    // What the journal does not have is in no moment of it.
    assert_eq!(owner(&trial.remote, KojiView::Journal(first.map.last())).await, Some(1));
    assert_eq!(owner(&trial.restarted(), KojiView::Now).await, Some(1));
}

#[tokio::test]
async fn rows_that_another_look_wrote_first_are_read_before_the_next_one() {
    let trial = room(1 << 20, 1 << 20).await;
    take(&trial.remote, build(1, 1), &mut event()).await.unwrap();
    let other = trial.restarted();
    load(&other, &mut event()).await.unwrap();
    take(&trial.remote, build(2, 2), &mut event()).await.unwrap();
    let behind = take(&other, build(3, 3), &mut event()).await;
    assert!(matches!(behind, Err(Error::GivenUp)), "{behind:?}");
    assert_eq!(owner(&other, KojiView::Now).await, Some(2));
    take(&other, build(3, 3), &mut event()).await.unwrap();
    assert_eq!(owner(&other, KojiView::Now).await, Some(3));
}

/// The rows of the journal after a number, as a node that follows gets them: the unit of each, and the row.
async fn rows_after(remote: &Remote, after: Seq) -> Vec<(String, FollowedRow)> {
    let rows = remote.remotes.store.journal(after, 1_000, &mut event()).await.unwrap();
    let row = |row: JournalRow| match row.change {
        store::Change::FirstSeen { unit, seen, .. } => Some((unit, FollowedRow { seq: row.seq, at: row.at, seen })),
        _ => None,
    };
    rows.into_iter().filter_map(row).collect()
}

/// The number of the last row in the map in memory, once the tasks that take rows in have had their turns.
async fn last(remote: &Remote) -> Seq {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
        drop(remote.repository.shared.koji().looking.lock().await);
    }
    remote.repository.shared.koji().known(remote.repository.origin).unwrap().map.last()
}

#[tokio::test]
async fn what_another_node_wrote_is_added_to_the_map_in_memory_look_by_look() {
    let trial = room(1 << 20, 1 << 20).await;
    take(&trial.remote, build(1, 1), &mut event()).await.unwrap();
    let other = trial.restarted();
    let before = load(&other, &mut event()).await.unwrap().unwrap().map.last();
    take(&trial.remote, build(2, 2), &mut event()).await.unwrap();
    let taken = take(&trial.remote, build(3, 3), &mut event()).await.unwrap();
    let mut rows = rows_after(&trial.remote, Seq(0)).await;
    let (unit, end) = rows.pop().unwrap();
    let last_look = rows.iter().filter(|(_, row)| row.seq > before).count();
    assert!(last_look > 2, "a look has several rows");
    let revisions = trial.remote.remotes.store.revisions();
    let [changed, other_folder] = [FOLDER, "org/example/lamp/1"]
        .map(|folder| revisions.stamp([Unit::Of(trial.remote.repository.id, folder)], Millis(i64::MAX)));
    for (unit, row) in rows {
        take_in(other.clone(), &unit, row);
    }
    let second = last(&other).await;
    assert!(before < second && second < taken.map.last(), "the third look is not whole");
    take_in(
        other.clone(),
        "koji//seen/0000000000000000",
        FollowedRow { seq: Seq(99), at: Millis(NOW), seen: "x".into() },
    );
    take_in(other.clone(), &unit, end);
    assert_eq!(last(&other).await, taken.map.last());
    let known = load(&other, &mut event()).await.unwrap().unwrap();
    assert_eq!((known.map.digest(), known.tried), (taken.map.digest(), Millis(NOW)));
    assert!(!revisions.holds(&changed, Millis(NOW)) && revisions.holds(&other_folder, Millis(NOW)));
}

#[tokio::test]
async fn a_map_that_does_not_fit_leaves_the_last_one_in_memory_and_in_the_journal() {
    let trial = room(1 << 20, 16_000).await;
    let small = take(&trial.remote, build(1, 1), &mut event()).await.unwrap();
    let mut all = Vec::new();
    (2..90).for_each(|id| all.extend(build(id, u64::from(id))));
    let large = take(&trial.remote, all, &mut event()).await;
    assert!(matches!(large, Err(Error::Upstream(_))), "{large:?}");
    assert_eq!(owner(&trial.remote, KojiView::Now).await, Some(1));
    let again = load(&trial.restarted(), &mut event()).await.unwrap().unwrap();
    assert_eq!(again.map.digest(), small.map.digest());
}

#[tokio::test]
async fn a_view_of_the_journal_keeps_the_rule_for_duplicates_of_its_time() {
    let trial = room(1 << 20, 1 << 20).await;
    take(&trial.remote, build(1, 1), &mut event()).await.unwrap();
    let newest = take(&trial.remote, build(2, 2), &mut event()).await.unwrap().map.last();
    let with = |duplicates: Option<&str>| {
        let Remote { repository, .. } = &trial.remote;
        let mut record: RepositoryRecord = repository.record.clone();
        let koji = record.remote.as_mut().and_then(|remote| remote.koji.as_mut()).unwrap();
        **koji = KojiRecord { duplicates: duplicates.map(str::to_owned), ..(**koji).clone() };
        let (id, stored) = (repository.id, repository.stored.clone());
        let repository = Repository::new(id, record, stored, repository.format, repository.shared.clone());
        Remote { repository: Arc::new(repository), ..trial.remote.clone() }
    };
    let changed = with(Some("oldest"));
    assert_eq!(owner(&changed, KojiView::Now).await, Some(1));
    assert_eq!(owner(&changed, KojiView::Journal(newest)).await, Some(2));
    // A look that finds nothing else records the rule.
    let oldest = take(&changed, Vec::new(), &mut event()).await.unwrap().map.last();
    assert!(oldest > newest);
    let back = with(None);
    for remote in [&back, &trial.restarted()] {
        let views = [KojiView::Now, KojiView::Journal(newest), KojiView::Journal(oldest), KojiView::Event(EventId(2))];
        let expected = [Some(2), Some(2), Some(1), Some(2)];
        for (view, expected) in views.into_iter().zip(expected) {
            assert_eq!(owner(remote, view).await, expected, "{view:?}");
        }
    }
}
