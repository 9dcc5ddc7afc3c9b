//! The limits of work: downloads and calls to upstreams, waiting requests, merges, copies of pages, and recent events.

use super::Figures;
use crate::world::{Connection, FIRST, Says, Upstream, World, await_true};
use serde_json::json;
use telemetry::BoundName;

/// Sends a request and does not wait for its answer.
fn begin(world: &World, path: &str) -> Connection {
    let mut connection = Connection::open(world.address()).unwrap();
    connection.send(format!("GET /repository/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    connection
}

/// Waits until this much of a bound is used.
#[track_caller]
fn await_used(world: &World, name: BoundName, used: f64) -> Figures {
    for _ in 0..10_000 {
        let figures = Figures::of(world);
        if figures.bound(name, "").used == used {
            return figures;
        }
        std::thread::yield_now();
    }
    panic!("{name:?}: {:?}", Figures::of(world).bound(name, ""))
}

#[test]
fn downloads_calls_and_waiting_requests_beyond_their_limits_are_rejected() {
    let world = World::start_with_file("[server]\nmax_waiting = 40\n[upstream]\nmax_fetches = 8\nmax_calls = 1\n");
    let upstream = Upstream::start();
    upstream.says_otherwise(Says::bytes("bytes").silent());
    (0..9).for_each(|number| world.remote_of("raw", &format!("r{number}"), &upstream.url()));
    let mut held: Vec<Connection> = (0..8).map(|number| begin(&world, &format!("r{number}/a/file"))).collect();
    await_used(&world, BoundName::Flights, 8.0);
    // A download begins before its call.
    await_true("the upstream is asked", || !upstream.asked().is_empty());
    let (name, which) = (BoundName::UpstreamCalls, Figures::of(&world).number_of(&upstream));
    let waiting = format!("bound_waiting{{bound=\"upstream.calls\",which=\"{which}\"}}");
    let figures = (0..10_000).map(|_| Figures::of(&world)).find(|figures| figures.value(&waiting) >= 1.0).unwrap();
    let calls = figures.governed(name, &which, "upstream.max_calls").bound(name, &which);
    assert!(calls.used == calls.limit, "{calls:?}");
    world.anon().file("r8", "a/file").expect(503);
    world.anon().file("r0", "a/other").expect(503);
    // A client has a quarter of the places for waiting requests.
    held.extend([0, 1].map(|number| begin(&world, &format!("r{number}/a/file"))));
    await_used(&world, BoundName::ClientWaiters, 10.0);
    world.anon().file("r2", "a/file").expect(503);
    let figures = Figures::of(&world);
    for (name, setting) in [
        (BoundName::Flights, "upstream.max_fetches"),
        (BoundName::RepositoryFlights, "upstream.max_fetches"),
        (BoundName::ClientWaiters, "server.max_waiting"),
    ] {
        let bound = figures.governed(name, "", setting).bound(name, "");
        assert!(bound.used == bound.limit && bound.rejected >= 1.0, "{name:?}: {bound:?}");
    }
    drop(held);
}

#[test]
fn an_idle_connection_to_an_upstream_fills_its_place() {
    let (world, upstream) = (World::start_with_file("[upstream]\nmax_calls = 1\n"), Upstream::start());
    upstream.file("/a/file", "bytes");
    world.remote_of("raw", "far", &upstream.url());
    world.anon().file("far", "a/file").expect(200);
    let name = BoundName::UpstreamKept;
    let which = Figures::of(&world).number_of(&upstream);
    // The connection becomes idle a moment after the last byte.
    let kept = (0..10_000).map(|_| Figures::of(&world).bound(name, &which)).find(|kept| kept.used == 1.0);
    assert_eq!(kept.unwrap_or_else(|| panic!("no connection is kept")).limit, 1.0);
    Figures::of(&world).governed(name, &which, "upstream.max_calls");
}

#[test]
fn a_merge_that_does_not_fit_is_rejected() {
    let world = World::start_with_file("[server]\nmerging_bytes = 1_048_576\n");
    let mut upstreams = Vec::new();
    for name in ["near", "far"] {
        let upstream = Upstream::start();
        let versions: String = (0..24_000).map(|number| format!("<version>{number}.{name}</version>\n")).collect();
        let document = format!(
            "<metadata><groupId>org</groupId><artifactId>lamp</artifactId><versioning><versions>{versions}</versions></versioning></metadata>"
        );
        upstream.file("/org/lamp/maven-metadata.xml", document);
        world.remote_of("maven", name, &upstream.url());
        upstreams.push(upstream);
    }
    world.make(&json!({ "name": "all", "format": "maven", "kind": "group", "members": ["near", "far"] }));
    world.anon().file("all", "org/lamp/maven-metadata.xml").expect(503);
    let bound =
        Figures::of(&world).governed(BoundName::Merging, "", "server.merging_bytes").bound(BoundName::Merging, "");
    assert_eq!(bound.rejected, 1.0, "{bound:?}");
}

#[test]
fn copies_of_pages_and_recent_events_fill_their_places() {
    let settings =
        "[server]\ncores = 1\npages_bytes = 134_217_728\npage_files = 1\n[telemetry]\nevents_recent_bytes = 65_536\n";
    let (world, upstream) = (World::start_with_file(settings), Upstream::start());
    world.remote_of("raw", "far", &upstream.url());
    for number in 0..2 {
        upstream.file(&format!("/a/{number}"), vec![number; 50_000]);
        // The first request fetches the file, the second makes the page, and the third makes its copy.
        (0..3).for_each(|_| drop(world.anon().file("far", &format!("a/{number}")).expect(200)));
    }
    // All of these events come from one thread, so they are stored in their order, and the last one evicts the first ones.
    world.make(&json!({ "name": "near", "format": "raw", "kind": "hosted" }));
    let missing = |number: u32| world.anon().file("near", &format!("b/{number}")).expect(404);
    (1..100).for_each(|number| drop(missing(number)));
    let last = missing(100);
    // A look-up of an event waits until all earlier ones are stored.
    world.event(last.header("daylight-event").unwrap());
    let figures = Figures::of(&world);
    let copies = figures.governed(BoundName::PageFiles, "", "server.page_files").bound(BoundName::PageFiles, "");
    assert!(copies.used == copies.limit && copies.rejected >= 1.0, "{copies:?}");
    let name = BoundName::RecentEvents;
    let recent = figures.governed(name, "", "telemetry.events_recent_bytes").bound(name, "");
    assert!(recent.used > recent.limit / 4.0 && recent.used <= recent.limit, "{recent:?}");
}

/// Sends requests whose events are kept, until there is a file of kept events whose name ends so.
fn keep_until(world: &World, end: &str) {
    let (anon, mut round) = (world.anon(), 0);
    while !world.kept_events().iter().any(|path| path.to_str().unwrap().ends_with(end)) {
        assert!(round < 1000, "{:?}", world.kept_events());
        round += 1;
        for number in 0..100 {
            anon.get(&format!("/repository/{FIRST}/info/{:032x}", round * 1000 + number)).expect(404);
        }
    }
}

#[test]
fn kept_events_fill_their_memory_until_they_are_in_a_segment() {
    let world = World::start_with_file("[telemetry]\nkeep_memory_bytes = 1_048_576\nstored_per_second = 100_000\n");
    keep_until(&world, ".parquet");
    let name = BoundName::OpenEvents;
    let memory = Figures::of(&world).governed(name, "", "telemetry.keep_memory_bytes").bound(name, "");
    assert!(memory.peak > memory.limit / 2.0 && memory.peak <= memory.limit && memory.rejected == 0.0, "{memory:?}");
}

#[test]
fn kept_events_fill_their_disk_and_the_oldest_are_thinned() {
    let world = World::start_with_file("[telemetry]\nkeep_bytes = 262_144\nstored_per_second = 100_000\n");
    keep_until(&world, "_1.parquet");
    let name = BoundName::KeptEvents;
    let disk = Figures::of(&world).governed(name, "", "telemetry.keep_bytes").bound(name, "");
    assert!(disk.peak > disk.limit && disk.used > disk.limit / 2.0, "{disk:?}");
}

#[test]
fn a_partial_answer_occupies_its_place_until_another_question_needs_it() {
    let world = World::start_with_file("[server]\nmax_asks = 1\n");
    let ask = |question: &serde_json::Value| world.admin().post_json("/api/v1/ask", question);
    let part = ask(&json!({ "wait_ms": 0 })).expect(200).json();
    let asks = Figures::of(&world).governed(BoundName::Asks, "", "server.max_asks").bound(BoundName::Asks, "");
    assert!(asks.used == 1.0 && asks.limit == 1.0, "{asks:?} {part}");
    assert_eq!(ask(&json!({ "wait_ms": 30_000 })).expect(200).json()["complete"], 1.0);
    ask(&json!({ "next": part["next"] })).expect(404);
}
