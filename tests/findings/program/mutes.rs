//! Mutes, and the command line of findings.

use super::{at, finding, open};
use crate::world::{World, await_true, program};
use serde_json::{Value, json};
use std::process::Output;

const ID: &str = "contradictory-settings@setting:telemetry.access_log_file";
const SETTINGS: &[(&str, &str)] = &[("DAYLIGHT_TELEMETRY_ACCESS_LOG_FILE", "access.log")];

fn daylight(world: &World, arguments: &[&str]) -> Output {
    world.command(arguments).output().unwrap()
}

/// The output of a command that succeeds.
#[track_caller]
fn said(world: &World, arguments: &[&str]) -> String {
    let output = daylight(world, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The message of a command that fails.
#[track_caller]
fn refused(world: &World, arguments: &[&str]) -> String {
    let output = daylight(world, arguments);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn server() -> World {
    let world = World::start_in_conformance(SETTINGS);
    at(&world, "12:00:00");
    at(&world, "12:06:00");
    open(&world, ID);
    world
}

#[test]
fn a_mute_survives_a_restart_is_in_the_journal_and_ends_by_itself() {
    let mut world = server();
    let answer = said(&world, &["findings", "mute", ID, "--why", "it comes later", "--until", "2d", "--json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let mute = json!({ "id": ID, "why": "it comes later", "until": "2026-11-04T12:06:00.000Z", "by": "admin" });
    assert_eq!(answer, mute);
    assert_eq!(finding(&world, ID), None);
    world.stop();
    world.resume();
    at(&world, "13:00:00");
    at(&world, "13:06:00");
    assert_eq!(finding(&world, ID), None);
    let shown = said(&world, &["findings", "--state", "muted"]);
    assert!(shown.starts_with(&format!("{ID}: muted since ")), "{shown}");
    assert!(shown.ends_with("  muted     until 2026-11-04T12:06:00.000Z by admin: it comes later\n"), "{shown}");
    let journal = said(&world, &["journal", "--kind", "setting"]);
    assert!(journal.contains(&format!("findings.mute/{ID}")) && journal.contains("admin"), "{journal}");
    world.set_time("2026-11-04T12:00:00Z");
    assert_eq!(finding(&world, ID), None, "minutes before its end");
    world.set_time("2026-11-04T12:07:00Z");
    world.set_time("2026-11-04T12:13:00Z");
    assert_eq!(open(&world, ID)["mute"], Value::Null);
}

#[test]
fn a_finding_that_is_not_there_or_not_muted_is_refused_with_the_nearest_id() {
    let world = server();
    let mute =
        |id: &str, why: &str, until: &str| refused(&world, &["findings", "mute", id, "--why", why, "--until", until]);
    let near = ID.replace("settings@", "setting@");
    let said_of_it = mute(&near, "x", "1d");
    assert!(
        said_of_it.contains("there is no finding") && said_of_it.contains(&format!("did you mean `{ID}`?")),
        "{said_of_it}"
    );
    assert!(mute(ID, "x", "2026-11-02T12:00:00Z").contains("`until` has passed"));
    assert!(mute(ID, "x", "2y").contains("more than 366 days"));
    assert!(mute(ID, " ", "1d").contains("1 to 500 characters"));
    assert!(refused(&world, &["findings", "unmute", ID]).contains("is not muted"));
    let json: Value = serde_json::from_str(&refused(&world, &["findings", "unmute", ID, "--json"])).unwrap();
    assert_eq!(json["status"], 404);
    said(&world, &["findings", "mute", ID, "--why", "x", "--until", "1d"]);
    assert_eq!(finding(&world, ID), None);
    said(&world, &["findings", "unmute", ID]);
    open(&world, ID);
    // Slashes of an id stand as they are.
    assert!(
        mute("member-never-decides@member:g/m", "x", "1d").contains("no finding `member-never-decides@member:g/m`")
    );
}

#[test]
fn the_command_shows_findings_by_state_and_time_and_says_how_many_checks_could_look() {
    let world = server();
    let shown = said(&world, &["findings"]);
    assert!(shown.starts_with(&format!("{ID}: open since 2026-11-02T12:0")), "{shown}");
    assert!(shown.contains("\n  `telemetry.access_log_file` has no effect while"), "{shown}");
    at(&world, "14:00:00");
    let before = said(&world, &["findings", "--at", "2026-11-02T12:01:00Z..2026-11-02T12:30:00Z"]);
    assert!(before.starts_with(ID), "{before}");
    let json: Value = serde_json::from_str(&said(&world, &["findings", "--at=-3h..now", "--json"])).unwrap();
    assert_eq!(json["findings"][0]["id"], ID, "{json}");
    let none = said(&world, &["findings", "--at", "2026-10-01..2026-10-02"]);
    assert_eq!(none, "no finding is in these states, or was at that time\n");
    assert!(refused(&world, &["findings", "--at", "yesterday..now"]).contains("`yesterday` is no moment"));
    let world = World::start_in_conformance(&[]);
    let nothing = said(&world, &["findings"]);
    assert!(nothing.starts_with("nothing found by ") && nothing.contains(" checks"), "{nothing}");
}

#[test]
fn a_finding_of_the_settings_is_told_and_a_question_that_needs_events_is_refused_at_the_start() {
    let finding = |question: &str| {
        format!(
            "[[finding]]\nname = \"many-404\"\nquestion = \"{question}\"\nabove = 5\nsentence = \"Many names are missing\"\n"
        )
    };
    let world = World::start_with_file(&finding("count by repository where outcome = not_found from -1h"));
    let checks = || world.admin().get("/api/v1/checks").expect(200).json();
    await_true("the checks have looked", || checks()["all"] != 0);
    let checks = checks();
    assert_eq!(checks["all"].as_u64().unwrap(), checks["checks"].as_array().unwrap().len() as u64 + 1, "{checks}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), finding("count by package")).unwrap();
    let output = program(&["serve", "--config", file.path().to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(":3: the question cannot be answered from the counts"), "{said}");
}
