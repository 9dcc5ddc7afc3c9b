//! Looks as jobs, at a hub on loopback that counts its calls.

mod hub_server;

use super::{Moved, moved, ready};
use crate::author::Author;
use crate::error::Error;
use crate::maven::koji::answer::asked::Asked;
use crate::maven::koji::answer::explained;
use crate::maven::koji::answer::tests::trial::{NOW, Trial};
use crate::maven::koji::follow;
use crate::maven::koji::map::KojiView;
use crate::repository::Repository;
use crate::upstream::Remote;
use format::koji::model::BuildId;
use hub_server::HubServer;
use std::sync::Arc;
use store::Change;
use telemetry::{Event, Millis, Reason};

const FOLDER: &str = "org/example/lamp/1";

fn event() -> Box<Event> {
    Event::job("test", Millis(NOW))
}

/// A repository of the tag `release`, which has a build.
async fn scene() -> (Trial, Arc<HubServer>) {
    let hub = HubServer::start();
    hub.set(|hub| hub.builds.push((1, 20)));
    let url = hub.url.clone();
    let change = |record: &mut crate::record::RepositoryRecord| {
        record.remote.as_mut().and_then(|remote| remote.koji.as_mut()).unwrap().hub = url;
    };
    (Trial::unread(change, 1 << 20, 1 << 20).await, hub)
}

fn minutes(trial: &Trial, minutes: i64) {
    trial.clock.set(Some(Millis(NOW + minutes * 60_000)));
}

#[tokio::test]
async fn requests_that_come_together_wait_for_one_look() {
    let (trial, hub) = scene().await;
    let one = || async { ready(&trial.remote, &mut event()).await };
    let all = tokio::join!(one(), one(), one(), one());
    for known in [all.0, all.1, all.2, all.3] {
        assert!(known.unwrap().map.place(FOLDER, KojiView::Now).is_ok());
    }
    assert_eq!(hub.rounds(), [2, 2], "one for all tags and one for the tag");
    ready(&trial.remote, &mut event()).await.unwrap();
    assert_eq!(hub.rounds(), [0; 0], "within a minute nothing is asked");
    minutes(&trial, 2);
    ready(&trial.remote, &mut event()).await.unwrap();
    assert_eq!(hub.rounds().len(), 1);
}

#[tokio::test]
async fn before_the_first_map_a_fault_pauses_and_its_text_is_for_operators() {
    let (trial, hub) = scene().await;
    hub.set(|hub| hub.fault = Some((1014, format!("Traceback: {}", "x".repeat(5_000)))));
    let failed = ready(&trial.remote, &mut event()).await;
    let Err(Error::Upstream(failure)) = failed else { panic!("{failed:?}") };
    assert_eq!((failure.reason, hub.rounds().len()), (Reason::UpstreamFailed, 1));
    assert!(!failure.to_string().contains("Traceback"), "{failure}");
    assert!(failure.detail().contains("the hub is offline (1014)") && failure.detail().len() < 400, "{failure:?}");
    hub.set(|hub| hub.fault = None);
    let failed = ready(&trial.remote, &mut event()).await;
    let Err(Error::Upstream(failure)) = failed else { panic!("{failed:?}") };
    assert_eq!((failure.reason, hub.rounds()), (Reason::UpstreamFailed, Vec::new()), "no client makes it answer again");
    trial.clock.set(Some(Millis(NOW + 10_000)));
    ready(&trial.remote, &mut event()).await.unwrap();
}

#[tokio::test]
async fn while_looks_fail_the_map_goes_on_and_says_so() {
    let (trial, hub) = scene().await;
    ready(&trial.remote, &mut event()).await.unwrap();
    for (at, fault) in [(2, true), (4, true), (6, false)] {
        minutes(&trial, at);
        hub.set(|hub| hub.fault = fault.then(|| (1000, "Traceback".to_owned())));
        let known = ready(&trial.remote, &mut event()).await.unwrap();
        assert_eq!(known.failed, fault.then_some(Reason::UpstreamFailed), "{at}");
        assert_eq!(known.checked, Millis(NOW + if fault { 0 } else { at * 60_000 }));
        assert!(known.map.place(FOLDER, KojiView::Now).is_ok());
    }
}

#[tokio::test]
async fn a_tag_that_the_hub_deleted_keeps_its_builds_and_is_told() {
    let (trial, hub) = scene().await;
    ready(&trial.remote, &mut event()).await.unwrap();
    hub.set(|hub| hub.has_tag = false);
    for at in [2, 4] {
        minutes(&trial, at);
        let asked = Asked::ready(&trial.remote, &mut event()).await.unwrap();
        assert!(asked.known.map.place(FOLDER, KojiView::Now).is_ok());
        let figures = trial.remote.repository.koji_figures().unwrap();
        assert_eq!((figures.failure, figures.builds), (Some(Reason::UpstreamFailed), 1));
        assert!(explained::state(&asked).contains("looks fail since then: upstream_failed"));
    }
    hub.set(|hub| hub.has_tag = true);
    minutes(&trial, 6);
    assert_eq!(ready(&trial.remote, &mut event()).await.unwrap().failed, None);
}

#[tokio::test]
async fn a_build_whose_file_is_missing_is_asked_about_once_in_a_minute() {
    let (trial, hub) = scene().await;
    let remote = &trial.remote;
    ready(remote, &mut event()).await.unwrap();
    hub.rounds();
    let ask = || async { moved(remote, BuildId(1), &mut event()).await.unwrap() };
    assert!(matches!(ask().await, Moved::Same));
    hub.set(|hub| hub.volume = "fast".to_owned());
    assert!(matches!(ask().await, Moved::Same));
    assert_eq!(hub.rounds(), [1]);
    minutes(&trial, 1);
    let Moved::To(known) = ask().await else { panic!() };
    assert_eq!(known.map.place(FOLDER, KojiView::Now).unwrap().volume, "fast");
    hub.set(|hub| hub.volume = "../../etc".to_owned());
    minutes(&trial, 2);
    assert!(matches!(ask().await, Moved::Same), "no name leads out of the files");
    hub.set(|hub| (hub.volume, hub.is_deleted) = ("fast".to_owned(), true));
    minutes(&trial, 3);
    let Moved::Deleted(known) = ask().await else { panic!() };
    assert!(known.map.place(FOLDER, KojiView::Now).unwrap().deleted);
}

#[tokio::test]
async fn after_a_start_a_look_at_an_idle_hub_is_one_call_and_one_at_a_changed_one_lists_it_once() {
    let (trial, hub) = scene().await;
    ready(&trial.remote, &mut event()).await.unwrap();
    for at in [20, 40] {
        minutes(&trial, at);
        ready(&trial.remote, &mut event()).await.unwrap();
    }
    hub.set(|hub| hub.builds.push((2, 30)));
    minutes(&trial, 42);
    ready(&trial.remote, &mut event()).await.unwrap();
    hub.rounds();
    for at in [43, 44, 200] {
        minutes(&trial, at);
        let again = trial.restarted();
        let known = ready(&again, &mut event()).await.unwrap();
        assert_eq!((hub.rounds().len(), known.map.totals().builds, known.failed), (1, 2, None), "{at}");
    }
    hub.set(|hub| hub.builds.push((3, 40)));
    let again = trial.restarted();
    let known = ready(&again, &mut event()).await.unwrap();
    assert_eq!((hub.rounds().len(), known.map.totals().builds), (3, 3));
    // All is read again within a day, and not at the start.
    minutes(&trial, 60 * 48);
    let again = trial.restarted();
    ready(&again, &mut event()).await.unwrap();
    assert_eq!(hub.rounds().len(), 1);
    minutes(&trial, 60 * 49 + 1);
    ready(&again, &mut event()).await.unwrap();
    assert_eq!(hub.rounds().len(), 2);
    minutes(&trial, 60 * 50);
    ready(&trial.restarted(), &mut event()).await.unwrap();
    assert_eq!(hub.rounds().len(), 1);
}

#[tokio::test]
async fn a_look_at_a_repository_that_was_removed_meanwhile_writes_nothing() {
    let (trial, hub) = scene().await;
    let (remote, store) = (&trial.remote, &trial.remote.remotes.store);
    let mut record = remote.repository.record.clone();
    record.removed = Some(Millis(NOW));
    let removed = Change::Repository { id: remote.repository.id, record: record.stored().unwrap() };
    hub.hold(true);
    let mut asked = event();
    let mut looked = Box::pin(ready(remote, &mut asked));
    assert!(begins_to_wait(looked.as_mut()).await);
    let batch = Author::SERVER.batch(Millis(NOW), Vec::new(), vec![removed]);
    store.commit(batch, &mut event()).await.unwrap();
    hub.hold(false);
    let looked = looked.await;
    assert!(matches!(looked, Err(Error::GivenUp)), "{looked:?}");
}

/// Lets a future begin. Returns whether it waits.
async fn begins_to_wait(mut future: std::pin::Pin<&mut (impl Future + ?Sized)>) -> bool {
    std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

#[tokio::test]
async fn other_settings_make_it_look_at_once_and_a_look_under_way_ends_with_the_former_ones() {
    let (trial, hub) = scene().await;
    ready(&trial.remote, &mut event()).await.unwrap();
    hub.rounds();
    let Remote { repository, .. } = &trial.remote;
    let mut record = repository.record.clone();
    record.remote.as_mut().and_then(|remote| remote.koji.as_mut()).unwrap().tags = vec!["other".to_owned()];
    let (id, stored, shared) = (repository.id, repository.stored.clone(), repository.shared.clone());
    let changed = Repository::new(id, record, stored, repository.format, shared);
    let changed = Remote { repository: Arc::new(changed), ..trial.remote.clone() };
    minutes(&trial, 2);
    // Both are under way together: one takes the turn after the other.
    let (mut one, mut other) = (event(), event());
    let (before, after) = tokio::join!(ready(&trial.remote, &mut one), ready(&changed, &mut other));
    before.unwrap();
    after.unwrap();
    follow::follow(&changed);
    let known = ready(&changed, &mut event()).await.unwrap();
    assert!(known.map.place(FOLDER, KojiView::Now).is_err(), "the tag is named no more");
    hub.rounds();
    ready(&changed, &mut event()).await.unwrap();
    assert_eq!(hub.rounds(), [0; 0]);
}
