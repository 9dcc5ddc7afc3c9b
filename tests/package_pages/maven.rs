//! Any order of deploys, deletions, policies and days of hosted artifacts, of an upstream and of their group: the API and the pages
//! list exactly the versions of `maven-metadata.xml`, and a POM is answered if its version is called visible.

use super::{Met, day, in_state, meet, refused, text, told};
use crate::world::World;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const OURS: &str = "ours";
const MORE: &str = "more";
const REMOTE: &str = "theirs";
const GROUP: &str = "all";
const REPOSITORIES: [&str; 4] = [OURS, MORE, REMOTE, GROUP];
const ARTIFACTS: [&str; 2] = ["lamp", "oil"];
const VERSIONS: [&str; 5] = ["1.9", "1.10", "2.0-rc1", "2.0", "3-SNAPSHOT"];

#[derive(Debug, Clone)]
enum Step {
    Deploy(usize, usize, usize),
    Delete(usize, usize, usize),
    Days(u32),
    Policy(usize, usize),
    Allow(usize, usize, usize),
    Remember,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let version = (0..ARTIFACTS.len(), 0..VERSIONS.len());
    let step = prop_oneof![
        8 => (0..3usize, version.clone()).prop_map(|(place, (name, number))| Step::Deploy(place, name, number)),
        2 => (0..3usize, version.clone()).prop_map(|(place, (name, number))| Step::Delete(place, name, number)),
        3 => (1..5u32).prop_map(Step::Days),
        4 => (0..REPOSITORIES.len(), 0..6usize).prop_map(|(place, policy)| Step::Policy(place, policy)),
        2 => (0..REPOSITORIES.len(), version).prop_map(|(place, (name, number))| Step::Allow(place, name, number)),
        1 => Just(Step::Remember),
    ];
    prop::collection::vec(step, 4..24)
}

fn policy(which: usize) -> Value {
    match which {
        0 => json!({ "cooldown_s": 3 * 86_400 }),
        1 => json!({ "cooldown_s": 6 * 86_400 }),
        2 => json!({ "deny": ["org.example:lamp:1.1*", "*:oil"] }),
        3 => json!({ "deny": ["*:*:2.0"], "cooldown_s": 86_400 }),
        4 => json!({ "allow": ["org.example:lamp", "*:*:1.*"] }),
        _ => json!({ "shared": ["org.example:lamp"] }),
    }
}

fn pom(artifact: usize, version: usize) -> String {
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>{}</artifactId>\
         <version>{}</version><description>It shines.</description></project>",
        ARTIFACTS[artifact], VERSIONS[version]
    )
}

fn path(artifact: usize, version: &str) -> String {
    let artifact = ARTIFACTS[artifact];
    format!("org/example/{artifact}/{version}/{artifact}-{version}.pom")
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
        let (upstream, world) = (World::start_in_conformance(&[]), World::start_in_conformance(&[]));
        world.set_time(&day(1));
        upstream.set_time(&day(1));
        upstream.tree(OURS, "maven");
        world.tree(OURS, "maven");
        world.tree(MORE, "maven");
        // A list of the upstream is fetched again at each request.
        let remote = json!({ "urls": [upstream.url(OURS)], "fresh_s": 0, "missing_s": 0 });
        world.make(&json!({ "name": REMOTE, "format": "maven", "kind": "remote", "remote": remote }));
        world.make(&json!({ "name": GROUP, "format": "maven", "members": [OURS, MORE, REMOTE] }));
        Self { upstream, world, day: 1, moments: Vec::new(), met: Met::default() }
    }

    fn place(&self, place: usize) -> (&World, &'static str) {
        [(&self.world, OURS), (&self.world, MORE), (&self.upstream, OURS)][place]
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Deploy(place, artifact, version) => {
                let (world, repository) = self.place(place);
                let path = path(artifact, VERSIONS[version]);
                world.admin().put(repository, &path, pom(artifact, version).as_bytes());
            }
            Step::Delete(place, artifact, version) => {
                let (world, repository) = self.place(place);
                world.admin().delete(repository, &path(artifact, VERSIONS[version]));
            }
            Step::Days(days) => {
                self.day = (self.day + days).min(28);
                self.upstream.set_time(&day(self.day));
                self.world.set_time(&day(self.day));
            }
            Step::Policy(place, which) => {
                let path = format!("/api/v1/repositories/{}", REPOSITORIES[place]);
                let none =
                    json!({ "include_hosted": true, "policy": { "cooldown_s": null, "deny": null, "allow": null } });
                self.world.admin().patch_json(&path, &none).expect(200);
                self.world.admin().patch_json(&path, &json!({ "include_hosted": true, "policy": policy(which) }));
            }
            Step::Allow(place, artifact, version) => {
                let path = format!("/api/v1/repositories/{}/exceptions", REPOSITORIES[place]);
                let package = format!("org.example:{}:{}", ARTIFACTS[artifact], VERSIONS[version]);
                self.world.admin().post_json(&path, &json!({ "package": package, "why": "we need it" }));
            }
            Step::Remember => self.moments.push(format!("seq-{}", crate::as_of::last_change(&self.world))),
        }
    }

    fn compare(&self) {
        for repository in REPOSITORIES {
            let past = self.moments.iter().map(|moment| format!("{repository}@{moment}"));
            for seen in [repository.to_owned()].into_iter().chain(past) {
                (0..ARTIFACTS.len()).for_each(|artifact| self.compare_one(&seen, artifact));
            }
        }
    }

    fn compare_one(&self, repository: &str, artifact: usize) {
        let (anon, name) = (self.world.anon(), ARTIFACTS[artifact]);
        let metadata = anon.file(repository, &format!("org/example/{name}/maven-metadata.xml"));
        let listed = if metadata.status == 200 { metadata.text() } else { "" };
        let offered: BTreeSet<&str> =
            listed.split("<version>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
        let Some(package) = told(&anon, repository, &format!("org.example:{name}")) else {
            assert!(offered.is_empty(), "{repository} {name}: {listed}");
            return;
        };
        meet(&self.met, &package);
        let visible: BTreeSet<&str> = in_state(&package, "visible").iter().map(|one| text(one, "version")).collect();
        // If the list of an upstream is not known, the page says so, and tells which versions the cache has.
        let is_cached = |one: &&Value| !one["cached"].is_null() && !package["notes"].as_array().unwrap().is_empty();
        let visible_ones = in_state(&package, "visible").into_iter();
        let unsure: BTreeSet<&str> = visible_ones.filter(is_cached).map(|one| text(one, "version")).collect();
        assert!(visible.is_superset(&offered), "{repository} {name}: {listed}\n{package:#}");
        let more: BTreeSet<&str> = visible.difference(&offered).copied().collect();
        assert!(more.is_subset(&unsure), "{repository} {name}: {listed}\n{package:#}");
        let release = |tag: &str| listed.split(&format!("<{tag}>")).nth(1).map(|rest| rest.split('<').next().unwrap());
        if more.is_empty() {
            let latest = release("release").or_else(|| release("latest"));
            assert_eq!(package["latest"].as_str(), latest, "{listed}\n{package:#}");
        }
        let file = |version: &Value| anon.file(repository, &path(artifact, text(version, "version")));
        for version in in_state(&package, "visible") {
            if text(version, "version").ends_with("SNAPSHOT") {
                continue; // the files of a snapshot at earlier moments are not recorded
            }
            let answer = file(version);
            assert_eq!(answer.status, 200, "{repository}: {}\n{package:#}", answer.text());
            let url = format!("/api/v1/packages/{repository}/org.example:{name}/{}", text(version, "version"));
            let shown = anon.get(&url).expect(200).json();
            assert_eq!(shown["about"]["description"], "It shines.", "{shown:#}");
            let digest = &shown["files"][0]["sha1"];
            let sum = anon.file(repository, &format!("{}.sha1", path(artifact, text(version, "version"))));
            assert_eq!(digest, sum.expect(200).text(), "{shown:#}");
        }
        for version in in_state(&package, "hidden") {
            if !text(version, "version").ends_with("SNAPSHOT") {
                refused(&file(version), version);
            }
        }
        for unlisted in in_state(&package, "unlisted") {
            if !text(unlisted, "version").ends_with("SNAPSHOT") {
                assert_eq!(file(unlisted).status, 200, "{unlisted}");
            }
        }
        for gone in in_state(&package, "deleted") {
            // A policy refuses what it denies, whether it is there or not.
            assert!([403, 404].contains(&file(gone).status), "{gone}");
        }
    }
}

#[test]
fn the_versions_that_pages_call_visible_are_those_of_the_metadata_whatever_policies_members_and_moments_there_are() {
    let config = Config { cases: 10, max_shrink_iters: 40, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&steps(), |steps| {
            let mut scene = Scene::new();
            for (at, step) in steps.iter().enumerate() {
                scene.take(step);
                if at % 4 == 3 {
                    scene.compare();
                }
            }
            scene.compare();
            Ok(())
        })
        .unwrap();
}

#[test]
fn each_reason_for_which_clients_do_not_get_an_artifact_is_met_and_told() {
    let mut scene = Scene::new();
    let [lamp, oil] = [0, 1];
    let steps = [Step::Deploy(2, lamp, 1), Step::Deploy(1, oil, 0), Step::Delete(1, oil, 0), Step::Deploy(1, oil, 3)];
    steps.iter().for_each(|step| scene.take(step));
    scene.compare(); // the list of the upstream is in the cache from now on
    for step in [Step::Deploy(0, lamp, 0), Step::Remember, Step::Days(1), Step::Deploy(0, lamp, 3)] {
        scene.take(&step);
    }
    for which in 0..5 {
        scene.take(&Step::Policy(3, which));
        scene.compare();
    }
    let met: Vec<String> = scene.met.take().into_iter().collect();
    let all = ["allow", "as_of", "cooldown", "deleted", "deny", "hidden", "origin", "visible"];
    assert_eq!(met, all);
}

#[test]
fn of_two_reasons_the_one_that_does_not_end_with_a_cooldown_is_told_whichever_repository_has_it() {
    let mut scene = Scene::new();
    let [older, newer] = [0, 3];
    for step in [Step::Deploy(2, 1, older), Step::Deploy(2, 1, newer), Step::Policy(2, 0)] {
        scene.take(&step);
    }
    scene.compare(); // the list of the upstream is in the cache from now on
    scene.take(&Step::Policy(3, 2));
    scene.compare();
    let package = told(&scene.world.anon(), GROUP, "org.example:oil").unwrap();
    let reasons = in_state(&package, "hidden").into_iter().map(|version| {
        (text(version, "version"), text(&version["hidden"], "rule"), text(&version["hidden"], "repository"))
    });
    assert_eq!(reasons.collect::<Vec<_>>(), [("2.0", "deny", GROUP), ("1.9", "deny", GROUP)]);
}

#[test]
fn a_cached_version_that_its_upstream_lists_no_more_is_called_unlisted_and_is_still_answered_by_its_name() {
    let mut scene = Scene::new();
    let [lamp, older, newer] = [0, 0, 3];
    scene.take(&Step::Deploy(2, lamp, older));
    scene.compare(); // its POM is in the cache from now on
    scene.take(&Step::Deploy(2, lamp, newer));
    scene.take(&Step::Delete(2, lamp, older));
    scene.compare();
    for repository in [REMOTE, GROUP] {
        let package = told(&scene.world.anon(), repository, "org.example:lamp").unwrap();
        let versions = package["versions"].as_array().unwrap().iter();
        let states = versions.map(|one| (text(one, "version"), text(one, "state")));
        assert_eq!(states.collect::<Vec<_>>(), [("2.0", "visible"), ("1.9", "unlisted")], "{repository}");
    }
}

#[test]
fn a_version_tells_what_its_pom_declares_and_its_files() {
    let world = World::start();
    world.tree(OURS, "maven");
    let pom = "<project><modelVersion>4.0.0</modelVersion><parent><groupId>org.example</groupId><artifactId>house</artifactId>\
        <version>3</version></parent><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0</version>\
        <url>https://lamp.example</url><licenses><license><name>MIT</name></license></licenses><dependencies>\
        <dependency><groupId>org.example</groupId><artifactId>oil</artifactId><version>2.5</version></dependency>\
        <dependency><groupId>g</groupId><artifactId>match</artifactId><scope>test</scope><optional>true</optional></dependency>\
        </dependencies></project>";
    world.admin().put(OURS, &path(0, "1.0"), pom.as_bytes()).expect(201);
    world.admin().put(OURS, &path(0, "1.0").replace(".pom", ".jar"), b"jar").expect(201);
    let version = world.anon().get("/api/v1/packages/ours/org.example:lamp/1.0").expect(200).json();
    assert_eq!(version["parent"], json!({ "package": "org.example:house", "version": "3" }));
    let needs = |at: usize| {
        let one = &version["dependencies"][at];
        format!("{} {} {} {}", one["package"], one["versions"], one["scope"], one["optional"]).replace('"', "")
    };
    assert_eq!((needs(0).as_str(), needs(1).as_str()), ("org.example:oil 2.5 compile false", "g:match  test true"));
    assert_eq!((&version["by"], &version["about"]["licenses"]), (&json!("admin"), &json!(["MIT"])));
    let files: Vec<&str> = version["files"].as_array().unwrap().iter().map(|file| text(file, "path")).collect();
    assert_eq!(files, [path(0, "1.0").replace(".pom", ".jar"), path(0, "1.0")]);
    let page = world.anon().get("/packages/ours/org.example:lamp/1.0").expect(200);
    for fact in [
        "/search?q=org.example:oil\">org.example:oil</a>",
        "g:match",
        "test, optional",
        "https://lamp.example",
        "lamp-1.0.jar",
        "/search?q=org.example:house\">org.example:house</a> 3",
    ] {
        assert!(page.text().contains(fact), "{fact}: {}", page.text());
    }
    let listed = world.anon().get("/api/v1/packages/ours").expect(200).json();
    assert_eq!(
        listed["packages"][0],
        json!({ "package": "org.example:lamp", "latest": "1.0", "latest_is": "release", "visible": 1, "hidden": 0 })
    );
}
