//! Profiles: for what the threads of the server use processors.

use crate::world::{Answer, Person, World, await_true};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const PATH: &str = "/api/v1/profile";

/// Publishes files until the profile of `seconds` is there.
fn profile(world: &World, seconds: u64, accept: &str) -> Answer {
    let ended = AtomicBool::new(false);
    let observer = world.person("observer", &["observe"], &[]);
    std::thread::scope(|scope| {
        for client in 0..3 {
            let (ended, admin) = (&ended, world.admin());
            scope.spawn(move || {
                for round in 0.. {
                    if ended.load(Relaxed) {
                        return;
                    }
                    admin.put("files", &format!("a/{client}/{round}"), &[b'a'; 100_000]).expect(201);
                }
            });
        }
        let path = format!("{PATH}?seconds={seconds}");
        let answer = observer.ask("GET", &path, &[("Accept", accept)], b"");
        ended.store(true, Relaxed);
        answer
    })
}

#[test]
fn a_profile_names_threads_classes_operations_and_repositories() {
    let world = World::start();
    world.tree("files", "raw");
    let profile = profile(&world, 2, "application/json").expect(200).json();
    let stacks = profile["stacks"].as_array().unwrap();
    let frames = |stack: &Value| -> Vec<String> { serde_json::from_value(stack["frames"].clone()).unwrap() };
    let of_upload = |frames: &Vec<String>| frames[1] == "uploads" && frames[frames.len() - 1] == "files";
    assert!(stacks.iter().map(frames).any(|frames| of_upload(&frames)), "{profile:#}");
    assert!(stacks.iter().map(frames).any(|frames| frames[0].starts_with("core")), "{profile:#}");
    let sum: f64 = stacks.iter().map(|stack| stack["cpu_s"].as_f64().unwrap()).sum();
    assert!(sum > 0.0 && (sum - profile["cpu_s"].as_f64().unwrap()).abs() < 1e-6, "{profile:#}");
    assert_eq!(profile["perf"], format!("perf record -g -p {} -- sleep 2", world.id()));
    assert_eq!(profile["folded"].as_str().unwrap().lines().count(), stacks.len());
}

#[test]
fn a_profile_is_a_picture_without_scripts_for_browsers() {
    let world = World::start();
    world.tree("files", "raw");
    let answer = profile(&world, 1, "text/html,image/svg+xml").expect(200);
    assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
    assert_eq!(answer.header("content-security-policy"), Some("default-src 'none'; style-src 'unsafe-inline'"));
    let svg = answer.text();
    assert!(svg.starts_with("<svg ") && svg.contains("<title>all threads: 100.0 %"), "{svg}");
    assert!(svg.contains(&format!("perf record -g -p {}", world.id())) && !svg.contains("<script"), "{svg}");
}

#[test]
fn profiles_are_for_observers_one_at_a_time_and_of_a_minute_at_most() {
    let world = World::start();
    let ask = |person: &Person, query: &str| person.get(&format!("{PATH}{query}"));
    let (observer, reader) = (world.person("observer", &["observe"], &[]), world.person("reader", &["read"], &[]));
    ask(&world.anon(), "?seconds=1").expect(401);
    ask(&reader, "?seconds=1").expect(403);
    for query in ["?seconds=0", "?seconds=61", "?seconds=-1", "?seconds=ten", "?seconds="] {
        let text = ask(&observer, query).expect(400).text().to_owned();
        assert!(text.contains("`seconds` must be a number from 1 to 60"), "{text}");
    }
    // The caller of the first one leaves, and with it the profile ends.
    let first = {
        let mut first = observer.connect().unwrap();
        let head =
            format!("GET {PATH}?seconds=60 HTTP/1.1\r\nHost: daylight\r\nAuthorization: {}\r\n\r\n", observer.secret());
        first.send(head.as_bytes()).unwrap();
        first
    };
    await_used(&world, 1);
    let text = ask(&observer, "?seconds=1").expect(503).text().to_owned();
    assert!(text.contains("profiles"), "{text}");
    drop(first);
    await_used(&world, 0);
    ask(&observer, "?seconds=1").expect(200);
}

/// Waits until so many profiles are being taken.
fn await_used(world: &World, profiles: u32) {
    let line = format!("daylight_bound_used{{bound=\"profiles\",which=\"\"}} {profiles}\n");
    await_true(&line, || world.anon().get("/metrics").expect(200).text().contains(&line));
}
