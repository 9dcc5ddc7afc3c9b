//! The incident from end to end: a build with Maven waits for a slow member, the alert says so, the advice is taken, and the alert ends.

use super::{alertmanager, at, taker};
use crate::findings::groups::{command, run};
use crate::world::{Alertmanager, Central, Release, Says, Upstream, World, await_true};
use serde_json::{Value, json};
use std::time::Duration;

const ID: &str = "slow-member-first@member:company/partner";

#[test]
fn the_alert_of_a_slow_build_opens_in_alertmanager_and_ends_when_the_advice_was_taken() {
    let (central, partner, people) = (Central::open(), Upstream::start(), taker());
    let manager = Alertmanager::start(&format!("{}people", people.url()));
    let mut world = World::start_in_conformance_with_file(&alertmanager::table(&manager), &[]);
    at(&world, "12:00:00");
    partner.says_otherwise(Says::status(404).after(Duration::from_secs(2)));
    world.remote("partner", &partner.url());
    world.remote("maven-there", &central.url());
    world.make(&json!({ "name": "company", "format": "maven", "members": ["partner", "maven-there"] }));
    let machine = central.machine(Release::Three8);
    machine.settings(&world.url("company"), &[], "");
    let plugin = [("plugin", "maven-jar-plugin"), ("version", "3.4.2")];
    machine.project("eaves", &plugin).maven(&["validate"]).good();
    let findings = at(&world, "12:06:00");
    let found = findings.iter().find(|finding| finding["id"] == ID).unwrap_or_else(|| panic!("{findings:#?}"));
    let alert = || manager.alerts().into_iter().find(|alert| alert["labels"]["finding"] == ID);
    await_true("the alert is open", || alert().is_some());
    let description = alert().unwrap()["annotations"]["description"].as_str().unwrap().to_owned();
    assert!(description.contains(command(found)), "it has the advice: {description}");

    // The advice, word by word. A restart forgets the five minutes before. That the next build is faster is tested where the promise is.
    run(&world, found, "");
    world.stop();
    world.resume();
    at(&world, "12:10:00");
    for time in ["12:20:00", "12:30:00", "12:45:00"] {
        at(&world, time);
    }
    await_true("the alert has ended", || alert().is_none());
    let of_it = |message: &Value| {
        message["alerts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|alert| alert["labels"]["finding"] == ID && alert["status"] == "resolved")
    };
    await_true("people are told that it ended", || {
        people.asked().iter().map(super::body).any(|message| of_it(&message))
    });
}
