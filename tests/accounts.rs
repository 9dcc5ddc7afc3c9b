//! The server's own figures are true: attempts and outcomes, the event that a reply names, and logs that nobody reads.

use crate::world::{FIRST, Gem, Person, World};
use std::collections::BTreeSet;

/// Sends one request for each kind of outcome.
fn one_of_each(world: &World) {
    let (admin, anon) = (world.admin(), world.anon());
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.0.0").payload(b"other")).expect(409);
    admin.push_on(&mut admin.connect().unwrap(), FIRST, b"garbage").unwrap().expect(422);
    anon.push(FIRST, &Gem::new("lamp", "1.0.1")).expect(401);
    let info = format!("/repository/{FIRST}/info/lamp");
    for _ in 0..5 {
        anon.get(&info).expect(200);
        anon.ask("GET", &info, &[("If-None-Match", "*")], b"").expect(304);
        anon.ask("GET", &info, &[("Range", "bytes=1-2")], b"").expect(200);
        anon.get("/repository/nothing/info/lamp").expect(404);
    }
    for broken in ["nonsense\r\n\r\n", "GET", ""] {
        anon.connect().unwrap().send(broken.as_bytes()).unwrap();
    }
}

/// The sum of all samples of a metric.
pub(crate) fn sum(metrics: &str, name: &str) -> u64 {
    let samples = metrics
        .lines()
        .filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ') || rest.starts_with('{')));
    samples.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

/// Waits until every request so far has ended with one outcome. Returns their number.
#[track_caller]
pub(crate) fn settled(world: &World) -> u64 {
    let connection = &mut world.anon().connect().unwrap();
    // An event ends after its last byte, so the latest one may still be open. The request for the metrics itself is
    // always open.
    for _ in 0..10_000 {
        let metrics = world.anon().on(connection, "GET", "/metrics", &[], b"").unwrap().expect(200);
        let attempts = sum(metrics.text(), "daylight_attempts_total");
        if sum(metrics.text(), "daylight_in_flight") == 1 {
            assert_eq!(sum(metrics.text(), "daylight_outcomes_total") + 1, attempts);
            return attempts;
        }
    }
    panic!("a request never ends");
}

#[test]
fn outcomes_sum_to_attempts_whatever_was_asked() {
    let world = World::start();
    one_of_each(&world);
    assert!(settled(&world) > 25);
}

#[test]
fn every_reply_names_an_event_and_the_event_is_kept() {
    let mut world = World::start();
    let admin = world.admin();
    let event = |answer: crate::world::Answer| answer.header("daylight-event").unwrap().to_owned();
    let mut named = vec![event(admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200))];
    for what in ["info/lamp", "info/lamp", "info/lamp", "versions", "names", "gems/lamp-1.0.0.gem", "info/nothing"] {
        named.push(event(world.anon().get(&format!("/repository/{FIRST}/{what}"))));
    }
    assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len(), "each has its own: {named:?}");
    world.stop();
    let kept: String = world.event_lines().into_iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for id in &named {
        let line = kept.lines().find(|line| line.contains(&format!("\"{id}\"")));
        let line = line.unwrap_or_else(|| panic!("no event {id} in\n{kept}"));
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(event["outcome"].is_string() && event["duration_ms"].is_number(), "{line}");
    }
    assert!(!kept.contains(admin.secret()), "a secret in the events");
}

#[test]
fn a_log_that_nobody_reads_delays_nobody() {
    // The test reads no line of standard output after the address, so the pipe is full after some hundred requests.
    let mut world = World::start_with(&[("DAYLIGHT_TELEMETRY_ACCESS_LOG", "text")]);
    let anon = world.anon();
    let ask = |who: &Person, times: usize| {
        let connection = &mut who.connect().unwrap();
        for _ in 0..times {
            who.on(connection, "GET", &format!("/repository/{FIRST}/versions"), &[], b"").unwrap().expect(200);
        }
    };
    ask(&anon, 5_000);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    ask(&anon, 10);
    world.stop();
}
