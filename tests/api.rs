//! Calls of programs about gems: names, versions, new gems, searches. Unknown facts are null.

use crate::world::{Answer, FIRST, Gem, World};
use serde_json::Value;

fn ask(world: &World, below: &str) -> Answer {
    world.anon().get(&format!("/repository/{FIRST}/api/{below}"))
}

fn names(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|gem| format!("{} {}", of(gem, "name"), of(gem, "version"))).collect()
}

fn of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

/// Pushes three gems: one with a prerelease, a platform and a yanked version.
fn shelf(world: &World) {
    let admin = world.admin();
    for version in ["1.9.0", "1.10.0", "2.0.0.rc1", "1.11.0"] {
        admin.push(FIRST, &Gem::new("lamp", version).needs("oil", "~> 1.0")).expect(200);
    }
    admin.push(FIRST, &Gem::new("lamp", "1.10.0").platform("java")).expect(200);
    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    admin.push(FIRST, &Gem::new("GasLamp", "0.1.0")).expect(200);
    admin.yank(FIRST, "lamp", "1.11.0").expect(200);
}

#[test]
fn a_gem_and_its_versions_are_told_as_clients_know_them() {
    let world = World::start();
    shelf(&world);
    let gem = ask(&world, "v1/gems/lamp.json").expect(200);
    assert_eq!(gem.header("content-type"), Some("application/json"));
    let gem = gem.json();
    assert_eq!((of(&gem, "version"), of(&gem, "platform")), ("1.10.0", "ruby"));
    assert_eq!(gem["dependencies"]["runtime"][0]["requirements"], "~> 1.0");
    assert!(
        gem["downloads"].is_null() && of(&gem, "gem_uri").ends_with("/repository/gems-private/gems/lamp-1.10.0.gem")
    );
    let url = of(&gem, "gem_uri").split_once("/repository").unwrap().1.to_owned();
    assert_eq!(
        world.anon().get(&format!("/repository{url}")).expect(200).header("etag"),
        Some(&*format!("\"{}\"", of(&gem, "sha")))
    );

    let versions = ask(&world, "v1/versions/lamp.json").expect(200).json();
    let told: Vec<_> = versions
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", of(one, "number"), of(one, "platform")))
        .collect();
    assert_eq!(told, ["2.0.0.rc1 ruby", "1.10.0 java", "1.10.0 ruby", "1.9.0 ruby"]);
    assert_eq!(ask(&world, "v1/versions/lamp/latest.json").expect(200).json()["version"], "1.10.0");
    let one = |below: &str| ask(&world, &format!("v2/rubygems/lamp/versions/{below}"));
    assert_eq!(of(&one("1.10.0.json").expect(200).json(), "platform"), "ruby");
    assert_eq!(of(&one("1.10.0.json?platform=java").expect(200).json(), "platform"), "java");
    let yaml = one("1.9.0.yaml").expect(200);
    assert!(yaml.text().contains("\n\"number\": \"1.9.0\"\n"), "{}", yaml.text());

    for missing in ["v1/gems/nothing.json", "v1/versions/nothing.json", "v1/versions/nothing/latest.json"] {
        assert!(ask(&world, missing).expect(404).text().starts_with("This rubygem could not be found."));
    }
    one("1.11.0.json").expect(404);
    one("1.9.0.json?platform=java").expect(404);
    world.admin().yank(FIRST, "oil", "1.0.0").expect(200);
    ask(&world, "v1/gems/oil.json").expect(404);
}

#[test]
fn an_answer_about_a_gem_is_a_page_until_the_gem_changes() {
    let world = World::start();
    shelf(&world);
    let tag = |below: &str| ask(&world, below).expect(200).header("etag").unwrap().to_owned();
    let before: Vec<_> = (0..4).map(|_| tag("v1/gems/lamp.json")).collect();
    assert!(before.iter().all(|tag| *tag == before[0]));
    let path = format!("/repository/{FIRST}/api/v1/gems/lamp.json");
    world.anon().ask("GET", &path, &[("If-None-Match", &before[0])], b"").expect(304);
    world.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    assert_ne!(tag("v1/gems/lamp.json"), before[0]);
    world.anon().ask("POST", &path, &[], b"").expect(401);
    world.admin().ask("POST", &path, &[], b"").expect(405);
}

#[test]
fn names_are_found_and_completed() {
    let world = World::start();
    shelf(&world);
    let search = |query: &str| names(&ask(&world, &format!("v1/search.json?query={query}")).expect(200).json());
    assert_eq!(search("LAMP"), ["lamp 1.10.0", "GasLamp 0.1.0"]);
    assert_eq!(search("gas+lamp"), ["GasLamp 0.1.0"]);
    assert!(search("lamp&page=2").is_empty() && search("nothing").is_empty());
    assert_eq!(ask(&world, "v1/search/autocomplete?query=la").expect(200).json(), serde_json::json!(["lamp"]));
    for (bad, status) in
        [("v1/search.json", 400), ("v1/search.json?query=a&page=0", 400), ("v1/search/autocomplete", 400)]
    {
        ask(&world, bad).expect(status);
    }
    ask(&world, &format!("v1/search.json?query={}", "a".repeat(501))).expect(400);
    world.admin().yank(FIRST, "GasLamp", "0.1.0").expect(200);
    assert_eq!(search("lamp"), ["lamp 1.10.0"], "what was withdrawn is not found");
    for at in 0..31 {
        world.admin().push(FIRST, &Gem::new(&format!("wick{at:02}"), "1.0")).expect(200);
    }
    assert_eq!(
        (search("wick").len(), search("wick&page=2"), search("wick&page=3").len()),
        (30, vec!["wick30 1.0".to_owned()], 0)
    );
}

#[test]
fn what_is_new_is_told_newest_first() {
    let world = World::start();
    shelf(&world);
    let told = |below: &str| names(&ask(&world, below).expect(200).json());
    assert_eq!(told("v1/activity/latest.json"), ["GasLamp 0.1.0", "oil 1.0.0", "lamp 1.9.0"]);
    let all = ["GasLamp 0.1.0", "oil 1.0.0", "lamp 1.10.0", "lamp 2.0.0.rc1", "lamp 1.10.0", "lamp 1.9.0"];
    assert_eq!(told("v1/activity/just_updated.json"), all);
    let today = ask(&world, "v1/gems/lamp.json").json()["version_created_at"].as_str().unwrap()[..10].to_owned();
    assert_eq!(told(&format!("v1/timeframe_versions.json?from={today}T00:00:00Z")), all);
    assert!(told("v1/timeframe_versions.json?from=2020-01-01&to=2020-01-02").is_empty());
    ask(&world, "v1/timeframe_versions.json?from=2020-01-01&to=2020-02-01").expect(400);
    ask(&world, "v1/timeframe_versions.json").expect(400);
}

#[test]
fn everybody_is_told_what_they_own_and_what_is_not_known_is_said_so() {
    let world = World::start();
    let mira = world.person("mira", &["write"], &[]);
    for name in ["lamp", "oil"] {
        mira.push(FIRST, &Gem::new(name, "1.0")).expect(200);
    }
    world.admin().push(FIRST, &Gem::new("wick", "1.0")).expect(200);
    let own = mira.get(&format!("/repository/{FIRST}/api/v1/gems.json")).expect(200).json();
    assert_eq!(names(&own), ["lamp 1.0", "oil 1.0"]);
    ask(&world, "v1/gems.json").expect(401);
    ask(&world, "v1/downloads.json").expect(501);
    ask(&world, "v1/gems/lamp/reverse_dependencies.json").expect(501);
}
