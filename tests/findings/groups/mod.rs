//! Findings about groups and their members: who is waited for in vain, what it costs, and the command that ends it.

mod facts;
mod failing;
pub(crate) mod maven;
mod order;
mod vain;
pub(crate) mod width;

use crate::world::{Person, Says, Upstream, World};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// A server whose clock stands still, with a group `company` of `ours` (hosted), `partner` and `central` (remote), in this order.
struct Scene {
    world: World,
    partner: Upstream,
    central: Upstream,
    /// Minutes that the clock has moved on.
    minutes: u32,
}

impl Scene {
    /// `partner` answers 404 after this time.
    fn new(settings: &'static [(&'static str, &'static str)], slow: Duration) -> Self {
        let scene = Self {
            world: World::start_in_conformance(settings),
            partner: Upstream::start(),
            central: Upstream::start(),
            minutes: 0,
        };
        scene.world.set_time("2026-11-02T12:00:00Z");
        scene.slow(slow);
        scene.world.tree("ours", "maven");
        scene.world.remote("partner", &scene.partner.url());
        scene.world.remote("central", &scene.central.url());
        scene.world.make(&json!({ "name": "company", "format": "maven", "members": ["ours", "partner", "central"] }));
        scene
    }

    /// How long `partner` takes from now on to say that it lacks a file.
    fn slow(&self, slow: Duration) {
        self.partner.says_otherwise(Says::status(404).after(slow));
    }

    /// Releases of `org.example`, a file of each, which `central` has and `partner` lacks.
    fn releases(&self, count: usize, series: &str) -> Vec<String> {
        let path = |n| format!("org/example/{series}{n}/1.0/{series}{n}-1.0.jar");
        let paths: Vec<String> = (0..count).map(path).collect();
        paths.iter().for_each(|path| self.central.file(&format!("/{path}"), path.as_str()));
        paths
    }

    /// Requests these paths through the group, so many at a time. All are answered with this status, and their events are kept.
    fn get(&self, paths: &[String], at_once: usize, status: u16) {
        get(&self.world, &self.world.anon(), "company", paths, at_once, &[status]);
    }

    /// The findings of the group's checks, after a look now and another one six minutes later by the clock, which setting it takes.
    fn look(&mut self) -> Vec<Value> {
        self.minutes += 6;
        let (hour, minute) = (12 + self.minutes / 60, self.minutes % 60);
        self.world.set_time(&format!("2026-11-02T{hour:02}:{minute:02}:00Z"));
        self.world.findings()
    }

    /// No finding of this key is pending or open.
    #[track_caller]
    fn silent(&mut self, key: &str) {
        let found: Vec<Value> = self.look().into_iter().filter(|finding| finding["key"] == key).collect();
        assert_eq!(found, Vec::<Value>::new());
    }

    /// The open finding that is named first: it has this id, its question has rows, and its event is kept. That other programs
    /// take the processors of the machine of the tests is no part of the incident.
    #[track_caller]
    fn first(&mut self, id: &str) -> Value {
        let found = self.look();
        let open: Vec<&Value> = found.iter().filter(|finding| is_open_here(finding)).collect();
        let first = *open.first().unwrap_or_else(|| panic!("nothing is open: {found:#?}"));
        assert_eq!(first["id"], id, "{found:#?}");
        proven(&self.world, first);
        first.clone()
    }
}

/// Whether a finding is open that is not about the load of the machine.
fn is_open_here(finding: &Value) -> bool {
    finding["state"] == "open" && finding["key"] != "starved-of-processors"
}

/// The question of a finding has rows, and its event is kept.
#[track_caller]
fn proven(world: &World, finding: &Value) {
    let asked = world.admin().post_json("/api/v1/ask", &finding["evidence"]).expect(200).json();
    assert!(!asked["rows"].as_array().unwrap().is_empty(), "{asked}: {:#}", finding["evidence"]);
    let event = world.event(finding["event"].as_str().unwrap_or_else(|| panic!("no event: {finding:#}")));
    assert_eq!(event["id"], finding["event"]);
}

/// Requests these paths of a repository, so many at a time, and waits until their events are kept.
pub(crate) fn get(
    world: &World,
    person: &Person,
    repository: &str,
    paths: &[String],
    at_once: usize,
    statuses: &[u16],
) {
    let rest = Mutex::new(paths.iter());
    let last: Vec<Option<String>> = std::thread::scope(|scope| {
        let client = || {
            let (mut connection, mut last) = (person.connect().unwrap(), None);
            loop {
                let Some(path) = rest.lock().unwrap().next() else { return last };
                let path = format!("/repository/{repository}/{path}");
                let answer = person.on(&mut connection, "GET", &path, &[], b"").unwrap();
                assert!(statuses.contains(&answer.status), "{path}: {} {}", answer.status, answer.text());
                last = answer.header("daylight-event").map(str::to_owned);
            }
        };
        let clients: Vec<_> = (0..at_once).map(|_| scope.spawn(client)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    last.into_iter().flatten().for_each(|id| drop(world.event(&id)));
}

/// The command that a finding advises.
pub(crate) fn command(finding: &Value) -> &str {
    let changes = finding["changes"].as_array().unwrap();
    changes.iter().find_map(|change| change["command"].as_str()).unwrap_or_else(|| panic!("{finding:#}"))
}

/// Runs the command that a finding advises, as a person would type it, without its `--preview`, and with these words behind it.
pub(crate) fn run(world: &World, finding: &Value, and: &str) -> String {
    let line = command(finding).strip_prefix("daylight ").unwrap();
    let line = line.strip_suffix(" --preview").unwrap_or(line);
    let program = env!("CARGO_BIN_EXE_daylight");
    let shell = world.command(&[]).get_envs().fold(Command::new("sh"), |mut shell, (name, value)| {
        value.map(|value| shell.env(name, value));
        shell
    });
    let mut shell = shell;
    let said = shell.args(["-c", &format!("'{program}' {line} {and}")]).output().unwrap();
    let text = String::from_utf8([said.stdout, said.stderr].concat()).unwrap();
    assert!(said.status.success(), "{line} {and}: {text}");
    text
}

fn sentence(finding: &Value) -> &str {
    finding["sentence"].as_str().unwrap()
}

/// The members that a request was answered with: `partner:not_found central:hit`.
fn members_said(world: &World, path: &str) -> String {
    let answer = world.anon().file("company", path);
    let event = world.event(answer.header("daylight-event").unwrap());
    let said = event["members"].as_array().unwrap().iter();
    said.map(|member| format!("{}:{}", member["member"].as_str().unwrap(), member["said"].as_str().unwrap()))
        .collect::<Vec<_>>()
        .join(" ")
}
