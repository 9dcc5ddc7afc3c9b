//! `policy allow --refused`: all versions that one build was refused are let through at once, after they are listed.

use super::{WEEK_S, set};
use crate::removal::{alone, on_terminal};
use crate::world::{Says, Upstream, World};
use serde_json::{Value, json};

fn path(name: &str, version: &str, ending: &str) -> String {
    format!("org/example/{name}/{version}/{name}-{version}.{ending}")
}

/// The remote `far` gives no dates and has a cooldown of a week; `all` is a group with it.
fn shore() -> (World, Upstream) {
    let (world, far) = (World::start(), Upstream::start());
    world.remote("far", &far.url());
    world.make(&json!({ "name": "all", "format": "maven", "members": ["far"] }));
    for (name, version) in [("lamp", "1.0"), ("lamp", "1.1"), ("oil", "2.0"), ("wick", "3.0")] {
        for ending in ["pom", "jar"] {
            far.says(&format!("/{}", path(name, version, ending)), Says::bytes("old"));
        }
    }
    set(&world, "far", &json!({ "cooldown_s": WEEK_S })).expect(200);
    (world, far)
}

fn exceptions(world: &World) -> Vec<(String, String)> {
    let told = world.admin().get("/api/v1/repositories/far").expect(200).json();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    let all = told["policy"]["exceptions"].as_array().cloned().unwrap_or_default();
    all.iter().map(|one| (text(one, "package"), text(one, "why"))).collect()
}

#[test]
fn all_that_one_token_was_refused_is_listed_and_let_through() {
    let (world, _far) = shore();
    let builder = world.person("builder", &["read"], &["all"]);
    for (name, version) in [("lamp", "1.0"), ("lamp", "1.1"), ("oil", "2.0")] {
        for ending in ["pom", "jar"] {
            let refused = builder.get(&format!("/repository/all/{}", path(name, version, ending))).expect(403);
            assert!(refused.text().contains("not older than can be proven"), "{}", refused.text());
        }
    }
    world.anon().file("all", &path("wick", "3.0", "pom")).expect(403);
    set(&world, "far", &json!({ "deny": ["org.example:oil"] })).expect(200);

    let command = "policy allow all --refused 15m --by builder --why the-build-of-lantern";
    let words: Vec<&str> = command.split(' ').collect();
    let said = on_terminal(&world, &words, &[("through:", "no")]).bad();
    assert!(said.contains("org.example:lamp:1.1") && exceptions(&world).is_empty(), "{said}");
    let (said, code) = alone(&world, command);
    assert!(code == Some(0) && said.contains("2 versions are let through"), "{said}");
    let row = |what: &str| said.lines().find(|line| line.starts_with(what)).unwrap().to_owned();
    assert!(row("org.example:lamp:1.0").contains(" far ") && row("org.example:oil").contains("stays hidden"), "{said}");
    assert!(!said.contains("wick"), "{said}");
    let made = ["1.0", "1.1"].map(|version| (format!("org.example:lamp:{version}"), "the-build-of-lantern".to_owned()));
    assert_eq!(exceptions(&world), made);
    builder.get(&format!("/repository/all/{}", path("lamp", "1.1", "jar"))).expect(200);

    // Without a token: what anybody was refused. The repository with the policy may be named, too.
    let (said, code) = alone(&world, "policy allow far --refused 15m --why old --until 14d --yes");
    assert!(code == Some(0) && said.contains("1 version is let through until "), "{said}");
    world.anon().file("all", &path("wick", "3.0", "pom")).expect(200);
    let (said, code) = alone(&world, "policy allow all --refused 15m --why again");
    assert!(code == Some(0) && said.contains("can be let through; nothing was changed"), "{said}");
}

#[test]
fn a_version_that_only_one_of_two_policies_lets_through_is_let_through_by_both() {
    let (world, _far) = shore();
    set(&world, "all", &json!({ "cooldown_s": 2 * WEEK_S })).expect(200);
    world.anon().file("all", &path("lamp", "1.0", "pom")).expect(403);
    let (said, code) = alone(&world, "policy allow all --refused 1h --why old");
    assert_eq!(code, Some(0), "{said}");
    world.anon().file("all", &path("lamp", "1.0", "pom")).expect(200);
}
