//! Findings about caches and memory, made by real faults: lists and files of which too few fit into a cache, changes that make entries
//! outdated, a slow disk, connections without end.

mod curves;
pub(crate) mod load;

use crate::world::{FIRST, Upstream, World, eventually};
use load::{Load, Zipf};
use serde_json::{Value, json};

/// A server whose clock is set, with these settings.
fn world(settings: &str) -> World {
    let mut world = World::stopped_in_conformance();
    world.configure(settings);
    world.resume();
    world.set_time("2026-11-01T12:00:00Z");
    world
}

/// The findings after a look now and another one more than five minutes later, by the clock.
fn findings(world: &World, hour: u32) -> Vec<Value> {
    // It has ended, and so have those before it. No page answers it, which would be a hit of the cache of pages.
    let last = world.anon().get(&format!("/repository/{FIRST}/info/none-{hour}"));
    world.event(last.header("Daylight-Event").unwrap());
    let (day, hour) = (2 + hour / 24, hour % 24);
    world.set_time(&format!("2026-11-{day:02}T{hour:02}:00:00Z"));
    world.findings();
    world.set_time(&format!("2026-11-{day:02}T{hour:02}:06:00Z"));
    world.findings()
}

/// The finding of this id, which is open, and whose question and event can be asked for.
#[track_caller]
fn open<'a>(world: &World, found: &'a [Value], id: &str) -> &'a Value {
    let finding = found.iter().find(|finding| finding["id"] == id && finding["state"] == "open");
    let finding = finding.unwrap_or_else(|| panic!("{id} is not open: {found:#?}"));
    let mut question = finding["evidence"].clone();
    // The clock was set meanwhile.
    (question["from"], question["to"]) = (json!("2026-11-01T00:00:00Z"), json!("2026-12-01T00:00:00Z"));
    let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
    assert!(!answer["rows"].as_array().unwrap().is_empty(), "{question}: {answer}");
    if let Some(event) = finding["event"].as_str() {
        world.event(event);
    }
    finding
}

/// The findings after so many rounds of traffic that the one of this id opens: on a fast machine each round costs clients little.
#[track_caller]
fn until_open(world: &World, id: &str, mut round: impl FnMut()) -> Vec<Value> {
    let mut hour = 1;
    eventually(|| {
        round();
        hour += 1;
        let found = findings(world, hour);
        let is_open = found.iter().any(|finding| finding["id"] == id && finding["state"] == "open");
        if is_open { Ok(found) } else { Err(format!("{id} is not open: {found:#?}")) }
    })
}

/// Nothing is said about caches and memory.
#[track_caller]
fn silent(found: &[Value]) {
    let about = |finding: &&Value| {
        let subject = finding["subject"].as_str().unwrap();
        ["cache:", "pool:truth", "bound:", "job:forget"].iter().any(|kind| subject.starts_with(kind))
    };
    assert_eq!(found.iter().filter(about).collect::<Vec<_>>(), Vec::<&Value>::new());
}

/// `files` files of 8 KiB, each in `groups` groups, so that there are a page for each file and group. Returns their paths.
pub(crate) fn pages(world: &World, files: usize, groups: usize) -> Vec<String> {
    let admin = world.admin();
    world.tree("files", "raw");
    for file in 0..files {
        admin.put("files", &format!("f/{file}"), &format!("{file} ").repeat(4000).as_bytes()[..8000]).expect(201);
    }
    let groups: Vec<String> = (0..groups).map(|number| format!("g{number}")).collect();
    for group in &groups {
        world.make(&json!({ "name": group, "format": "raw", "kind": "group", "members": ["files"] }));
    }
    let paths = groups.iter().flat_map(|group| (0..files).map(move |file| format!("/repository/{group}/f/{file}")));
    paths.collect()
}

const SMALL_PAGES: &str = "[server]\npages_bytes = 1_048_576\n";
/// About as many pages of 8 KiB fit.
const FIT: usize = 100;

#[test]
fn a_cache_of_pages_that_evicts_what_is_asked_for_again_is_too_small() {
    let world = world(SMALL_PAGES);
    let paths = pages(&world, 50, 20);
    let load = Load::new(&world.anon(), 16);
    // All of them fit.
    load.ask(&Zipf::new(&paths[..FIT * 8 / 10]), 1500);
    silent(&findings(&world, 0));
    let id = "cache-too-small@cache:pages";
    let found = until_open(&world, id, || load.ask(&Zipf::new(&paths[..FIT * 3 / 2]), 1500));
    let change = &open(&world, &found, id)["changes"][0];
    let to = change["to"].as_u64().unwrap();
    assert_eq!((change["setting"].as_str(), change["from"].as_u64()), (Some("server.pages_bytes"), Some(1 << 20)));
    assert!((5 << 18..6 << 20).contains(&to), "{change}");
    let found = until_open(&world, id, || load.ask(&Zipf::new(&paths), 5000));
    // A busy machine is told, too.
    let first = found.iter().find(|finding| finding["subject"] != "server");
    assert_eq!(first.unwrap()["id"], id, "{found:#?}");
    let to = open(&world, &found, id)["changes"][0]["to"].as_u64().unwrap();
    assert!((10 << 20..40 << 20).contains(&to), "{found:#?}");
}

/// The requests that no page answered.
fn misses(world: &World) -> u64 {
    let where_ = json!([["kind", "=", "request"], ["layer", "=", "group"]]);
    let question = json!({ "from": "2026-11-01T00:00:00Z", "to": "2026-12-01T00:00:00Z", "where": where_ });
    world.admin().post_json("/api/v1/ask", &question).expect(200).json()["rows"][0]["count"].as_u64().unwrap()
}

#[test]
fn the_advised_size_of_the_cache_of_pages_loses_hardly_more_than_any_other() {
    let sweeps = std::env::var_os("DAYLIGHT_SWEEPS").is_some();
    let (files, groups, asked) = if sweeps { (70, 100, 60_000) } else { (50, 6, 2000) };
    let sizes: &[u64] = if sweeps { &[1, 4, 16, 32, 64, 96, 128, 256] } else { &[1, 16] };
    let id = "cache-too-small@cache:pages";
    let run = |bytes: u64| {
        let world = world(&format!("[server]\npages_bytes = {bytes}\n"));
        let paths = pages(&world, files, groups);
        let load = Load::new(&world.anon(), 16);
        load.ask(&Zipf::new(&paths), asked);
        let before = misses(&world);
        load.ask(&Zipf::new(&paths), asked);
        let missed = misses(&world) - before;
        // The smallest size is a fault on any machine, once clients have waited long enough for it.
        let is_smallest = bytes == sizes[0] << 20;
        let more = || load.ask(&Zipf::new(&paths), asked);
        (missed, if is_smallest { until_open(&world, id, more) } else { findings(&world, 0) })
    };
    let mut lost = Vec::new();
    let mut advised = None;
    for size in sizes {
        let (missed, found) = run(size << 20);
        let of_pages = found.iter().find(|finding| finding["id"] == id);
        println!("{size} MiB: {missed} misses of {asked}; {:?}", of_pages.map(|finding| &finding["sentence"]));
        advised = advised.or_else(|| of_pages.and_then(|finding| finding["changes"][0]["to"].as_u64()));
        lost.push(missed);
    }
    let advised = advised.expect("the smallest is too small");
    let (missed, found) = run(advised);
    println!("advised {advised}: {missed} misses of {asked}");
    let least = *lost.iter().min().unwrap();
    assert!(lost[0] > 2 * least, "the smallest size is no fault: {lost:?}");
    assert!(
        missed as f64 <= 1.1 * least as f64 + 0.005 * asked as f64,
        "{missed} with {advised}, {lost:?} with {sizes:?} MiB"
    );
    silent(&found);
}

#[test]
fn files_that_are_asked_for_exactly_twice_are_stored_without_reuse() {
    let world = world(SMALL_PAGES);
    let paths = pages(&world, 200, 40);
    // One client, so that the second request for a file comes after the first one.
    let load = Load::new(&world.anon(), 1);
    let twice = |paths: &[String]| paths.iter().flat_map(|path| [path.clone(), path.clone()]).collect::<Vec<_>>();
    // While there is room, a page is made at the first request.
    load.each(&paths[..60]);
    load.each(&twice(&paths[60..800]));
    silent(&findings(&world, 0));
    let found = {
        let mut others = paths[800..].chunks(400);
        until_open(&world, "cache-without-reuse@cache:pages", || load.each(&twice(others.next().unwrap())))
    };
    let change = &open(&world, &found, "cache-without-reuse@cache:pages")["changes"][0];
    assert_eq!((change["setting"].as_str(), change["to"].as_u64()), (Some("server.pages_bytes"), Some(1 << 18)));
}

#[test]
fn lists_that_change_before_they_are_asked_for_again_are_outdated_and_no_memory_helps() {
    let world = world("");
    let admin = world.admin();
    let paths = pages(&world, 20, 2);
    let load = Load::new(&world.anon(), 16);
    // A change of a folder makes all answers about it outdated.
    let change = |round: usize| admin.put("files", &format!("f/changes-{round}"), b"change").expect(201);
    let mut round = 0;
    let mut rounds = |rounds: usize| {
        for _ in 0..rounds {
            round += 1;
            change(round);
            load.each(&paths);
        }
    };
    load.each(&paths);
    rounds(4);
    silent(&findings(&world, 0));
    let found = until_open(&world, "cache-outdated@cache:pages", || rounds(10));
    let finding = open(&world, &found, "cache-outdated@cache:pages");
    assert_eq!(finding["changes"], json!([]));
    assert!(finding["sentence"].as_str().unwrap().contains("more memory does not help"), "{finding}");
    assert!(found.iter().all(|finding| finding["key"] != "cache-too-small"), "{found:#?}");
}

#[test]
fn cached_files_that_are_evicted_and_fetched_again_need_more_disk() {
    let world = world("[server]\nopen_files = 2\n[store]\ncached_bytes = 16_777_216\n");
    let upstream = Upstream::start();
    world.remote_of("raw", "far", &upstream.url());
    let paths: Vec<String> = (0..96).map(|number| format!("/repository/far/{number}")).collect();
    (0..96).for_each(|number| upstream.file(&format!("/{number}"), vec![number as u8; 256 << 10]));
    let load = Load::new(&world.anon(), 16);
    // 51 files fit four fifths of the size.
    (0..4).for_each(|_| load.each(&paths[..51]));
    silent(&findings(&world, 0));
    let id = "cached-files-evicted-too-early@cache:cached";
    let found = until_open(&world, id, || (0..4).for_each(|_| load.each(&paths)));
    let change = &open(&world, &found, id)["changes"][0];
    assert_eq!(change["setting"], "store.cached_bytes");
    assert!((24 << 20..48 << 20).contains(&change["to"].as_u64().unwrap()), "{change}");
}

#[test]
fn readers_of_the_database_that_wait_for_a_slow_disk_need_memory() {
    let world = world("[server]\npages_bytes = 0\n[store]\nreader_cache_bytes = 65_536\n");
    let admin = world.admin();
    world.tree("files", "raw");
    let name = |number: usize| format!("{number}/{}", "a-long-name-of-a-file".repeat(8));
    (0..150).for_each(|number| drop(admin.put("files", &name(number), b"x").expect(201)));
    let paths: Vec<String> = (0..150).map(|number| format!("/repository/files/{}", name(number))).collect();
    let load = Load::new(&world.anon(), 8);
    // The kernel has the file in memory.
    (0..4).for_each(|_| load.each(&paths));
    silent(&findings(&world, 0));
    let slow = world.delay("pread64", 30_000);
    // The server looks at its threads every ten seconds, and does not count the time in which they had no processor.
    let id = "database-memory-too-small@pool:truth.readers";
    let found = until_open(&world, id, || load.each(&paths));
    drop(slow);
    let finding = open(&world, &found, id);
    let change = &finding["changes"][0];
    assert_eq!((change["setting"].as_str(), change["from"].as_u64()), (Some("store.reader_cache_bytes"), Some(65_536)));
    let file = std::fs::metadata(world.data().join("truth.sqlite")).unwrap().len();
    assert!(change["to"].as_u64().unwrap() >= file, "{finding}");
}

#[test]
fn connections_that_nearly_reach_their_limit_are_told_before_one_is_refused() {
    let world = world("[server]\nmax_connections = 40\nmax_connections_per_client = 40\n");
    let hold = |count: usize| -> Vec<_> { (0..count).map(|_| world.anon().connect().unwrap()).collect() };
    let look = |hour: u32, minutes: u32| {
        // Each look takes a sample.
        (0..minutes).for_each(|minute| {
            world.set_time(&format!("2026-11-03T{hour:02}:{minute:02}:00Z"));
            world.findings();
        });
        world.findings()
    };
    // The requests of the test need one more.
    let mut held = hold(30);
    silent(&look(0, 12));
    held.extend(hold(5));
    let found = look(1, 24);
    let change = &open(&world, &found, "bound-near-full@bound:connections")["changes"][0];
    assert_eq!((change["setting"].as_str(), change["from"].as_u64()), (Some("server.max_connections"), Some(40)));
    assert!(change["to"].as_u64().unwrap() >= 72, "{change}");
    drop(held);
}

#[test]
fn facts_of_a_removed_repository_that_cannot_be_deleted_are_told_with_the_job() {
    let world = world("");
    let upstream = Upstream::start();
    world.remote_of("maven", "far", &upstream.url());
    world.remote_of("maven", "near", &upstream.url());
    (0..100).for_each(|number| drop(world.anon().file("far", &format!("org/example/{number}/a.pom")).expect(404)));
    world.anon().file("near", "org/example/1/a.pom").expect(404);
    let remove = |name: &str| {
        world.admin().ask("DELETE", &format!("/api/v1/repositories/{name}?confirm={name}"), &[], b"").expect(200)
    };
    remove("near");
    silent(&findings(&world, 0));
    // Another program writes into the cache for longer than the server waits.
    let cache = rusqlite::Connection::open(world.data().join("cache.sqlite")).unwrap();
    cache.execute_batch("BEGIN IMMEDIATE").unwrap();
    remove("far");
    let failed = |world: &World| {
        let failed = [["method", "=", "forget"], ["outcome", "=", "failed"]];
        // The clock stands still.
        let question = json!({ "from": "2026-11-01T00:00:00Z", "to": "2026-12-01T00:00:00Z", "where": failed });
        let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
        answer["rows"][0]["count"].as_u64().filter(|count| *count > 0).ok_or_else(|| answer.to_string())
    };
    eventually(|| failed(&world));
    cache.execute_batch("ROLLBACK").unwrap();
    let found = findings(&world, 1);
    let finding = open(&world, &found, "removed-content-stays@job:forget");
    assert!(
        finding["event"].is_string() && finding["sentence"].as_str().unwrap().contains("failed 1 times"),
        "{finding}"
    );
}
