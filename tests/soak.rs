//! Mixed requests for a long time: memory, descriptors and threads stay constant after the warm-up.
//! `DAYLIGHT_SOAK=WARM,MORE` sets the numbers of requests, `make torture` a million and nine million; the default is a
//! few thousand.

use crate::accounts;
use crate::world::{Connection, FIRST, Gem, Person, World};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const CLIENTS: u64 = 4;
/// Number of requests that are sent on a connection before their replies are read.
const BATCH: u64 = 25;
/// After this number of requests a client opens a new connection, and makes a few changes.
const VISIT: u64 = 2_000;
/// Number of samples of the server's resources.
const SAMPLES: u64 = 50;
/// Minimum number of further requests that distinguishes growth from noise.
const TELLING: u64 = 1_000_000;
/// Maximum difference in a short run, in bytes.
const NOISE: u64 = 64 << 20;
/// Maximum duration of a run.
const DURATION_MAX: Duration = Duration::from_secs(40 * 60);

/// One request of each kind, in turn.
fn request(number: u64) -> (String, &'static [u16]) {
    let host = "Host: localhost\r\n";
    let get = |path: &str, more: &str| format!("GET /repository/{FIRST}/{path} HTTP/1.1\r\n{host}{more}\r\n");
    match number % 12 {
        0 => (get("versions", ""), &[200]),
        1 => (get("names", ""), &[200]),
        2 => (get("gems/lamp-1.0.0.gem", ""), &[200]),
        3 => (get("gems/lamp-1.0.0.gem", "Range: bytes=10-99\r\n"), &[206]),
        4 => (get("info/lamp", "If-None-Match: *\r\n"), &[304]),
        // Each of these is requested once: they must not stay in memory.
        5 => (get(&format!("info/nothing{number}"), ""), &[404]),
        6 => (get(&format!("info/lamp?{number}"), ""), &[200]),
        7 => (get("info/lamp", "Accept-Encoding: gzip\r\n"), &[200]),
        8 => (get("info/lamp", &format!("Authorization: Bearer daylight_{number}\r\n")), &[200]),
        9 => (format!("GET /api/v1/tokens HTTP/1.1\r\n{host}\r\n"), &[401]),
        10 => (format!("GET /health/ready HTTP/1.1\r\n{host}\r\n"), &[200]),
        _ => (get("info/lamp", ""), &[200]),
    }
}

/// The changes of a client at the start of each visit: a version and a token are created and removed.
fn change(admin: &Person, number: u64) {
    let version = format!("2.{number}");
    admin.push(FIRST, &Gem::new("wick", &version)).expect(200);
    admin.yank(FIRST, "wick", &version).expect(200);
    let token = serde_json::json!({ "name": format!("soak-{number}"), "owner": "soak", "scopes": ["read"] });
    admin.post_json("/api/v1/tokens", &token).expect(201);
    admin.ask("DELETE", &format!("/api/v1/tokens/soak-{number}"), &[], b"").expect(204);
    // A client leaves in the middle of a head.
    let _ = admin.connect().unwrap().send(b"GET / HTTP/1.1\r\nHo");
}

/// Sends requests until all clients together have sent `total`.
fn client(anon: &Person, admin: &Person, done: &AtomicU64, total: u64, until: Instant) {
    // Changes cost a sync and make the indexes longer, so a long run makes no more of them than a short one.
    let visits = (total / VISIT / 200).max(1);
    let mut connection: Option<Connection> = None;
    loop {
        let first = done.fetch_add(BATCH, Relaxed);
        if first >= total || Instant::now() > until {
            return;
        }
        if first % VISIT < BATCH {
            connection = None;
            if (first / VISIT).is_multiple_of(visits) {
                change(admin, first);
            }
        }
        let connection = connection.get_or_insert_with(|| anon.connect().unwrap());
        let batch: Vec<_> = (first..first + BATCH).map(request).collect();
        connection.send(batch.iter().map(|(text, _)| text.as_str()).collect::<String>().as_bytes()).unwrap();
        for (text, expected) in &batch {
            let answer = connection.answer(false).unwrap();
            assert!(expected.contains(&answer.status), "{}: {text}", answer.status);
        }
    }
}

/// Sends requests up to `total`, with all clients concurrently.
fn ask(world: &World, done: &AtomicU64, total: u64, until: Instant) {
    let (anon, admin) = (world.anon(), world.admin());
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| client(&anon, &admin, done, total, until));
        }
    });
    done.store(total, Relaxed);
}

/// The slope of `y` over `x`, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (over, under) = points.iter().fold((0.0, 0.0), |(over, under), point| {
        (over + (point.0 - x) * (point.1 - y), under + (point.0 - x) * (point.0 - x))
    });
    over / under
}

#[test]
fn memory_descriptors_and_threads_stay_flat_over_mixed_requests() {
    let asked = std::env::var("DAYLIGHT_SOAK").unwrap_or_else(|_| "6000,12000".to_owned());
    let (warm, more) = asked.split_once(',').unwrap();
    let (warm, more): (u64, u64) = (warm.parse().unwrap(), more.parse().unwrap());
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0").payload(&[7; 20_000])).expect(200);
    let (done, began) = (AtomicU64::new(0), Instant::now());
    let until = began + DURATION_MAX;

    ask(&world, &done, warm, until);
    let (descriptors, threads) = (world.descriptors(), world.threads());
    let mut memory = Vec::new();
    for sample in 1..=SAMPLES {
        ask(&world, &done, warm + more * sample / SAMPLES, until);
        memory.push((done.load(Relaxed) as f64, world.memory() as f64));
    }
    accounts::settled(&world);

    let (slope, seconds) = (slope(&memory), began.elapsed().as_secs());
    let [first, last] = [memory[0].1, memory[memory.len() - 1].1].map(|bytes| bytes / 1e6);
    println!("{warm} and {more} requests in {seconds} s: {slope:.3} bytes a request, {first:.1} to {last:.1} MB");
    assert!(Instant::now() < until, "it took too long to tell");
    // One more of each for work that happens to be in progress.
    assert!(world.descriptors() <= descriptors + 4, "{} descriptors, and {descriptors} before", world.descriptors());
    assert!(world.threads() <= threads + 4, "{} threads, and {threads} before", world.threads());
    if more < TELLING {
        assert!((last - first) * 1e6 < NOISE as f64, "{first:.1} MB became {last:.1} MB");
    } else {
        assert!(slope < 1.0, "{slope} bytes a request; in steps of {} requests: {memory:?}", more / SAMPLES);
    }
}
