//! Any order of pushes, yanks, policies and days of hosted gems, of an upstream and of their group: the API and the pages list exactly
//! the versions of `/info`, and refusals say what they say.

use super::{Met, day, in_state, meet, refused, text, told};
use crate::world::{FIRST, Gem, World};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MORE: &str = "more";
const REMOTE: &str = "theirs";
const GROUP: &str = "all-gems";
const REPOSITORIES: [&str; 4] = [FIRST, MORE, REMOTE, GROUP];
const NAMES: [&str; 3] = ["lamp", "oil", "acme-wick"];
const VERSIONS: [&str; 5] = ["1.9.0", "1.10.0", "2.0.0.rc1", "2.0.0", "1.10.0-java"];

#[derive(Debug, Clone)]
enum Step {
    /// Push to the first, the second hosted repository, or upstream.
    Push(usize, usize, usize),
    Yank(usize, usize, usize),
    Days(u32),
    Policy(usize, usize),
    Allow(usize, usize, usize),
    Claim(usize, usize),
    Remember,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let version = (0..NAMES.len(), 0..VERSIONS.len());
    let step = prop_oneof![
        8 => (0..3usize, version.clone()).prop_map(|(place, (name, number))| Step::Push(place, name, number)),
        2 => (0..3usize, version.clone()).prop_map(|(place, (name, number))| Step::Yank(place, name, number)),
        3 => (1..5u32).prop_map(Step::Days),
        4 => (0..REPOSITORIES.len(), 0..7usize).prop_map(|(place, policy)| Step::Policy(place, policy)),
        2 => (0..REPOSITORIES.len(), version).prop_map(|(place, (name, number))| Step::Allow(place, name, number)),
        1 => (0..3usize, 0..NAMES.len()).prop_map(|(place, name)| Step::Claim(place, name)),
        1 => Just(Step::Remember),
    ];
    prop::collection::vec(step, 4..24)
}

fn policy(which: usize) -> Value {
    match which {
        0 => json!({ "cooldown_s": 3 * 86_400 }),
        1 => json!({ "cooldown_s": 6 * 86_400 }),
        2 => json!({ "deny": ["lamp:1.1*", "oil"] }),
        3 => json!({ "deny": ["acme-*:2.0.0"], "cooldown_s": 86_400 }),
        4 => json!({ "allow": ["lamp", "acme-wick:1.*"] }),
        5 => json!({ "private_prefixes": ["acme-"] }),
        _ => json!({ "shared": ["lamp"] }),
    }
}

fn gem(name: usize, number: usize) -> Gem {
    match VERSIONS[number].split_once('-') {
        Some((number, platform)) => Gem::new(NAMES[name], number).platform(platform),
        None => Gem::new(NAMES[name], VERSIONS[number]),
    }
}

struct Scene {
    upstream: World,
    world: World,
    day: u32,
    moments: Vec<String>,
    met: Met,
}

impl Scene {
    fn new() -> Self {
        let (upstream, world) = (World::start(), World::start_in_conformance(&[]));
        world.set_time(&day(1));
        world.repository(MORE, false);
        world.remote_of("gem", REMOTE, &upstream.url(FIRST));
        let members = json!([FIRST, MORE, REMOTE]);
        world.make(&json!({ "name": GROUP, "format": "gem", "kind": "group", "members": members }));
        Self { upstream, world, day: 1, moments: Vec::new(), met: Met::default() }
    }

    fn place(&self, place: usize) -> (&World, &'static str) {
        [(&self.world, FIRST), (&self.world, MORE), (&self.upstream, FIRST)][place]
    }

    /// Some steps are refused, which is fine: pages tell what clients get.
    fn take(&mut self, step: &Step) {
        match *step {
            Step::Push(place, name, number) => {
                let (world, repository) = self.place(place);
                world.admin().push(repository, &gem(name, number));
            }
            Step::Yank(place, name, number) => {
                let (world, repository) = self.place(place);
                let (number, platform) = VERSIONS[number].split_once('-').unwrap_or((VERSIONS[number], "ruby"));
                let path = format!("/repository/{repository}/api/v1/gems/yank");
                let form = format!("gem_name={}&version={number}&platform={platform}", NAMES[name]);
                let headers = [("Content-Type", "application/x-www-form-urlencoded")];
                world.admin().ask("DELETE", &path, &headers, form.as_bytes());
            }
            Step::Days(days) => {
                self.day = (self.day + days).min(28);
                self.world.set_time(&day(self.day));
            }
            Step::Policy(place, which) => {
                let path = format!("/api/v1/repositories/{}", REPOSITORIES[place]);
                let none =
                    json!({ "include_hosted": true, "policy": { "cooldown_s": null, "deny": null, "allow": null } });
                self.world.admin().patch_json(&path, &none).expect(200);
                self.world.admin().patch_json(&path, &json!({ "include_hosted": true, "policy": policy(which) }));
            }
            Step::Allow(place, name, number) => {
                let number = VERSIONS[number].split('-').next().unwrap();
                let path = format!("/api/v1/repositories/{}/exceptions", REPOSITORIES[place]);
                let package = format!("{}:{number}", NAMES[name]);
                self.world.admin().post_json(&path, &json!({ "package": package, "why": "we need it" }));
            }
            Step::Claim(place, name) => {
                let path = format!("/api/v1/repositories/{}", REPOSITORIES[place]);
                self.world.admin().patch_json(&path, &json!({ "claims": [NAMES[name]] }));
            }
            Step::Remember => self.moments.push(format!("seq-{}", crate::as_of::last_change(&self.world))),
        }
    }

    fn compare(&self) {
        for repository in REPOSITORIES {
            let past = self.moments.iter().map(|moment| format!("{repository}@{moment}"));
            for seen in [repository.to_owned()].into_iter().chain(past) {
                NAMES.iter().for_each(|name| self.compare_one(&seen, name));
            }
        }
    }

    fn compare_one(&self, repository: &str, name: &str) {
        let anon = self.world.anon();
        let info = anon.file(repository, &format!("info/{name}"));
        let lines = if info.status == 200 { info.text() } else { "" };
        let offered: BTreeSet<&str> = lines.lines().filter(|line| *line != "---").map(token).collect();
        let Some(package) = told(&anon, repository, name) else {
            assert!(offered.is_empty(), "{repository} {name}: {lines}");
            return;
        };
        meet(&self.met, &package);
        let visible: BTreeSet<&str> = in_state(&package, "visible").iter().map(|one| text(one, "version")).collect();
        assert_eq!(visible, offered, "{repository} {name}: {lines}\n{package:#}");
        assert_eq!(package["visible"], offered.len());
        let file = |version: &Value| anon.file(repository, &format!("gems/{name}-{}.gem", text(version, "version")));
        for version in in_state(&package, "hidden") {
            refused(&file(version), version);
        }
        for gone in in_state(&package, "yanked") {
            assert!([404, 410].contains(&file(gone).status), "{gone}");
        }
        let latest = package["latest"].as_str();
        assert_eq!(latest.is_none(), offered.is_empty(), "{package:#}");
        if let Some(latest) = latest {
            assert!(offered.contains(latest));
            let is_release = |token: &&&str| !token.contains("rc");
            assert!(offered.iter().all(|one| !is_release(&one)) || is_release(&&latest), "{package:#}");
            let line = lines.lines().find(|line| token(line) == latest).unwrap();
            let version = anon.get(&format!("/api/v1/packages/{repository}/{name}/{latest}")).expect(200).json();
            let sum = text(&version["files"][0], "sha256").to_owned();
            assert!(line.contains(&format!("checksum:{sum}")), "{line}\n{version:#}");
            anon.get(&format!("/packages/{repository}/{name}/{latest}")).expect(200);
        }
    }
}

fn token(line: &str) -> &str {
    line.split(' ').next().unwrap()
}

#[test]
fn the_versions_that_pages_call_visible_are_those_of_info_whatever_policies_members_and_moments_there_are() {
    let config = Config { cases: 10, max_shrink_iters: 40, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&steps(), |steps| {
            compare_all(&steps);
            Ok(())
        })
        .unwrap();
}

#[test]
fn each_reason_for_which_clients_do_not_get_a_gem_is_met_and_told() {
    let mut scene = Scene::new();
    let [lamp, oil, wick] = [0, 1, 2];
    let steps = [
        Step::Push(0, lamp, 0),
        Step::Push(2, lamp, 1),
        Step::Push(2, wick, 0),
        Step::Push(1, oil, 0),
        Step::Yank(1, oil, 0),
        Step::Push(1, oil, 1),
        Step::Remember,
        Step::Days(1),
        Step::Push(0, lamp, 3),
    ];
    steps.iter().for_each(|step| scene.take(step));
    for which in 0..6 {
        scene.take(&Step::Policy(3, which));
        scene.compare();
    }
    let met: Vec<String> = scene.met.take().into_iter().collect();
    let all = ["allow", "as_of", "cooldown", "deny", "hidden", "origin", "private", "visible", "yanked"];
    assert_eq!(met, all);
}

#[test]
fn a_version_tells_who_published_it_when_and_the_command_that_lets_it_through() {
    let world = World::start_in_conformance(&[]);
    world.set_time(&day(1));
    let robot = world.person("robot", &["write"], &[FIRST]);
    robot.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.set_time(&day(10));
    let [first, oil] = [Gem::new("lamp", "1.1.0").needs("oil", "~> 2.0"), Gem::new("oil", "2.5.0")];
    world.admin().push(FIRST, &first).expect(200);
    world.admin().push(FIRST, &oil).expect(200);
    world.set_time(&day(11));
    let path = format!("/api/v1/repositories/{FIRST}");
    world
        .admin()
        .patch_json(&path, &json!({ "include_hosted": true, "policy": { "cooldown_s": 7 * 86_400 } }))
        .expect(200);
    let lamp = told(&world.anon(), FIRST, "lamp").unwrap();
    assert_eq!((&lamp["latest"], &lamp["total"], &lamp["visible"]), (&json!("1.0.0"), &json!(2), &json!(1)));
    let [young, old] = &lamp["versions"].as_array().unwrap()[..] else { panic!("{lamp}") };
    assert_eq!((&old["by"], &old["published"]), (&json!("robot"), &json!("2026-11-01T12:00:00.000Z")));
    let hidden = &young["hidden"];
    assert_eq!((&hidden["rule"], &hidden["until"]), (&json!("cooldown"), &json!("2026-11-17T12:00:00.000Z")));
    let command = format!("daylight policy allow {FIRST} lamp:1.1.0 --why REASON");
    assert_eq!(hidden["command"], *command);
    let html = world.anon().get(&format!("/packages/{FIRST}/lamp/1.1.0")).expect(200);
    assert!(html.text().contains(&command) && !html.text().contains("Gemfile"), "{}", html.text());
    let exception = json!({ "package": "lamp:1.1.0", "why": "it mends a hole" });
    world.admin().post_json(&format!("{path}/exceptions"), &exception).expect(201);
    let version = world.anon().get(&format!("/api/v1/packages/{FIRST}/lamp/1.1.0")).expect(200).json();
    assert!(text(&version, "let_through").contains("it mends a hole"), "{version}");
    assert_eq!(version["dependencies"][0]["package"], "oil");
    assert_eq!(version["dependencies"][0]["versions"], "~> 2.0");
    assert_eq!(version["about"]["licenses"], json!(["MIT"]));
    for missing in ["lamp/9.9", "lantern", "lamp/1.1.0/more"] {
        world.anon().get(&format!("/api/v1/packages/{FIRST}/{missing}")).expect(404);
        world.anon().get(&format!("/packages/{FIRST}/{missing}")).expect(404);
    }
    let listed = world.anon().get(&format!("/api/v1/packages/{FIRST}")).expect(200).json();
    let names: Vec<&str> = listed["packages"].as_array().unwrap().iter().map(|one| text(one, "package")).collect();
    assert_eq!(names, ["lamp", "oil"]);
    assert_eq!((&listed["packages"][1]["visible"], &listed["packages"][1]["hidden"]), (&json!(0), &json!(1)));
    let part = world.anon().get(&format!("/api/v1/packages/{FIRST}?limit=1")).expect(200).json();
    assert_eq!((&part["next"], part["packages"].as_array().unwrap().len()), (&json!("lamp"), 1));
    let rest = world.anon().get(&format!("/api/v1/packages/{FIRST}?limit=1&after=lamp")).expect(200).json();
    assert_eq!(rest["packages"][0]["package"], "oil");
}

#[test]
fn a_long_list_has_parts_and_none_is_cut_off_without_a_word() {
    let world = World::start();
    let connection = &mut world.admin().connect().unwrap();
    for at in 0..12 {
        world.admin().push_on(connection, FIRST, &Gem::new("lamp", &format!("1.{at}.0")).bytes()).unwrap().expect(200);
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let part = world.anon().get(&format!("/api/v1/packages/{FIRST}/lamp?limit=5{after}")).expect(200).json();
        assert_eq!(part["total"], 12);
        seen.extend(part["versions"].as_array().unwrap().iter().map(|one| text(one, "version").to_owned()));
        let page = world.anon().get(&format!("/packages/{FIRST}/lamp?limit=5{after}")).expect(200).text().to_owned();
        let Some(next) = part["next"].as_str() else {
            assert!(page.contains("10 are on other pages"), "{page}");
            break;
        };
        assert!(
            page.contains(&format!("/packages/{FIRST}/lamp?after={next}")) && page.contains("7 are on other pages")
        );
        after = format!("&after={next}");
    }
    assert_eq!(seen, (0..12).rev().map(|at| format!("1.{at}.0")).collect::<Vec<_>>());
}

/// Takes all steps, and compares after each fourth one and at the end.
fn compare_all(steps: &[Step]) -> Met {
    let mut scene = Scene::new();
    for (at, step) in steps.iter().enumerate() {
        scene.take(step);
        if at % 4 == 3 {
            scene.compare();
        }
    }
    scene.compare();
    scene.met
}

#[test]
fn a_denied_version_that_an_upstream_lists_only_in_its_info_is_refused_as_pages_say() {
    let [lamp, wick, java] = [0, 2, 4];
    let met = compare_all(&[
        Step::Push(0, lamp, 0),
        Step::Days(2),
        Step::Remember,
        Step::Push(2, wick, 0),
        Step::Policy(3, 2),
        Step::Claim(2, lamp),
        Step::Push(0, 1, java),
        Step::Push(2, lamp, 0),
        Step::Days(1),
        Step::Push(2, lamp, java),
        Step::Policy(0, 5),
        Step::Push(0, wick, 3),
    ]);
    assert!(met.take().contains("deny"));
}

#[test]
fn a_version_that_two_members_refuse_is_refused_with_the_reason_of_the_first() {
    let [lamp, java, shared, cooldown] = [0, 4, 6, 1];
    let met = compare_all(&[
        Step::Policy(2, shared),
        Step::Push(2, lamp, java),
        Step::Push(0, lamp, java),
        Step::Policy(3, cooldown),
    ]);
    assert!(met.take().contains("cooldown"));
}
