//! Temporary failures: the log reports the beginning and the end once each, and `/health/ready` shows the failure while
//! it lasts.

use crate::world::{TIMEOUT, Upstream, World};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// This part of the free bytes goes into the file that fills the disk. Half of that is how far the floor is away, in both directions:
/// more than anything else on this machine writes or deletes meanwhile.
const BALLAST_PART: u64 = 4;

/// The number of log lines with this text.
fn said(world: &World, text: &str) -> usize {
    world.log().lines().filter(|line| line.contains(text)).count()
}

fn ready(world: &World) -> String {
    world.anon().get("/health/ready").expect(200).text().to_owned()
}

/// The free bytes of the file system that has this folder.
fn free(folder: &Path) -> u64 {
    let told = Command::new("df").args(["--output=avail", "--block-size=1"]).arg(folder).output().unwrap();
    String::from_utf8(told.stdout).unwrap().lines().last().unwrap().trim().parse().unwrap()
}

fn events_bytes(world: &World) -> u64 {
    std::fs::metadata(world.data().join("events/events.jsonl")).map_or(0, |file| file.len())
}

#[test]
fn below_the_floor_events_and_packages_stop_and_a_token_is_revoked_and_the_log_says_so_twice() {
    let folder = tempfile::tempdir().unwrap();
    let ballast_bytes = free(folder.path()) / BALLAST_PART;
    let floor = free(folder.path()) - ballast_bytes / 2;
    let world = World::start_with_file(&format!("[store]\nfree_space_floor_bytes = {floor}\n"));
    world.tree("trees", "raw");
    let admin = world.admin();
    admin.put("trees", "before", b"x").expect(201);
    let thief = world.person("thief", &["read", "write"], &[]);
    thief.put("trees", "theirs", b"x").expect(201);
    assert_eq!(ready(&world), "ready\n");

    let ballast = folder.path().join("ballast");
    let filled = Command::new("fallocate").args(["-l", &ballast_bytes.to_string()]).arg(&ballast).status().unwrap();
    assert!(filled.success());
    world.await_log("free space is below the floor");
    for number in 0..20 {
        admin.put("trees", &format!("no/{number}"), b"x").expect(507);
    }
    assert_eq!(world.anon().file("trees", "before").expect(200).text(), "x");
    let told = ready(&world);
    assert!(told.starts_with("ready\ndegraded: read-only: free space on the disk is below"), "{told}");
    // These requests write nothing to the disk, and a stolen token is revoked all the same.
    world.await_log("a sink loses events");
    let before = events_bytes(&world);
    world.admin().ask("DELETE", "/api/v1/tokens/thief", &[], b"").expect(204);
    thief.put("trees", "more", b"x").expect(401);
    for _ in 0..20 {
        world.anon().file("trees", "nothing").expect(404);
    }
    assert_eq!(events_bytes(&world), before);
    assert_eq!((said(&world, "free space is below the floor"), said(&world, "a sink loses events")), (1, 1));

    std::fs::remove_file(&ballast).unwrap();
    world.await_log("free space is above the floor again");
    admin.put("trees", "after", b"x").expect(201);
    assert_eq!(ready(&world), "ready\n");
    // Events are written again, and the log says so once after a quiet period.
    let began = Instant::now();
    while said(&world, "a sink takes all events again") == 0 && began.elapsed() < TIMEOUT {
        world.anon().file("trees", "before").expect(200);
    }
    assert!(events_bytes(&world) > before);
    for text in
        ["free space is above the floor again", "a sink takes all events again", "free space is below the floor"]
    {
        assert_eq!(said(&world, text), 1, "{text}: {}", world.log());
    }
}

#[test]
fn an_upstream_that_fails_is_said_to_be_left_alone_once_and_to_answer_again_once() {
    let (world, upstream) = (World::start_in_conformance(&[]), Upstream::start());
    world.set_time("2026-11-01T12:00:00Z");
    world.remote_of("raw", "far", &upstream.url());
    upstream.file("/tool", "tool");
    upstream.unplug();
    for number in 0..20 {
        assert!(world.anon().file("far", &format!("no/{number}")).status >= 502);
    }
    let host = format!("host={}", upstream.address());
    let alone = "the circuit of an upstream opened after repeated failures";
    world.await_log(alone);
    assert!(world.log().lines().any(|line| line.contains(alone) && line.contains(&host) && line.contains("until=")));
    let told = ready(&world);
    assert!(told.starts_with("ready\ndegraded: upstreams: 1 of "), "{told}");
    assert!(!told.contains("127.0.0.1"), "anybody may ask: {told}");
    // A failed trial is not logged.
    world.set_time("2026-11-01T12:10:00Z");
    assert!(world.anon().file("far", "no/again").status >= 502);
    upstream.plug();
    world.set_time("2026-11-01T12:20:00Z");
    assert_eq!(world.anon().file("far", "tool").expect(200).text(), "tool");
    world.await_log("the circuit of an upstream closed: it responds again");
    assert_eq!(
        (said(&world, alone), said(&world, "the circuit of an upstream closed: it responds again")),
        (1, 1),
        "{}",
        world.log()
    );
    assert_eq!(ready(&world), "ready\n");
}
