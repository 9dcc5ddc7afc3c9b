//! Tests of the checks of clients: just below a threshold nothing is said, above it the client is named, and each guard silences it.

use super::super::check::{Check, Problem, Verdict};
use super::{cold_cache, half, never_conditional, new_connections, retry_storm, tight_loop};
use crate::signals::clients::ClientsSeen;
use crate::signals::clients::client::ClientTime;
use crate::signals::clients::loops::PAUSE;
use crate::signals::facts::{Facts, SettingFact};
use crate::signals::seen::Seen;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, EventId, Figures, Glance, Millis, Op, Outcome, Tick};

/// What happened, in a window that is the last five minutes and all of the last day.
struct Traffic {
    clients: ClientsSeen,
    now: u64,
}

impl Traffic {
    fn new() -> Self {
        Self { clients: ClientsSeen::default(), now: 1 }
    }

    /// A request of a client for a path, `after` the one before. `change` changes it.
    fn ask(&mut self, client: &str, path: &str, after: u64, change: impl FnOnce(&mut Event)) {
        self.now += after;
        let mut event = *Event::request(Millis(1), Tick(self.now));
        event.id = EventId(self.now);
        (event.method, event.status, event.outcome) = ("GET", 200, Some(Outcome::Answered));
        (event.client, event.subject.repository, event.agent) = (client.into(), "libs".into(), "curl/8.0".into());
        (event.path, event.subject.kind, event.duration) = (path.to_owned(), "artifact", 1_000_000);
        change(&mut event);
        let figures = Figures::of(&event);
        self.clients.see(&Glance::of(&event, &figures), crate::hash::hash_of(&[&event.path]));
    }

    fn seen(&self) -> Seen {
        let (mut seen, mut clients) = (Seen::default(), self.clients.clone());
        clients.blame();
        for window in [&mut seen.recent, &mut seen.hour, &mut seen.day] {
            window.length = Duration::from_secs(300);
            window.clients.add(&clients);
        }
        seen
    }
}

#[track_caller]
fn problems(check: &Check, seen: &Seen) -> Vec<Problem> {
    let Verdict::Looked(problems) = (check.look)(seen) else { panic!("{} needs more", check.key) };
    for problem in &problems {
        assert!(problem.guards.iter().all(|guard| guard.passed) && !problem.sentence.contains("  "), "{problem:?}");
    }
    problems
}

/// Builds of one client that download so many files each.
fn builds(builds: u64, files: u64, size: impl Fn(u64) -> u64) -> Traffic {
    let mut traffic = Traffic::new();
    for build in 0..builds {
        traffic.now += 60 * PAUSE;
        for file in 0..files {
            traffic.ask("192.0.2.1", &format!("/{file}.jar"), 1000, |event| {
                (event.bytes_out, event.agent) = (size(build), "Apache-Maven/3.8.7 (Java 17)".into());
            });
        }
    }
    traffic
}

#[test]
fn a_cold_cache_is_seen_from_the_third_build_on() {
    let warm = |builds_: u64, files: u64| problems(&cold_cache::CHECK, &builds(builds_, files, |_| 1_000_000).seen());
    assert_eq!((warm(2, 400), warm(3, 7), warm(3, 40)), (vec![], vec![], vec![]));
    let found = warm(4, 80).remove(0);
    assert_eq!((&*found.subject, found.changes.len()), ("client:192.0.2.1", 1));
    assert!(
        found.sentence.contains("Apache-Maven/3.8.7") && found.sentence.contains("keep `~/.m2/repository`"),
        "{}",
        found.sentence
    );
    assert!(found.event.is_some() && found.lost.hourly_s > 0.1);
}

#[test]
fn files_that_change_and_popular_files_are_no_cold_cache() {
    assert_eq!(problems(&cold_cache::CHECK, &builds(4, 80, |build| build).seen()), []);
    let mut popular = builds(1, 40, |_| 500);
    for file in 0..40 {
        (0..3 + file * file)
            .for_each(|_| popular.ask("192.0.2.1", &format!("/{file}.jar"), 1000, |event| event.bytes_out = 500));
    }
    assert_eq!(problems(&cold_cache::CHECK, &popular.seen()), []);
}

/// So many requests for one path, and so many for others.
fn looping(same: u64, others: u64, after: u64) -> Traffic {
    let mut traffic = Traffic::new();
    (0..same).for_each(|_| traffic.ask("192.0.2.1", "/repository/libs/a", after, |_| {}));
    (0..others).for_each(|other| traffic.ask("192.0.2.1", &format!("/{other}"), after, |_| {}));
    traffic
}

#[test]
fn a_tight_loop_is_seen_from_ten_requests_a_second_for_a_minute_on() {
    let loops = |traffic: &Traffic| problems(&tight_loop::CHECK, &traffic.seen());
    assert_eq!(loops(&looping(600, 0, 1000)), []);
    let found = loops(&looping(602, 0, 1000)).remove(0);
    assert_eq!(found.subject, "client:192.0.2.1");
    assert!(found.sentence.contains("asked for `/repository/libs/a` 602 times"), "{}", found.sentence);
    assert_eq!((loops(&looping(2000, 0, 2 * PAUSE)), loops(&looping(2000, 2001, 1000))), (vec![], vec![]));
}

#[test]
fn a_loop_of_many_programs_or_one_that_costs_nothing_beside_the_others_is_not_told() {
    let loops = |traffic: &Traffic| problems(&tight_loop::CHECK, &traffic.seen());
    let mut network = Traffic::new();
    for number in 0..2000 {
        network
            .ask("192.0.2.1", "/repository/libs/a", 1000, |event| event.agent = format!("curl/{}", number % 4).into());
    }
    assert_eq!(loops(&network), []);
    let mut beside = looping(700, 0, 1000);
    beside.clients.all.add(&ClientTime { requests: 10_000, nanos: 100_000_000_000, ..ClientTime::default() });
    assert_eq!(loops(&beside), []);
    // Failures are another finding.
    let mut failing = Traffic::new();
    (0..2000).for_each(|_| failing.ask("192.0.2.1", "/a", 1000, |event| event.outcome = Some(Outcome::Failed)));
    assert_eq!(loops(&failing), []);
}

/// A client that reads one list of so many bytes again and again.
fn lists(times: u64, bytes: impl Fn(u64) -> u64) -> Traffic {
    let mut traffic = Traffic::new();
    for time in 0..times {
        traffic.ask("192.0.2.1", "/repository/gems/versions", 10 * PAUSE, |event| {
            (event.subject.kind, event.bytes_out) = ("versions", bytes(time));
        });
    }
    traffic
}

#[test]
fn lists_that_are_read_whole_again_are_seen_by_their_number_or_their_bytes() {
    let found = |traffic: &Traffic| problems(&never_conditional::CHECK, &traffic.seen());
    assert_eq!((found(&lists(100, |_| 500)), found(&lists(19, |_| 5_000_000))), (vec![], vec![]));
    let told = found(&lists(101, |_| 500)).remove(0).sentence;
    assert!(told.contains("curl/8.0") && told.contains("--etag-compare"), "{told}");
    assert_eq!(found(&lists(21, |_| 600_000)).len(), 1);
    assert_eq!(found(&lists(200, |time| time)), [], "they changed");
    let mut sometimes = lists(200, |_| 500);
    sometimes.ask("192.0.2.1", "/repository/gems/versions", 1, |event| {
        (event.subject.kind, event.outcome) = ("versions", Some(Outcome::NotModified));
    });
    assert_eq!(found(&sometimes), []);
}

/// So many clients that ask for a failing path so often, so long after the failure before.
fn storm(clients: u64, times: u64, after: u64) -> Traffic {
    let mut traffic = Traffic::new();
    for client in 0..clients {
        for _ in 0..times {
            traffic.ask(&format!("192.0.2.{client}"), "/repository/libs/a", after, |event| {
                (event.status, event.outcome, event.duration) = (502, Some(Outcome::Failed), 2_000_000);
            });
        }
    }
    traffic
}

#[test]
fn retries_without_a_pause_are_seen_of_one_client_or_of_many() {
    let found = |traffic: &Traffic| problems(&retry_storm::CHECK, &traffic.seen());
    assert_eq!((found(&storm(1, 50, 1)), found(&storm(4, 30, 1)), found(&storm(5, 10, 1))), (vec![], vec![], vec![]));
    assert_eq!(found(&storm(1, 51, 1))[0].subject, "client:192.0.2.0");
    let many = found(&storm(5, 20, 1)).remove(0);
    assert_eq!(many.subject, "repository:libs");
    assert!(many.sentence.starts_with("5 clients") && many.lost.by_repository.contains_key("libs"), "{many:?}");
    assert_eq!(found(&storm(6, 100, 2 * PAUSE)), [], "they wait");
}

/// One client that works so long, and another one that waits so long.
fn two(work: u64, waited: u64, shed: bool) -> Traffic {
    let mut traffic = Traffic::new();
    traffic.ask("192.0.2.1", "/a", 1, |event| {
        event.duration = work;
        event.add(Op::IndexRender, work);
    });
    traffic.ask("192.0.2.2", "/b", 1, |event| {
        event.duration = 1_000_000_000 + waited;
        event.add(Op::IndexRender, 1_000_000_000);
        event.add(Op::WorkWait, waited);
        event.outcome = shed.then_some(Outcome::Shed);
    });
    traffic
}

#[test]
fn one_client_that_takes_half_is_seen_while_others_wait() {
    const S: u64 = 1_000_000_000;
    let found = |traffic: &Traffic| {
        let mut seen = traffic.seen();
        let setting =
            SettingFact { key: "server.client_share_percent".into(), number: Some(50), ..SettingFact::default() };
        seen.facts = Arc::new(Facts { settings: vec![setting], ..Facts::default() });
        problems(&half::CHECK, &seen)
    };
    assert_eq!((found(&two(2 * S, 4 * S, true)).len(), found(&two(2 * S, 4 * S, false)).len()), (1, 0));
    assert_eq!(found(&two(S / 2, 50 * S, false)), [], "the one that waits works most");
    let told = found(&two(3 * S, 6 * S, false)).remove(0);
    assert_eq!((&*told.subject, told.lost.recent_s), ("client:192.0.2.1", 6.0));
    assert_eq!(told.changes[0].to, Some(json!(25)));
    assert_eq!(found(&two(3 * S, 0, false)), []);
}

#[test]
fn connections_of_one_request_are_seen_by_their_handshakes() {
    let found = |connections: u64, others: u64, nanos: u64| {
        let mut traffic = Traffic::new();
        (0..connections).for_each(|_| traffic.ask("192.0.2.1", "/a", 1, |event| event.add(Op::TlsHandshake, nanos)));
        (0..others).for_each(|_| traffic.ask("192.0.2.1", "/a", 1, |_| {}));
        problems(&new_connections::CHECK, &traffic.seen()).len()
    };
    assert_eq!((found(120, 0, 50_000_000), found(99, 0, 60_000_000)), (1, 0));
    assert_eq!((found(120, 40, 50_000_000), found(120, 0, 30_000_000)), (0, 0));
}
