//! Every protocol of gem clients and programs, answered from the compact index of the upstream.

use super::{LATER, REMOTE, Scene, set};
use crate::world::{FIRST, Gem};
use serde_json::{Value, json};

/// The requests of clients of every age.
const PATHS: &[&str] = &[
    "versions",
    "names",
    "info/lamp",
    "specs.4.8.gz",
    "latest_specs.4.8.gz",
    "prerelease_specs.4.8.gz",
    "quick/Marshal.4.8/lamp-1.0.0.gemspec.rz",
    "gems/lamp-2.0.0.pre1.gem",
    "api/v1/dependencies.json?gems=lamp,oil,nothing",
    "api/v1/dependencies?gems=lamp,oil",
];
/// Calls of programs about one gem.
const CALLS: &[&str] = &[
    "api/v1/versions/lamp.json",
    "api/v1/gems/lamp.json",
    "api/v1/versions/lamp/latest.json",
    "api/v2/rubygems/lamp/versions/1.0.0.json",
    "api/v2/rubygems/lamp/versions/1.1.0.json?platform=java",
];
/// The facts that the lines of `/info` do not have.
const UNKNOWN: [&str; 7] = ["authors", "info", "licenses", "description", "summary", "built_at", "requirements"];

/// A JSON text without the facts that a line of `/info` does not have, and with whole seconds.
fn as_lines_tell(mut told: Value) -> String {
    let leave_out = |one: &mut Value| {
        let Value::Object(one) = one else { return };
        one.remove("gem_uri");
        for (key, value) in one.iter_mut() {
            match key.as_str() {
                "metadata" => *value = json!({}),
                key if key == "homepage_uri" || UNKNOWN.contains(&key) => *value = Value::Null,
                _ => {}
            }
        }
    };
    match &mut told {
        Value::Array(all) => all.iter_mut().for_each(leave_out),
        one => leave_out(one),
    }
    told.to_string().split("Z\"").map(whole).collect::<Vec<_>>().join("Z\"")
}

/// A moment without the fraction of its second.
fn whole(moment: &str) -> &str {
    moment.rsplit_once('.').filter(|(_, fraction)| fraction.len() == 3).map_or(moment, |(whole, _)| whole)
}

#[test]
fn every_protocol_says_what_the_upstream_says_and_follows_it() {
    let scene = Scene::new();
    let admin = scene.upstream.admin();
    for gem in [
        Gem::new("oil", "1.0.0"),
        Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0"),
        Gem::new("lamp", "2.0.0.pre1").needs("oil", ">= 1.0"),
        Gem::new("lamp", "1.1.0").platform("java"),
    ] {
        admin.push(FIRST, &gem).expect(200);
    }
    let there = |path: &str| scene.upstream.anon().file(FIRST, path).expect(200);
    for path in PATHS {
        assert!(scene.get(path).expect(200).body == there(path).body, "{path}");
    }
    for path in CALLS {
        let here = scene.get(path).expect(200).json();
        assert_eq!(as_lines_tell(here.clone()), as_lines_tell(there(path).json()), "{path}");
        let one = if here.is_array() { &here[0] } else { &here };
        for key in UNKNOWN.iter().filter(|key| one.get(**key).is_some()) {
            assert!(one[*key].is_null(), "{path}: {key}");
        }
    }
    let gem = scene.get("api/v1/gems/lamp.json").expect(200).json();
    assert_eq!(gem["gem_uri"], format!("{}gems/lamp-1.1.0-java.gem", scene.world.url(REMOTE)));
    for path in ["api/v1/versions/nothing.json", "api/v2/rubygems/lamp/versions/9.json"] {
        scene.get(path).expect(404);
    }
    for (path, sentence) in [
        ("api/v1/gems/lamp/owners.json", "do not know who owns a gem: ask its upstream"),
        ("api/v1/activity/latest.json", "do not list new gems"),
    ] {
        let refused = scene.get(path).expect(501);
        assert!(refused.text().contains(sentence), "{}", refused.text());
    }

    scene.publish("wick", "1.0.0");
    scene.publish("lamp", "1.1.0");
    admin.yank(FIRST, "oil", "1.0.0").expect(200);
    scene.at(LATER);
    // The index first: who reads it asks for what it names.
    for path in PATHS.iter().chain(&["info/wick", "info/oil", "gems/lamp-1.1.0.gem"]) {
        assert!(scene.get(path).expect(200).body == there(path).body, "{path} later");
    }
    scene.get("gems/oil-1.0.0.gem").expect(404);
}

#[test]
fn a_search_is_answered_from_the_names_of_the_index_with_the_newest_versions_that_may_be_seen() {
    let scene = Scene::new();
    scene.upstream.admin().push(FIRST, &Gem::new("lamp", "1.1.0").platform("java")).expect(200);
    for (name, version) in
        [("lamp", "1.0.0"), ("lamp-oil", "0.9"), ("street-LAMP", "0.9"), ("wick", "0.9"), ("lamp", "2.0.0.rc1")]
    {
        scene.publish(name, version);
    }
    let ask = |path: &str| scene.get(path).expect(200).json();
    let found = |query: &str| -> Vec<String> {
        let found = ask(&format!("api/v1/search.json?query={query}"));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(|gem| text(&gem["name"]) + " " + &text(&gem["version"])).collect()
    };
    assert_eq!(found("Lamp"), ["lamp 1.1.0", "lamp-oil 0.9", "street-LAMP 0.9"]);
    assert_eq!(found("oil+lamp"), ["lamp-oil 0.9"]);
    assert_eq!((found("nothing").len(), found("lamp&page=2").len()), (0, 0));
    assert_eq!(ask("api/v1/search/autocomplete.json?query=lam"), json!(["lamp", "lamp-oil"]));
    let lamp = &ask("api/v1/search.json?query=lamp")[0];
    assert_eq!(lamp["gem_uri"], format!("{}gems/lamp-1.1.0-java.gem", scene.world.url(REMOTE)));
    for unknown in ["sha", "dependencies", "info", "licenses", "version_created_at"] {
        assert_eq!(lamp[unknown], Value::Null, "{unknown}");
    }
    scene.get("api/v1/search.json").expect(400);
    set(&scene.world, &json!({ "deny": ["lamp:1.1.0", "lamp:2.0.0.rc1", "lamp-oil"] }));
    assert_eq!(found("lamp"), ["lamp 1.0.0", "street-LAMP 0.9"]);
}
