//! What goes wrong for a while: the log says it once at its beginning and once at its end, and `/health/ready` while it lasts.

use crate::world::{Upstream, World};
use serde_json::json;

/// Far more looks than anything here takes.
const TRIES: usize = 100_000;

/// How many lines of the log have this text.
fn said(world: &World, text: &str) -> usize {
    world.log().lines().filter(|line| line.contains(text)).count()
}

/// Waits until the log has this text.
fn await_said(world: &World, text: &str) {
    assert!((0..TRIES).any(|_| said(world, text) > 0), "the log never says {text:?}:\n{}", world.log());
}

fn ready(world: &World) -> String {
    world.anon().get("/health/ready").expect(200).text().to_owned()
}

#[test]
fn an_upstream_that_fails_is_said_to_be_left_alone_once_and_to_answer_again_once() {
    let (world, upstream) = (World::start_in_conformance(&[]), Upstream::start());
    let set_time = |moment: &str| {
        let path = format!("/repository/{}/set_time", crate::world::FIRST);
        world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
    };
    set_time("2026-11-01T12:00:00Z");
    world.make(&json!({ "name": "far", "format": "raw", "kind": "remote", "remote": { "urls": [upstream.url()] } }));
    upstream.file("/tool", "tool");
    upstream.unplug();
    for number in 0..20 {
        assert!(world.anon().file("far", &format!("no/{number}")).status >= 502);
    }
    let host = format!("host={}", upstream.address());
    let alone = "an upstream failed again and again, and is left alone";
    await_said(&world, alone);
    assert!(world.log().lines().any(|line| line.contains(alone) && line.contains(&host) && line.contains("until=")));
    let told = ready(&world);
    assert!(told.starts_with("ready\ndegraded: upstreams: 1 of "), "{told}");
    assert!(!told.contains("127.0.0.1"), "anybody may ask: {told}");
    // A trial that fails is no news.
    set_time("2026-11-01T12:10:00Z");
    assert!(world.anon().file("far", "no/again").status >= 502);
    upstream.plug();
    set_time("2026-11-01T12:20:00Z");
    assert_eq!(world.anon().file("far", "tool").expect(200).text(), "tool");
    await_said(&world, "an upstream answers again");
    assert_eq!((said(&world, alone), said(&world, "an upstream answers again")), (1, 1), "{}", world.log());
    assert_eq!(ready(&world), "ready\n");
}
