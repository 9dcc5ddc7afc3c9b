//! Two incidents at once: both are named, the cause before what follows from it.

use super::incident::{Incident, begun};
use crate::world::{Person, Says, Upstream};
use serde_json::json;
use std::thread;
use std::time::Duration;

/// Calls these paths, on so many connections at once.
fn crowd(person: &Person, at_once: usize, paths: &[String]) {
    thread::scope(|scope| {
        for caller in 0..at_once {
            scope.spawn(move || {
                let mut connection = person.connect().unwrap();
                for path in paths.iter().skip(caller).step_by(at_once) {
                    person.on(&mut connection, "GET", path, &[], b"").unwrap();
                }
            });
        }
    });
}

/// Paths of a repository.
fn paths(repository: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("/repository/{repository}/org/a/m{number}/1.0/m{number}-1.0.jar")).collect()
}

/// The same path again and again.
fn again(path: &str, count: usize) -> Vec<String> {
    vec![path.to_owned(); count]
}

/// The place of an open finding, counted from the most important one; a folded one has that of its cause.
#[track_caller]
fn place(incident: &Incident, start: &str) -> usize {
    let starts = |id: &serde_json::Value| id.as_str().unwrap().starts_with(start);
    let found = incident.findings().iter().position(|finding| {
        finding["state"] == "open"
            && (starts(&finding["id"]) || finding["folds"].as_array().unwrap().iter().any(starts))
    });
    found.unwrap_or_else(|| panic!("{start} is not open in {:#?}", incident.findings()))
}

#[test]
fn a_narrow_pool_and_a_client_in_a_loop_are_both_named_the_pool_first() {
    let (world, upstream) = (begun(&[("DAYLIGHT_UPSTREAM_MAX_CALLS", "2")]), Upstream::start());
    upstream.says_otherwise(Says::bytes("x").after(Duration::from_millis(100)));
    world.remote_of("raw", "far", &upstream.url());
    world.tree("trees", "raw");
    world.admin().put("trees", "state", b"x").expect(201);
    let (crowds, looping) = (world.anon(), world.anon());
    thread::scope(|scope| {
        scope.spawn(|| crowd(&crowds, 16, &paths("far", 80)));
        scope.spawn(|| crowd(&looping, 1, &again("/repository/trees/state", 900)));
    });
    let incident = Incident::of(world);
    assert_eq!(place(&incident, "pool-too-narrow@upstream:"), 0);
    place(&incident, "tight-loop@client:127.0.0.1");
}

#[test]
fn a_slow_first_member_and_a_client_in_a_loop_are_both_named_the_member_first() {
    let (world, partner, central) = (begun(&[]), Upstream::start(), Upstream::start());
    partner.says_otherwise(Says::status(404).after(Duration::from_secs(1)));
    let files = paths("company", 48);
    files.iter().for_each(|path| central.file(path.trim_start_matches("/repository/company"), "x"));
    for (name, upstream) in [("partner", &partner), ("central-there", &central)] {
        world.remote_of("maven", name, &upstream.url());
    }
    world.make(&json!({ "name": "company", "format": "maven", "members": ["partner", "central-there"] }));
    world.tree("trees", "raw");
    world.admin().put("trees", "state", b"x").expect(201);
    let (crowds, looping) = (world.anon(), world.anon());
    thread::scope(|scope| {
        scope.spawn(|| crowd(&crowds, 16, &files));
        scope.spawn(|| crowd(&looping, 1, &again("/repository/trees/state", 900)));
    });
    let incident = Incident::of(world);
    assert_eq!(place(&incident, "slow-member-first@member:company/partner"), 0);
    place(&incident, "tight-loop@client:127.0.0.1");
}

#[test]
fn a_member_that_fails_and_clients_that_do_not_wait_are_both_named_the_member_first() {
    let (world, partner) = (begun(&[]), Upstream::start());
    partner.says_otherwise(Says::status(500).after(Duration::from_millis(50)));
    world.remote_of("maven", "partner", &partner.url());
    world.tree("ours", "maven");
    world.make(&json!({ "name": "company", "format": "maven", "members": ["ours", "partner"] }));
    let scripts: Vec<Person> = (0..6).map(|n| world.person(&format!("script-{n}"), &["read"], &[])).collect();
    thread::scope(|scope| {
        for (number, script) in scripts.iter().enumerate() {
            scope.spawn(move || crowd(script, 1, &again(&paths("company", 6)[number], 60)));
        }
    });
    let incident = Incident::of(world);
    let (cause, storm) =
        (place(&incident, "member-fails@member:company/partner"), place(&incident, "retry-storm@repository:company"));
    assert!(cause <= storm, "{:#?}", incident.findings());
}
