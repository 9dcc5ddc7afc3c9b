//! What clients, and a hub that tells wrong things, can make a server do: how often a hub is called is never decided by
//! clients, and what it says moves neither a path nor a terminal.

use super::{LAMP, lamp};
use crate::world::{KojiHub, Trouble, World, await_true};
use serde_json::json;

const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";

#[test]
fn clients_that_come_again_and_again_before_the_first_map_cause_one_call() {
    let (world, hub) = (World::start_in_conformance(&[]), KojiHub::start());
    world.set_time("2027-01-02T00:00:00Z");
    hub.trouble(Trouble::Offline);
    world.koji("builds", &hub, &["maven-*"]);
    for at in 0..30 {
        let refused = world.anon().file("builds", &format!("org/example/never/{at}/never-{at}.jar")).expect(503);
        assert!(refused.header("retry-after").is_some());
    }
    assert!(hub.rounds() <= 2, "{} calls", hub.rounds());
    let tag = hub.tag("maven-release");
    hub.tag_build(tag, lamp(&hub));
    hub.well();
    world.set_time("2027-01-02T00:01:00Z");
    await_true("the first map", || world.anon().file("builds", &format!("{LAMP}/lamp-1.0.pom")).status == 200);
}

#[test]
fn events_that_clients_name_one_after_the_other_do_not_become_calls() {
    let (world, hub) = (World::start_in_conformance(&[]), KojiHub::start());
    world.set_time("2027-01-02T00:00:00Z");
    let tag = hub.tag("maven-release");
    hub.tag_build(tag, lamp(&hub));
    for at in 0..60 {
        hub.tag(&format!("other-{at}"));
    }
    let last = hub.last_event();
    world.koji("builds", &hub, &["maven-*"]);
    world.tree("ours", "maven");
    world.make(&json!({ "name": "all", "format": "maven", "members": ["ours", "builds"] }));
    await_true("the map", || world.anon().file("builds", JAR).status == 200);
    hub.forget_counts();
    let statuses: Vec<u16> =
        (last - 59..=last).map(|event| world.anon().file(&format!("all@koji-{event}"), JAR).status).collect();
    assert!(hub.rounds() <= 31, "{} calls", hub.rounds());
    assert!(statuses.ends_with(&[503]) && statuses.starts_with(&[200]), "{statuses:?}");
    assert_eq!(world.anon().file("builds@koji-1", JAR).status, 404, "its own events cost no call");
}
