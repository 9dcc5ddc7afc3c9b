//! With a real client: a build through a group whose first remote member takes two seconds to say that it lacks a file.

use super::{command, is_open_here, proven, run, sentence};
use crate::world::{Central, Machine, Release, Says, Upstream, World};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const SLOW: Duration = Duration::from_secs(2);
const ID: &str = "slow-member-first@member:company/partner";

/// A group `company` of `partner`, which is slow and lacks everything, and `maven-there`, which has everything.
fn company(world: &World, partner: &Upstream, central: &Central) {
    partner.says_otherwise(Says::status(404).after(SLOW));
    world.remote("partner", &partner.url());
    world.remote("maven-there", &central.url());
    world.make(&json!({ "name": "company", "format": "maven", "members": ["partner", "maven-there"] }));
}

/// The client seconds that a build lost, by the figures of its members in the events: how long its files waited for `partner` beyond
/// the member that had them.
fn lost(world: &World) -> (usize, f64) {
    let question = json!({
        "where": [["repository", "=", "company"], ["slowest_member", "=", "partner"], ["answered_by", "=", "maven-there"]],
        "measures": ["count", "sum(slowest_member_ms)"],
        "from": "-1d",
    });
    let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
    let row = &answer["rows"][0];
    (row["count"].as_u64().unwrap_or(0) as usize, row["sum(slowest_member_ms)"].as_f64().unwrap_or(0.0) / 1e3)
}

fn slow(findings: &[Value]) -> Option<&Value> {
    findings.iter().find(|finding| finding["id"] == ID && finding["state"] == "open")
}

#[test]
fn a_build_through_a_group_with_a_slow_first_member_has_it_named_and_the_advice_ends_the_wait() {
    let central = Central::open();
    let partner = Upstream::start();
    let world = World::start_in_conformance(&[]);
    world.set_time("2026-11-02T12:00:00Z");
    company(&world, &partner, &central);
    let machine = central.machine(Release::Three8);
    machine.settings(&world.url("company"), &[], "");
    let builds = |plugin, version| {
        machine.project("eaves", &[("plugin", plugin), ("version", version)]).maven(&["validate"]).good();
    };
    builds("maven-jar-plugin", "3.4.2");

    world.set_time("2026-11-02T12:06:00Z");
    let (files, seconds) = lost(&world);
    assert!(files >= 5 && seconds >= 10.0, "{files} files waited {seconds} s");
    let findings = world.findings();
    let first = findings.iter().find(|finding| is_open_here(finding)).map(|finding| &finding["id"]);
    assert_eq!(first, Some(&json!(ID)), "it is named first: {findings:#?}");
    let found = slow(&findings).unwrap_or_else(|| panic!("{findings:#?}"));
    println!("{files} files waited {seconds:.1} s. {}\n{}", sentence(found), command(found));
    assert!((found["lost_s_per_hour"].as_f64().unwrap() / 12.0 - seconds).abs() < 0.5 + 0.1 * seconds, "{found:#}");
    assert!(sentence(found).contains("for `partner`"), "{}", sentence(found));
    proven(&world, found);

    // The printed command itself.
    run(&world, found, "");
    builds("maven-install-plugin", "3.1.3");
    assert!(partner.total() >= files, "it was asked before");
    assert_eq!(lost(&world), (files, seconds), "no file of this build waited for it");
    let central_asked = format!("{:?}", world.contents("maven-there/contents"));
    assert!(central_asked.contains("maven-install-plugin"), "{central_asked}");
}

/// A whole build takes minutes with such a member, so it runs with `DAYLIGHT_SWEEPS=1` alone.
#[test]
fn a_whole_build_has_the_member_named_while_it_runs() {
    if std::env::var_os("DAYLIGHT_SWEEPS").is_none() {
        return;
    }
    let central = Central::open();
    let machine = central.machine(Release::Three8);
    let build = |machine: &Machine, world: &World| {
        machine.settings(&world.url("company"), &[], "");
        let began = Instant::now();
        machine.project("lantern", &[("version", "1.0.0"), ("build", "1")]).maven(&["package"]).good();
        began.elapsed()
    };
    let partner = Upstream::start();
    let world = World::start();
    company(&world, &partner, &central);
    let (ended, began, admin) = (AtomicBool::new(false), Instant::now(), world.admin());
    let (took, opened) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| -> Option<(Duration, Value)> {
            while !ended.load(Relaxed) {
                let listed = admin.get("/api/v1/findings").expect(200).json();
                if let Some(found) = slow(listed["findings"].as_array().unwrap()) {
                    return Some((began.elapsed(), found.clone()));
                }
            }
            None
        });
        let took = build(&machine, &world);
        ended.store(true, Relaxed);
        (took, watch.join().unwrap())
    });
    let (after, found) = opened.expect("it opens during the build");
    println!("opened after {after:.0?} of {took:.0?}: {}\n{}", sentence(&found), command(&found));
    println!("at the end: {:?}: {:#?}", lost(&world), world.findings());

    // A new server with the same repositories and the advised order.
    let again = World::start();
    company(&again, &partner, &central);
    run(&again, &found, "");
    let second = build(&machine.another(), &again);
    println!("with the advice: {second:.0?}, {:?}, {:#?}", lost(&again), again.findings());
    assert!(lost(&again).1 < 0.05 * lost(&world).1);
}
