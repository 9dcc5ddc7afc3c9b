//! Gem indexes filtered by a policy, or as of a moment: rendered once for all concurrent requests, and within bounds
//! for any requests. The test counts, and never measures time.

use crate::accounts::{settled, sum};
use crate::world::{FIRST, Gem, Index, World};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The answers that are rendered from rows, each with the number of its parts.
const PATHS: &[(&str, u64)] = &[
    ("versions", 1),
    ("names", 1),
    ("info/lamp", 1),
    ("specs.4.8.gz", 1),
    ("latest_specs.4.8.gz", 1),
    ("api/v1/dependencies?gems=lamp,oil,wick", 3),
    ("api/v1/versions/lamp.json", 1),
    ("api/v1/gems/oil.json", 1),
];
/// Number of clients that send the same request concurrently.
const CROWD: usize = 8;

/// A metric after all work has ended.
fn metric(world: &World, name: &str) -> u64 {
    settled(world);
    sum(world.anon().get("/metrics").expect(200).text(), name)
}

/// How often something was rendered.
fn rendered(world: &World) -> u64 {
    metric(world, "daylight_op_duration_seconds_count{op=\"index.render\"}")
}

/// A figure of a bound. `unit` is the end of the metric's name.
fn bound(world: &World, figure: &str, (name, which, unit): (&str, &str, &str)) -> u64 {
    metric(world, &format!("daylight_bound_{figure}{unit}{{bound=\"{name}\",which=\"{which}\"}}"))
}

const KEPT: (&str, &str, &str) = ("views", "", "_bytes");
const MADE: (&str, &str, &str) = ("views.made", "", "");
const PLACES: (&str, &str, &str) = ("requests", "dynamic_index", "");

fn last_change(world: &World) -> u64 {
    metric(world, "daylight_journal_seq")
}

/// Requests a path of each of these repositories concurrently. Every client gets the same answer.
fn all_ask(world: &World, repositories: &[String], path: &str) {
    let anon = &world.anon();
    let said = std::thread::scope(|scope| {
        let crowd: Vec<_> = repositories.iter().cycle().take(CROWD.max(repositories.len())).collect();
        let asking: Vec<_> =
            crowd.into_iter().map(|name| scope.spawn(move || anon.file(name, path).expect(200).body)).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(said.iter().all(|body| *body == said[0]), "{path}");
}

fn shop(world: &World) {
    for (name, version) in [("lamp", "1.0.0"), ("lamp", "2.0.0"), ("oil", "1.0.0"), ("wick", "1.0.0")] {
        world.admin().push(FIRST, &Gem::new(name, version)).expect(200);
    }
}

#[test]
fn what_a_policy_shows_is_made_once_for_all_who_ask_until_something_changes() {
    let world = World::start();
    shop(&world);
    let deny = |what: &str| {
        world.change(FIRST, &json!({ "policy": { "deny": [what] } }));
    };
    let asked = |times: u64| {
        for (path, parts) in PATHS {
            let before = rendered(&world);
            all_ask(&world, &[FIRST.to_owned()], path);
            assert_eq!(rendered(&world) - before, parts * times, "{path}");
        }
    };
    deny("lamp:2.*");
    asked(1);
    asked(0);
    world.admin().push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    let before = rendered(&world);
    all_ask(&world, &[FIRST.to_owned()], "versions");
    all_ask(&world, &[FIRST.to_owned()], "info/lamp");
    assert_eq!(rendered(&world) - before, 2);
    deny("lamp:1.*");
    asked(1);
    let offered = Index::read(&world.anon(), FIRST).offered;
    assert_eq!(offered.keys().filter(|(name, _)| name == "lamp").count(), 1, "{offered:?}");
}

#[test]
fn all_moments_between_two_changes_of_a_repository_share_what_is_made_for_one() {
    let world = World::start();
    shop(&world);
    let first = last_change(&world);
    // Something else changes, and the clock advances.
    for name in ["ci", "dev", "bot"] {
        world.admin().post_json("/api/v1/tokens", &json!({ "name": name, "scopes": ["write"] })).expect(201);
    }
    let last = last_change(&world);
    let now = jiff::Timestamp::now();
    while jiff::Timestamp::now().as_millisecond() <= now.as_millisecond() {
        std::thread::yield_now();
    }
    world.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    let mut moments: Vec<String> = (first..=last).map(|seq| format!("{FIRST}@seq-{seq}")).collect();
    moments.push(format!("{FIRST}@{now}"));
    assert_eq!(moments.len(), 5);
    // Links to gems contain the name of the moment from the URL.
    for (path, parts) in PATHS.iter().filter(|(path, _)| !path.starts_with("api/v1/gems/")) {
        let before = rendered(&world);
        all_ask(&world, &moments, path);
        all_ask(&world, &moments, path);
        assert_eq!(rendered(&world) - before, *parts, "{path}");
    }
    let offered = Index::read(&world.anon(), &moments[0]).offered;
    assert_eq!(offered.len(), 4, "{offered:?}");
}

#[test]
fn a_flood_of_moments_takes_no_more_memory_and_places_than_there_are_and_is_told_to_come_again() {
    const ROOM: u64 = 64 << 10;
    let world = World::start_with(&[("DAYLIGHT_SERVER_VIEWS_BYTES", "65536"), ("DAYLIGHT_SERVER_MAX_INDEXES", "3")]);
    shop(&world);
    let first = last_change(&world);
    for patch in 0..60 {
        world.admin().push(FIRST, &Gem::new("lamp", &format!("3.0.{patch}"))).expect(200);
    }
    let moments = first..last_change(&world);
    let (made, refused, anon) = (AtomicU64::new(0), AtomicU64::new(0), world.anon());
    std::thread::scope(|scope| {
        for at in 0..CROWD as u64 {
            let (anon, moments, made, refused) = (&anon, moments.clone(), &made, &refused);
            scope.spawn(move || {
                // Repeatedly, each client beginning with another moment.
                let count = moments.end - moments.start;
                let connection = &mut anon.connect().unwrap();
                for step in 0.. {
                    let seq = moments.start + (step + at * 7) % count;
                    let path = format!("/repository/{FIRST}@seq-{seq}/info/lamp?{step}");
                    let path = if step % 2 == 0 { path.replace("info/lamp", "versions") } else { path };
                    let answer = anon.on(connection, "GET", &path, &[], b"").unwrap();
                    if answer.status == 503 {
                        assert_eq!(answer.header("retry-after"), Some("1"));
                        refused.fetch_add(1, SeqCst);
                    } else {
                        answer.expect(200);
                        made.fetch_add(1, SeqCst);
                    }
                    if (made.load(SeqCst) > count && refused.load(SeqCst) > 0) || step == 100_000 {
                        break;
                    }
                }
            });
        }
    });
    assert!(refused.load(SeqCst) > 0 && made.load(SeqCst) > 0, "{made:?} were answered, {refused:?} refused");
    let used = bound(&world, "peak", KEPT);
    assert!((1..=ROOM).contains(&used), "{used} bytes");
    assert!((1..=3).contains(&bound(&world, "peak", MADE)));
    assert_eq!(bound(&world, "used", MADE), 0);
    assert!(bound(&world, "peak", PLACES) <= 3);
}

#[test]
fn what_every_one_sees_is_no_view() {
    let world = World::start();
    shop(&world);
    for (path, _) in PATHS {
        all_ask(&world, &[FIRST.to_owned()], path);
    }
    assert_eq!(bound(&world, "peak", KEPT), 0);
    assert!(bound(&world, "limit", KEPT) > 0 && bound(&world, "peak", PLACES) > 0, "they are told of");
    assert_eq!(metric(&world, "daylight_op_duration_seconds_count{op=\"view.wait\"}"), 0);
}
