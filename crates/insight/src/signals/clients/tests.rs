//! Tests of the figures of clients.

use super::client::ClientSeen;
use super::loops::PAUSE;
use super::{CLIENTS_MAX, ClientsSeen};
use crate::hash::hash_of;
use telemetry::{Event, EventId, Figures, Glance, Millis, Op, Outcome, Tick};

/// A request of a client for a path of a repository.
pub(crate) fn request(client: &str, path: &str) -> Event {
    let mut event = *Event::request(Millis(1), Tick(1));
    event.id = EventId(1);
    (event.method, event.status, event.outcome) = ("GET", 200, Some(Outcome::Answered));
    (event.client, event.subject.repository) = (client.into(), "libs".into());
    (event.path, event.subject.kind, event.duration) = (path.to_owned(), "artifact", 1000);
    event
}

fn see(seen: &mut ClientsSeen, event: &Event) -> bool {
    let figures = Figures::of(event);
    seen.see(&Glance::of(event, &figures), hash_of(&[&event.path]))
}

fn of<'a>(seen: &'a ClientsSeen, address: &str) -> &'a ClientSeen {
    seen.iter().find(|client| *client.address == *address).unwrap()
}

#[test]
fn files_that_were_downloaded_again_are_known_across_windows() {
    let mut sum = ClientsSeen::default();
    for build in 0..3 {
        let mut window = ClientsSeen::default();
        for file in 0..40 {
            let mut event = request("192.0.2.1", &format!("/repository/libs/{file}.jar"));
            (event.bytes_out, event.began) = (500, Tick(build * 100_000_000_000));
            see(&mut window, &event);
        }
        sum.add(&window);
    }
    let client = of(&sum, "192.0.2.1");
    assert_eq!((client.downloads.count, client.downloads.bytes), (120, 60_000));
    assert_eq!(client.files.paths().len(), 16);
    assert!(client.files.paths().iter().all(|path| (path.count, path.same, path.soon) == (3, 2, 0)));
}

#[test]
fn a_path_that_is_asked_for_again_at_once_is_a_loop_and_one_with_pauses_is_none() {
    let mut seen = ClientsSeen::default();
    for turn in 0..100 {
        let mut event = request("192.0.2.1", "/repository/libs/a");
        event.began = Tick(1 + turn * 1_000_000);
        see(&mut seen, &event);
        // Others between them take places in turn.
        event.path = format!("/repository/libs/{turn}");
        see(&mut seen, &event);
        let mut slow = request("192.0.2.2", "/repository/libs/a");
        slow.began = Tick(1 + turn * 2 * PAUSE);
        see(&mut seen, &slow);
    }
    let fast = of(&seen, "192.0.2.1").loops.fastest().unwrap();
    assert_eq!((fast.count(), fast.early, &*fast.path), (100, 99, "/repository/libs/a"));
    assert_eq!(&*fast.repository, "libs");
    let slow = of(&seen, "192.0.2.2").loops.fastest().unwrap();
    assert_eq!((slow.count(), slow.early), (100, 0));
}

#[test]
fn answers_without_content_failures_agents_and_work_are_counted_apart() {
    let mut seen = ClientsSeen::default();
    let mut event = request("192.0.2.1", "/repository/gems/versions");
    (event.subject.kind, event.bytes_out) = ("versions", 70);
    event.agent = "bundler/2.6.1 rubygems/3.6 command/install ci/ci 0123456789abcdef".into();
    event.add(Op::TruthRead, 30);
    event.add(Op::TruthWait, 20);
    see(&mut seen, &event);
    event.agent = "bundler/2.6.1 rubygems/3.6 command/install ci/ci 1123456789abcdef".into();
    assert!(see(&mut seen, &event), "the first one that was asked for again");
    event.outcome = Some(Outcome::NotModified);
    see(&mut seen, &event);
    event.outcome = Some(Outcome::Shed);
    see(&mut seen, &event);
    let client = of(&seen, "192.0.2.1");
    assert_eq!((client.documents.count, client.current, client.agents.len()), (2, 1, 1), "{client:?}");
    assert_eq!((client.lists.paths()[0].same, client.failing.fastest().unwrap().count()), (1, 1));
    assert_eq!((client.time.work, client.time.waited, client.time.shed), (3920, 80, 1));
    assert_eq!(&*client.agent, "bundler/2.6.1 rubygems/3.6 command/install ci/ci");
    assert_eq!(seen.all, client.time);
}

#[test]
fn of_very_many_clients_the_busiest_stay() {
    let mut seen = ClientsSeen::default();
    for number in 0..3 * CLIENTS_MAX {
        let mut event = request(&format!("10.0.{}.{}", number / 250, number % 250), "/repository/libs/a");
        if number == 5 {
            event.duration = 1_000_000_000;
        }
        see(&mut seen, &event);
    }
    assert!(seen.iter().count() <= CLIENTS_MAX);
    assert_eq!((of(&seen, "10.0.0.5").requests, seen.all.requests), (1, 3 * CLIENTS_MAX as u64));
    let mut sum = ClientsSeen::default();
    (0..3).for_each(|_| sum.add(&seen));
    assert_eq!((of(&sum, "10.0.0.5").requests, sum.all.requests), (3, 9 * CLIENTS_MAX as u64));
}

#[test]
fn a_client_that_takes_half_of_the_work_is_blamed_for_the_waits_of_others() {
    let mut seen = ClientsSeen::default();
    see(&mut seen, &request("192.0.2.1", "/repository/libs/a"));
    let mut waits = request("192.0.2.2", "/repository/libs/b");
    waits.add(Op::TruthWait, 900);
    see(&mut seen, &waits);
    seen.blame();
    let mut sum = ClientsSeen::default();
    (0..3).for_each(|_| sum.add(&seen));
    assert_eq!(["192.0.2.1", "192.0.2.2"].map(|address| of(&sum, address).blamed), [(2700, 0), (0, 0)]);
    sum.blame();
    assert_eq!(of(&sum, "192.0.2.1").blamed, (2700, 0));
}
