//! The usual times of an hour of the week, and what requests cost whatever the machine.

use crate::world::{Says, Upstream, World};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A server whose group `all` has these hosted members.
fn grouped(members: &[&str]) -> World {
    let world = World::start_in_conformance(&[]);
    world.set_time("2026-11-02T12:00:00Z");
    members.iter().for_each(|name| world.tree(name, "maven"));
    world.make(&json!({ "name": "all", "format": "maven", "kind": "group", "members": members }));
    world
}

/// Five minutes of requests for files that no member has, so that each is asked.
fn minutes(world: &World, clients: usize) {
    let person = &world.anon();
    for minute in 0..5 {
        std::thread::scope(|scope| {
            for client in 0..clients {
                scope.spawn(move || {
                    let mut connection = person.connect().unwrap();
                    for n in 0..240 / clients {
                        let path = format!("/repository/all/org/example/m{minute}c{client}n{n}/1.0/a-1.0.jar");
                        person.on(&mut connection, "GET", &path, &[], b"").unwrap().expect(404);
                    }
                });
            }
        });
        world.set_time(&format!("2026-11-02T12:{:02}:00Z", minute + 1));
    }
}

fn export(world: &World, folder: &Path, name: &str) -> PathBuf {
    let file = folder.join(name);
    let done = world.command(&["baseline", "export", "--output"]).arg(&file).output().unwrap();
    assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
    file
}

/// What a comparison says, and its exit code.
fn compare(world: &World, before: &Path, after: &Path, flags: &[&str]) -> (String, Option<i32>) {
    let done = world.command(&["baseline", "compare"]).args(flags).arg(before).arg(after).output().unwrap();
    (String::from_utf8(done.stdout).unwrap(), done.status.code())
}

#[test]
fn a_server_that_asks_twice_as_many_members_differs_and_the_same_one_with_more_clients_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let [usual, crowded, twice] = [(&["a"][..], 1), (&["a"], 8), (&["a", "b"], 1)].map(|(members, clients)| {
        let world = grouped(members);
        minutes(&world, clients);
        world
    });
    let [before, same, after] = [(&usual, "before"), (&crowded, "same"), (&twice, "after")]
        .map(|(world, name)| export(world, folder.path(), name));
    let exported: Value = serde_json::from_slice(&std::fs::read(&before).unwrap()).unwrap();
    let downloads = &exported["classes"]["downloads"];
    assert_eq!(downloads["requests"], 1200, "{exported:#}");
    let members = |file: &str| downloads["files"][file]["members_per_group_request"]["value"].clone();
    assert_eq!(members("file 4xx"), 1.0, "{downloads:#}");

    let (said, code) = compare(&usual, &before, &same, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("0 of "), "{said}");
    let (said, code) = compare(&usual, &before, &after, &[]);
    assert_eq!(code, Some(1), "{said}");
    let row = said.lines().find(|line| line.contains("members_per_group_request")).unwrap();
    assert!(row.starts_with("downloads ") && row.contains("1.000") && row.contains("2.000  +100 %"), "{said}");
    let (json, code) = compare(&usual, &before, &after, &["--json"]);
    assert_eq!(code, Some(1));
    let found: Value = serde_json::from_str(&json).unwrap();
    let ratios: Vec<&str> =
        found["differs"].as_array().unwrap().iter().map(|one| one["ratio"].as_str().unwrap()).collect();
    assert!(ratios.contains(&"members_per_group_request") && !ratios.contains(&"calls_per_fetch"), "{json}");
}

#[test]
fn an_export_needs_the_right_to_observe_and_two_exports_of_this_form() {
    let world = World::start();
    world.anon().get("/api/v1/baseline").expect(401);
    let observer = world.person("observer", &["observe"], &[]);
    assert_eq!(observer.get("/api/v1/baseline?minutes=5").expect(200).json()["format"], 1);
    let text = observer.get("/api/v1/baseline?minutes=1441").expect(400).text().to_owned();
    assert!(text.contains("`minutes` must be a number from 1 to 1440"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let (export, other) = (export(&world, folder.path(), "a"), folder.path().join("b"));
    std::fs::write(&other, "{\"format\": 2}").unwrap();
    let done = world.command(&["baseline", "compare"]).args([&export, &other]).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(
        said.contains("is no export of this version's form") && said.contains("hint: `daylight baseline export"),
        "{said}"
    );
    let (said, code) = compare(&world, &export, &export, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("0 of 0 ratios differ") && said.contains("not compared: "), "{said}");
}

/// An upstream, and how long it takes.
struct Slow {
    world: World,
    upstream: Upstream,
    /// Files that were asked for.
    asked: usize,
}

impl Slow {
    /// Clients that ask at the same time, each for a new file.
    fn ask(&mut self, clients: usize, takes: Duration) {
        self.upstream.says_otherwise(Says::bytes("a file").after(takes));
        let (person, from) = (&self.world.anon(), self.asked);
        std::thread::scope(|scope| {
            for n in from..from + clients {
                scope.spawn(move || person.get(&format!("/repository/files/a/{n}")).expect(200));
            }
        });
        self.asked += clients;
    }

    /// Six minutes of such requests, from an hour on. Returns whether the class, or the kind of repository, was found slow.
    fn minutes(&mut self, hour: &str, takes: Duration) -> bool {
        for minute in 1..=6 {
            self.ask(48, takes);
            self.world.set_time(&format!("{hour}:{minute:02}:00Z"));
        }
        self.ask(48, takes);
        self.world.findings();
        // Clients that are still slow six minutes later.
        self.world.set_time(&format!("{hour}:13:00Z"));
        let listed = |finding: &Value| {
            let folds = finding["folds"]
                .as_array()
                .unwrap()
                .iter()
                .any(|id| id.as_str().unwrap().starts_with("slower-than-normal@"));
            folds || finding["key"] == "slower-than-normal"
        };
        self.world.findings().iter().any(listed)
    }
}

#[test]
fn requests_that_take_longer_than_usual_at_this_hour_are_told_after_a_day_of_figures() {
    let world = World::start_in_conformance(&[("DAYLIGHT_UPSTREAM_MAX_CALLS", "64")]);
    world.set_time("2026-11-02T00:00:00Z");
    let upstream = Upstream::start();
    world.remote_of("raw", "files", &upstream.url());
    let usual = Duration::from_millis(200);
    let mut slow = Slow { world, upstream, asked: 0 };
    let needs = |world: &World| -> Option<String> {
        let checks = world.admin().get("/api/v1/checks").expect(200).json();
        let check =
            checks["checks"].as_array().unwrap().iter().find(|check| check["key"] == "slower-than-normal").cloned();
        check.unwrap()["needs"].as_str().map(str::to_owned)
    };
    let at = |hour: usize| format!("2026-11-{:02}T{:02}", 2 + hour / 24, hour % 24);
    // The hour of the start counts if it had requests.
    let mut hours = 0;
    while let Some(text) = needs(&slow.world).filter(|_| hours < 30) {
        assert!(text.contains("24 hours of figures"), "{text}");
        slow.ask(12, usual);
        hours += 1;
        slow.world.set_time(&format!("{}:00:00Z", at(hours)));
    }
    assert!((22..=25).contains(&hours), "{hours} hours");
    // Four fifths of the threshold, and eight times it.
    assert!(!slow.minutes(&at(hours), usual.mul_f64(1.04)), "{:#?}", slow.world.findings());
    slow.world.set_time(&format!("{}:00:00Z", at(hours + 1)));
    assert!(slow.minutes(&at(hours + 1), usual * 10), "{:#?}", slow.world.findings());
    let all = slow.world.admin().get("/api/v1/findings").expect(200).json();
    if let Some(finding) =
        all["findings"].as_array().unwrap().iter().find(|finding| finding["key"] == "slower-than-normal")
    {
        let asked = slow.world.admin().post_json("/api/v1/ask", &finding["evidence"]).expect(200).json();
        assert!(!asked["rows"].as_array().unwrap().is_empty(), "{finding:#} {asked:#}");
    }
}
