//! With a real client: a build through a group whose first remote member takes two seconds to say that it lacks a file.

use super::{command, is_open_here, proven, run, sentence};
use crate::world::{Central, Machine, Release, Says, Upstream, World, eventually};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const SLOW: Duration = Duration::from_secs(2);
pub(crate) const ID: &str = "slow-member-first@member:company/partner";

/// A group `company` of `partner`, which is slow and lacks everything, and `maven-there`, which has everything.
pub(crate) fn company(world: &World, partner: &Upstream, central: &Central) {
    partner.says_otherwise(Says::status(404).after(SLOW));
    world.remote("partner", &partner.url());
    world.remote("maven-there", &central.url());
    world.make(&json!({ "name": "company", "format": "maven", "members": ["partner", "maven-there"] }));
}

/// The client seconds that a build in this hour of the clock lost, by the figures of its members in the events: how long its files waited for
/// `partner` beyond the member that had them.
fn lost(world: &World, hour: &str) -> (usize, f64) {
    lost_within(world, &format!("2026-11-02T{hour}:00:00Z"), Some(&format!("2026-11-02T{hour}:03:00Z")))
}

/// The same of a time, until now if it has no end.
fn lost_within(world: &World, from: &str, to: Option<&str>) -> (usize, f64) {
    let mut question = json!({
        // Requests that asked both at once, and did not wait for `partner`, are none of these.
        "where": [["repository", "=", "company"], ["members_said", "=", "partner:not_found maven-there:hit"]],
        "measures": ["count", "sum(slowest_member_ms)"],
        "from": from,
    });
    if let Some(to) = to {
        question["to"] = json!(to);
    }
    let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
    let row = &answer["rows"][0];
    (row["count"].as_u64().unwrap_or(0) as usize, row["sum(slowest_member_ms)"].as_f64().unwrap_or(0.0) / 1e3)
}

fn slow(findings: &[Value]) -> Option<&Value> {
    findings.iter().find(|finding| finding["id"] == ID && finding["state"] == "open")
}

/// Builds a project on this machine, through the group.
pub(crate) fn build(world: &World, machine: &Machine) {
    machine.settings(&world.url("company"), &[], "");
    let values = [("plugin", "maven-jar-plugin"), ("version", "3.4.2")];
    machine.project("eaves", &values).maven(&["validate"]).good();
}

#[test]
fn a_build_through_a_group_with_a_slow_first_member_has_it_named_and_is_faster_by_what_the_advice_promised() {
    let central = Central::open();
    let partner = Upstream::start();
    let mut world = World::start_in_conformance(&[]);
    world.set_time("2026-11-02T12:00:00Z");
    company(&world, &partner, &central);
    let machine = central.machine(Release::Three8);
    build(&world, &machine);

    world.set_time("2026-11-02T12:06:00Z");
    let (files, seconds) = lost(&world, "12");
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
    // The same build again, on a machine without any file, by a server that has cached nothing either.
    empty(&mut world);
    world.set_time("2026-11-02T13:00:00Z");
    let followed = world.findings().into_iter().find(|finding| finding["id"] == ID).unwrap();
    assert_eq!(followed["promise"]["state"], "measuring", "{followed:#}");
    let asked = partner.total();
    assert!(asked >= files, "each of these asked it: {asked}");
    build(&world, &machine.another());
    println!("`partner` was asked {asked} times, then {} times", partner.total() - asked);
    let promise = verdict(&world, "2026-11-02T13:06:00Z");
    assert_eq!(lost(&world, "13"), (0, 0.0), "no file of this build waited for it");
    let [promised, came] =
        ["promised_s_per_hour", "came_s_per_hour"].map(|name| promise[name].as_f64().unwrap() / 12.0);
    let [first, second] = ["12", "13"].map(|hour| took(&world, hour));
    assert!(second > 0.0, "the build went through the group");
    println!(
        "promised {promised:.1} s, came {came:.1} s; the requests of the build took {first:.1} s, then {second:.1} s"
    );
    assert_eq!(promise["state"], "held", "{promise:#}");
    assert!((0.67..1.5).contains(&(promised / came)), "{promise:#}");
    assert!((0.67..1.5).contains(&(promised / (first - second))), "{promise:#}: {first} s, then {second} s");
}

/// What the finding says of its promise, with which it has closed, after the time has passed to this moment.
pub(crate) fn verdict(world: &World, moment: &str) -> Value {
    eventually(|| {
        world.set_time(moment);
        closed(world).ok_or_else(|| format!("{:#?}", world.findings()))
    })
}

/// The promise of the finding, if it has closed.
fn closed(world: &World) -> Option<Value> {
    let closed = world.admin().get("/api/v1/findings?state=closed").expect(200).json();
    let closed = closed["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == ID).cloned();
    closed.map(|finding| finding["promise"].clone())
}

/// Starts the server again, with nothing cached.
pub(crate) fn empty(world: &mut World) {
    world.stop();
    for name in ["cache.sqlite", "cache.sqlite-wal", "cache.sqlite-shm"] {
        let _ = std::fs::remove_file(world.data().join(name));
    }
    world.resume();
}

/// The seconds of all requests of a build in this hour of the clock, by their events.
fn took(world: &World, hour: &str) -> f64 {
    let question = json!({
        "where": [["repository", "=", "company"]], "measures": ["sum(duration_ms)"],
        "from": format!("2026-11-02T{hour}:00:00Z"), "to": format!("2026-11-02T{hour}:03:00Z"),
    });
    let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
    answer["rows"][0]["sum(duration_ms)"].as_f64().unwrap() / 1e3
}

/// A whole build takes minutes with such a member, so it runs with `DAYLIGHT_SWEEPS=1` alone.
#[test]
fn a_whole_build_has_the_member_named_while_it_runs() {
    if std::env::var_os("DAYLIGHT_SWEEPS").is_none() {
        return;
    }
    let central = Central::open();
    let machine = central.machine(Release::Three8);
    let whole = |machine: &Machine, world: &World| {
        machine.settings(&world.url("company"), &[], "");
        let began = Instant::now();
        machine.project("lantern", &[("version", "1.0.0"), ("build", "1")]).maven(&["package"]).good();
        began.elapsed()
    };
    let partner = Upstream::start();
    let mut world = World::start();
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
        let took = whole(&machine, &world);
        ended.store(true, Relaxed);
        (took, watch.join().unwrap())
    });
    let (after, found) = opened.expect("it opens during the build");
    println!("opened after {after:.0?} of {took:.0?}: {}\n{}", sentence(&found), command(&found));
    let (files, seconds) = lost_within(&world, "-1d", None);
    println!("at the end: {files} files waited {seconds} s: {:#?}", world.findings());

    run(&world, &found, "");
    empty(&mut world);
    let second = whole(&machine.another(), &world);
    let promise = eventually(|| closed(&world).ok_or_else(|| format!("{:#?}", world.findings())));
    println!("with the advice: {second:.0?}, {promise:#}");
    let (files_now, seconds_now) = lost_within(&world, "-1d", None);
    let (later, late) = (files_now - files, seconds_now - seconds);
    assert!(late < 0.05 * seconds && second < took, "{later} files waited {late} s");
    let [promised, came] = ["promised_s_per_hour", "came_s_per_hour"].map(|name| promise[name].as_f64().unwrap());
    assert_eq!(promise["state"], "held", "{promise:#}");
    assert!((0.67..1.5).contains(&(promised / came)), "{promise:#}");
}
