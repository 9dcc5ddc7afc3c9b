//! Kept events: they are found by their ids after a restart and after a kill. `DAYLIGHT_TORTURE` sets the number of kills; the default is 3.

use crate::world::{FIRST, Gem, World};
use serde_json::Value;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// No event is found in the list of recent ones.
const ONLY_KEPT: &[(&str, &str)] = &[("DAYLIGHT_TELEMETRY_EVENTS_RECENT_BYTES", "0")];

/// Publishes a gem. Returns the event of that.
fn push(world: &World, number: usize) -> String {
    let answer = world.admin().push(FIRST, &Gem::new("lamp", &format!("1.0.{number}"))).expect(200);
    answer.header("daylight-event").unwrap().to_owned()
}

/// The events, if all are there. A start reads them after it listens.
fn all(world: &World, ids: &[String]) -> Vec<Value> {
    ids.iter().map(|id| world.event(id)).collect()
}

#[test]
fn an_event_is_found_after_a_stop_a_restart_and_a_kill_with_the_same_keys() {
    let mut world = World::start_with(ONLY_KEPT);
    let mut ids: Vec<String> = (0..5).map(|number| push(&world, number)).collect();
    let refused = world.anon().push(FIRST, &Gem::new("lamp", "9.9.9")).expect(401);
    ids.push(refused.header("daylight-event").unwrap().to_owned());
    let before = all(&world, &ids);
    assert_eq!((&before[5]["status"], &before[5]["outcome"]), (&401.into(), &"refused".into()));
    assert_eq!((&before[0]["package"], &before[0]["version"]), (&"lamp".into(), &"lamp-1.0.0".into()));
    world.stop();
    assert_eq!(world.kept_events().len(), 1, "a stop leaves one segment: {:?}", world.kept_events());
    world.resume();
    assert_eq!(all(&world, &ids), before);
    world.restart();
    assert_eq!(all(&world, &ids), before);
    world.kill();
    world.resume();
    assert_eq!(all(&world, &ids), before);
    world.admin().get("/api/v1/events/0123456789abcdef").expect(404);
}

#[test]
fn without_bytes_no_event_is_kept_and_no_file_is_written() {
    let off = &[("DAYLIGHT_TELEMETRY_KEEP_BYTES", "0"), ("DAYLIGHT_TELEMETRY_EVENTS_RECENT_BYTES", "0")];
    let mut world = World::start_with(off);
    let id = push(&world, 0);
    world.admin().get(&format!("/api/v1/events/{id}")).expect(404);
    world.stop();
    assert_eq!(world.kept_events(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn an_event_that_was_found_once_is_found_after_any_number_of_kills() {
    let kills = std::env::var("DAYLIGHT_TORTURE").map_or(3, |count| count.parse().unwrap());
    let mut world = World::start_with(ONLY_KEPT);
    let (mut found, mut number, mut longest) = (Vec::new(), 0, Duration::ZERO);
    for round in 0..kills {
        let (mut sent, wanted) = (Vec::new(), 20 + RandomState::new().hash_one(round) % 20);
        for _ in 0..wanted {
            sent.push((push(&world, number), Instant::now()));
            number += 1;
        }
        // This waits until the event and those before it are stored.
        found.extend(sent.iter().map(|(id, _)| id.clone()));
        world.event(found.last().unwrap());
        let mut last = Vec::new();
        for _ in 0..RandomState::new().hash_one(round) % 50 {
            last.push((push(&world, number), Instant::now()));
            number += 1;
        }
        world.kill();
        let killed = Instant::now();
        if round % 4 == 3 {
            // It is also killed while it starts.
            let starting = world.begin();
            let end = Instant::now() + Duration::from_micros(RandomState::new().hash_one(round) % 60_000);
            while Instant::now() < end {
                std::thread::yield_now();
            }
            starting.kill();
        }
        world.resume();
        all(&world, &found);
        let is_lost = |id: &String| world.admin().get(&format!("/api/v1/events/{id}")).status != 200;
        let lost = last.iter().filter(|(id, _)| is_lost(id)).map(|(_, at)| killed - *at).max();
        longest = longest.max(lost.unwrap_or_default());
    }
    assert!(!world.log().contains("cannot be read"), "{}", world.log());
    world.stop();
    let unfinished = world.files().into_iter().filter(|path| path.extension().is_some_and(|end| end == "tmp"));
    assert_eq!(unfinished.collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
    println!("{kills} kills, {number} events; the oldest event that was lost ended {longest:?} before the kill");
}
