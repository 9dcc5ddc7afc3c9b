//! Nothing is wrong: no finding opens while a server does what servers do.

use super::incident::{BEGUN, Incident, begun, sampled};
use crate::world::{FIRST, Gem, Person, Says, Upstream, World, await_true};
use serde_json::{Value, json};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Connections of callers at the same time.
const CALLERS: usize = 6;

/// Calls `path(N)` for all N below `times`, each on one of several connections. A body is the path itself.
fn crowd(person: &Person, times: usize, method: &str, path: impl Fn(usize) -> String + Sync) {
    let path = &path;
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            scope.spawn(move || {
                let mut connection = person.connect().unwrap();
                for number in (caller..times).step_by(CALLERS) {
                    let path = path(number);
                    let body = if method == "PUT" { path.as_bytes() } else { b"" };
                    person.on(&mut connection, method, &path, &[], body).unwrap();
                }
            });
        }
    });
}

fn file(number: usize) -> String {
    format!("/repository/trees/files/{number}")
}

/// A server with so many files.
fn server(files: usize) -> World {
    let world = begun(&[]);
    world.tree("trees", "raw");
    crowd(&world.admin(), files, "PUT", file);
    world
}

/// No finding is open, now and six minutes later.
#[track_caller]
fn nothing_opens(world: World) {
    Incident::of(world).has_nothing_open();
}

#[test]
fn at_a_cold_start_everything_is_fetched_and_nothing_opens() {
    let (world, upstream) = (begun(&[]), Upstream::start());
    upstream.says_otherwise(Says::bytes("x").after(Duration::from_millis(20)));
    world.remote_of("raw", "far", &upstream.url());
    crowd(&world.anon(), 300, "GET", |number| format!("/repository/far/files/{}", number % 150));
    nothing_opens(world);
}

#[test]
fn during_an_import_nothing_opens() {
    // The whole import takes minutes: `DAYLIGHT_IMPORT_FILES=100000`.
    let files = std::env::var("DAYLIGHT_IMPORT_FILES").ok().and_then(|files| files.parse().ok()).unwrap_or(1500);
    let world = server(files);
    assert_eq!(world.anon().file("trees", "files/0").expect(200).text(), file(0));
    nothing_opens(world);
}

#[test]
fn when_retention_removes_snapshots_at_night_nothing_opens() {
    let world = begun(&[]);
    world.make(&json!({
        "name": "builds", "format": "maven", "kind": "hosted", "versions": "snapshots", "retention": { "builds": 2 }
    }));
    let path = |n: usize| {
        let (module, build) = (n % 20, n / 20 + 1);
        format!("/repository/builds/org/a/m{module}/1.0-SNAPSHOT/m{module}-1.0-2026010{build}.120000-{build}.jar")
    };
    crowd(&world.admin(), 160, "PUT", path);
    world.set_time("2026-11-02T03:00:00Z");
    world.set_time("2026-11-02T04:00:00Z");
    Incident::after(world, ["2026-11-02T04:00:30Z", "2026-11-02T04:06:30Z"]).has_nothing_open();
}

#[test]
fn in_a_spike_of_ten_times_as_many_requests_nothing_opens() {
    // Few files: their uploads must not weigh as much as the spike.
    let world = server(20);
    crowd(&world.anon(), 200, "GET", file);
    world.set_time(BEGUN);
    crowd(&world.anon(), 2000, "GET", |number| file(number % 20));
    nothing_opens(world);
}

#[test]
fn in_an_idle_night_nothing_opens() {
    let world = server(50);
    crowd(&world.anon(), 100, "GET", |number| file(number % 50));
    for hour in 13..24 {
        world.set_time(&format!("2026-11-01T{hour}:00:00Z"));
        assert_eq!(world.open_findings(), Vec::<String>::new(), "{hour}:00");
    }
    Incident::after(world, ["2026-11-02T06:00:00Z", "2026-11-02T07:00:00Z"]).has_nothing_open();
}

#[test]
fn when_an_upstream_is_gone_for_half_a_minute_nothing_opens() {
    let (world, upstream) = (begun(&[]), Upstream::start());
    (0..80).for_each(|number| upstream.file(&format!("/files/{number}"), "x"));
    world.remote_of("raw", "far", &upstream.url());
    let path = |number| format!("/repository/far/files/{number}");
    crowd(&world.anon(), 40, "GET", path);
    upstream.unplug();
    crowd(&world.anon(), 20, "GET", |number| path(40 + number));
    world.set_time("2026-11-01T12:00:15Z");
    upstream.plug();
    world.set_time("2026-11-01T12:00:30Z");
    // The first call tries whether it answers again. Until that has ended, others are refused: how many depends on the machine.
    world.anon().get(&path(40)).expect(200);
    crowd(&world.anon(), 80, "GET", path);
    Incident::after(world, ["2026-11-01T12:01:00Z", "2026-11-01T12:07:00Z"]).has_nothing_open();
}

#[test]
fn after_a_restart_under_load_nothing_opens() {
    // With the clock of the machine: a set one would go back at the restart.
    let mut world = World::start();
    world.tree("trees", "raw");
    crowd(&world.admin(), 100, "PUT", file);
    let (person, ended) = (world.anon(), AtomicBool::new(false));
    thread::scope(|scope| {
        let (person, ended) = (&person, &ended);
        for _ in 0..3 {
            scope.spawn(move || {
                for number in (0..5000).take_while(|_| !ended.load(Relaxed)) {
                    // A connection may end with the program before.
                    let _ = person
                        .connect()
                        .and_then(|mut open| person.on(&mut open, "GET", &file(number % 100), &[], b""));
                }
            });
        }
        world.restart();
        ended.store(true, Relaxed);
    });
    crowd(&world.anon(), 200, "GET", |number| file(number % 100));
    // The figures of a look are in the metrics.
    let looked = || world.admin().get("/metrics").expect(200).text().contains("daylight_findings{state=\"open\"}");
    await_true("findings were looked for", looked);
    assert_eq!(world.findings(), Vec::<Value>::new());
}

/// Programs that use all processors. Dropping it ends them.
struct BusyLoops(Vec<Child>);

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn beside_eight_busy_loops_nothing_opens() {
    let world = server(100);
    let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let loops = BusyLoops((0..8).map(|_| busy()).collect());
    crowd(&world.anon(), 600, "GET", |number| file(number % 100));
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    sampled(&world);
    drop(loops);
    nothing_opens(world);
}
