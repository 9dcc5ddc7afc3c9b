//! Cleanup and purge: a cleanup plans what the rules no longer keep, removes it on request, and can be undone for some
//! days. A purge can never be undone.

use crate::long_run::{blobs, collect_at};
use crate::world::{Answer, FIRST, Gem, Upstream, World};
use serde_json::{Value, json};

/// A server whose clock stands still.
fn world() -> World {
    let world = World::start_in_conformance(&[]);
    world.set_time("1980-01-01T00:00:00Z");
    world
}

fn cleanup(world: &World, name: &str, apply: bool) -> Value {
    world.admin().post_json("/api/v1/cleanup", &json!({"repositories": [name], "apply": apply})).expect(200).json()
}

/// The examples of each rule.
fn examples(answer: &Value) -> Vec<String> {
    let rules = answer["repositories"][0]["rules"].as_array().unwrap();
    let mut all: Vec<String> = rules
        .iter()
        .flat_map(|rule| rule["examples"].as_array().unwrap())
        .map(|one| one.as_str().unwrap().into())
        .collect();
    all.sort();
    all
}

/// Downloads a file, and waits until the server has its event, which ends after the last byte.
fn download(world: &World, path: &str) {
    let id = world.anon().get(path).expect(200).header("daylight-event").unwrap().to_owned();
    world.event(&id);
}

fn purge(world: &World, name: &str, what: &str, apply: bool) -> Answer {
    let body = json!({"what": what, "why": "a key was in it", "apply": apply});
    world.admin().post_json(&format!("/api/v1/repositories/{name}/purge"), &body)
}

/// A repository with four versions of a gem, one of them for two platforms, published on consecutive days.
fn gems(world: &World) {
    world.repository("stock", false);
    for (day, version) in (1..).zip(["1.0.0", "2.0.0", "1.1.0", "3.0.0"]) {
        world.set_time(&format!("1980-01-0{day}T00:00:00Z"));
        world.admin().push("stock", &Gem::new("lamp", version)).expect(200);
    }
    world.admin().push("stock", &Gem::new("lamp", "2.0.0").platform("java")).expect(200);
    world.admin().push("stock", &Gem::new("oil", "1.0.0")).expect(200);
}

fn versions(world: &World) -> Vec<String> {
    let info = world.anon().get("/repository/stock/info/lamp").expect(200);
    info.text().lines().skip(1).map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn the_last_published_versions_of_each_gem_stay_and_a_second_cleanup_has_nothing_to_do() {
    let world = world();
    gems(&world);
    world.change("stock", &json!({"keep_versions": 2}));
    let before = versions(&world);
    let plan = cleanup(&world, "stock", false);
    assert_eq!(examples(&plan), ["lamp-1.0.0", "lamp-2.0.0", "lamp-2.0.0-java"], "{plan}");
    assert_eq!(plan["repositories"][0]["rules"][0]["rule"], "keep_versions");
    assert!(plan["frees_bytes"].as_u64().unwrap() > 0 && plan["frees_on"].is_string(), "{plan}");
    assert_eq!(versions(&world), before, "a plan changes nothing");
    assert_eq!(examples(&cleanup(&world, "stock", true)), examples(&plan));
    assert_eq!(versions(&world), ["1.1.0", "3.0.0"]);
    world.anon().get("/repository/stock/gems/lamp-1.0.0.gem").expect(404);
    world.anon().get("/repository/stock/gems/oil-1.0.0.gem").expect(200);
    assert_eq!(examples(&cleanup(&world, "stock", true)), [""; 0]);
    let lines = world.anon().get("/repository/stock/versions").expect(200);
    assert!(lines.text().contains("lamp -1.0.0 "), "{}", lines.text());
}

#[test]
fn a_plan_says_how_many_bytes_come_free_and_the_cleanup_frees_as_many() {
    let world = world();
    gems(&world);
    world.change("stock", &json!({"keep_versions": 2}));
    world.repository("other", false);
    world.admin().push("other", &Gem::new("lamp", "1.0.0")).expect(200);
    world.set_time("1980-01-05T00:00:00Z");
    let versions = [Gem::new("lamp", "2.0.0"), Gem::new("lamp", "2.0.0").platform("java")];
    let bytes: usize = versions.iter().map(|gem| gem.bytes().len()).sum();
    // The undo window is a week, and the collector waits for a day.
    let frees = |answer: &Value| (answer["frees_bytes"].clone(), answer["frees_on"].clone());
    let wanted = (json!(bytes), json!("1980-01-13T00:00:00.000Z"));
    assert_eq!(frees(&cleanup(&world, "stock", false)), wanted, "another repository keeps the bytes of lamp-1.0.0");
    assert_eq!(frees(&cleanup(&world, "stock", true)), wanted);
    let purged = purge(&world, "stock", "lamp:2.0.0", true).expect(200).json();
    assert_eq!(frees(&purged), (json!(bytes), json!("1980-01-05T00:00:00.000Z")));
    assert_eq!(frees(&cleanup(&world, "stock", false)), (json!(0), Value::Null));
}

#[test]
fn versions_that_a_cleanup_took_away_come_back_within_a_week_and_no_later() {
    let world = world();
    gems(&world);
    world.change("stock", &json!({"keep_versions": 1}));
    cleanup(&world, "stock", true);
    assert_eq!(versions(&world), ["3.0.0"]);
    let restore =
        |what: &str| world.admin().post_json(&format!("/api/v1/repositories/stock/contents/{what}"), &json!({}));
    assert_eq!(restore("lamp:2.0.0").expect(200).json(), json!({"restored": 2}));
    let mut back = versions(&world);
    back.sort();
    assert_eq!(back, ["2.0.0", "2.0.0-java", "3.0.0"]);
    world.anon().get("/repository/stock/gems/lamp-2.0.0-java.gem").expect(200);
    restore("lamp:2.0.0").expect(404);
    assert_eq!(restore("lamp-1.1.0").expect(200).json(), json!({"restored": 1}), "as the plan names it");
    world.admin().yank("stock", "lamp", "1.1.0").expect(200);
    let yanked = restore("lamp-1.1.0").expect(404).json();
    assert!(
        yanked["detail"].as_str().unwrap().contains("`lamp:1.1.0` was yanked, and not removed by a cleanup"),
        "{yanked}"
    );
    world.set_time("1980-01-30T00:00:00Z");
    restore("lamp").expect(404);
}

#[test]
fn releases_of_an_artifact_go_by_the_same_rule_and_its_snapshots_stay() {
    let world = world();
    world.tree("libs", "maven");
    let put = |path: &str| world.admin().put("libs", path, path.as_bytes()).expect(201);
    for (day, version) in (1..).zip(["1.0", "1.1", "1.2"]) {
        world.set_time(&format!("1980-01-0{day}T00:00:00Z"));
        put(&format!("org/example/lamp/{version}/lamp-{version}.jar"));
        put(&format!("org/example/lamp/{version}/lamp-{version}.pom"));
    }
    put("org/example/lamp/2.0-SNAPSHOT/lamp-2.0-20260101.000000-1.jar");
    put("org/example/oil/1.0/oil-1.0.jar");
    world.change("libs", &json!({"keep_versions": 1}));
    assert_eq!(examples(&cleanup(&world, "libs", false)), ["org.example:lamp:1.0", "org.example:lamp:1.1"]);
    cleanup(&world, "libs", true);
    let path = |version: &str| format!("/repository/libs/org/example/lamp/{version}/lamp-{version}.jar");
    world.anon().get(&path("1.0")).expect(404);
    world.anon().get(&path("1.2")).expect(200);
    world.anon().get("/repository/libs/org/example/lamp/2.0-SNAPSHOT/lamp-2.0-20260101.000000-1.jar").expect(200);
    assert_eq!(examples(&cleanup(&world, "libs", true)), [""; 0]);
    let state = |version: &str| {
        let shown = world.anon().get("/api/v1/packages/libs/org.example:lamp").expect(200).json();
        let one = shown["versions"].as_array().unwrap().iter().find(|one| one["version"] == version).cloned();
        one.unwrap_or_else(|| panic!("{version}: {shown:#}"))["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(["1.0", "1.1", "1.2"].map(state), ["cleaned_up", "cleaned_up", "visible"]);
    let restore =
        |what: &str| world.admin().post_json(&format!("/api/v1/repositories/libs/contents/{what}"), &json!({}));
    restore("org/example/lamp/1.0").expect(200);
    world.anon().get(&path("1.0")).expect(200);
    restore("org.example:lamp:1.1").expect(200);
    world.anon().get(&path("1.1")).expect(200);
    world.admin().ask("DELETE", "/api/v1/repositories/libs/contents/org.example:lamp:1.1", &[], b"").expect(200);
    world.anon().get(&path("1.1")).expect(404);
    assert_eq!(["1.0", "1.1"].map(state), ["visible", "deleted"]);
}

#[test]
fn what_is_used_stays_and_the_rule_waits_until_uses_were_recorded_for_long_enough() {
    let world = world();
    gems(&world);
    world.tree("libs", "maven");
    world.make(&json!({"name": "all", "format": "maven", "members": ["libs"]}));
    for version in ["1.0", "1.1"] {
        world.admin().put("libs", &format!("org/lamp/{version}/lamp-{version}.jar"), version.as_bytes()).expect(201);
    }
    for name in ["stock", "libs"] {
        world.change(name, &json!({"keep_unused": "90d"}));
    }
    world.set_time("1980-02-20T12:00:00Z");
    let plan = cleanup(&world, "stock", true);
    assert_eq!((examples(&plan), plan["frees_on"].is_null()), (vec![], true), "{plan}");
    // Recording began with the server, whose clock starts in 1980.
    assert_eq!(plan["repositories"][0]["waits_until"], "1980-03-31T00:00:00.000Z");
    download(&world, "/repository/stock/gems/lamp-1.0.0.gem");
    download(&world, "/repository/stock/gems/lamp-2.0.0-java.gem");
    download(&world, "/repository/all/org/lamp/1.0/lamp-1.0.jar");
    assert_eq!(examples(&cleanup(&world, "stock", true)), [""; 0], "all was published less than 90 days before");
    world.set_time("1980-04-20T12:00:00Z");
    let plan = cleanup(&world, "stock", false);
    assert_eq!(plan["repositories"][0]["waits_until"], Value::Null, "{plan}");
    assert_eq!(examples(&plan), ["lamp-1.1.0", "lamp-3.0.0", "oil-1.0.0"], "{plan}");
    assert_eq!(examples(&cleanup(&world, "libs", true)), ["org:lamp:1.1"]);
    world.anon().get("/repository/all/org/lamp/1.0/lamp-1.0.jar").expect(200);
    world.anon().get("/repository/all/org/lamp/1.1/lamp-1.1.jar").expect(404);
}

#[test]
fn a_cleanup_of_the_last_version_of_a_name_keeps_the_name_and_says_what_gives_it_back() {
    let (world, upstream) = (world(), Upstream::start());
    world.tree("libs", "maven");
    world.remote("far", &upstream.url());
    world.make(&json!({"name": "all", "format": "maven", "members": ["libs", "far"]}));
    world.admin().put("libs", "org/lamp/1.0/lamp-1.0.jar", b"lit").expect(201);
    world.change("libs", &json!({"keep_unused": "90d"}));
    world.set_time("1980-04-20T12:00:00Z");
    assert_eq!(cleanup(&world, "libs", false)["repositories"][0]["kept_names"], json!([]));
    let kept = json!([{"name": "org:lamp", "group": "all", "commands": ["daylight repo set all --shared org:lamp"]}]);
    assert_eq!(cleanup(&world, "libs", true)["repositories"][0]["kept_names"], kept);
    world.anon().get("/repository/all/org/lamp/2.0/lamp-2.0.jar").expect(404);
    assert_eq!(upstream.total(), 0);
}

#[test]
fn cached_files_that_nobody_uses_are_dropped_and_fetched_again_when_somebody_asks() {
    let (world, upstream) = (world(), Upstream::start());
    world.make(&json!({"name": "far", "format": "raw", "remote": {"urls": [upstream.url()]}, "keep_unused": "30d"}));
    for path in ["a/old", "a/new"] {
        upstream.file(&format!("/{path}"), path);
        world.anon().get(&format!("/repository/far/{path}")).expect(200);
    }
    world.set_time("1982-01-01T00:00:00Z");
    download(&world, "/repository/far/a/new");
    let plan = cleanup(&world, "far", false);
    assert_eq!((examples(&plan), &plan["frees_bytes"]), (vec!["a/old".to_owned()], &json!(5)));
    assert_eq!(plan["frees_on"], "1982-01-01T00:00:00.000Z", "cached files are deleted at once");
    assert_eq!(examples(&cleanup(&world, "far", true)), ["a/old"]);
    assert_eq!(examples(&cleanup(&world, "far", true)), [""; 0]);
    let count = upstream.count("/a/old");
    world.anon().get("/repository/far/a/old").expect(200);
    assert_eq!(upstream.count("/a/old"), count + 1);
}

#[test]
fn rules_are_refused_where_they_mean_nothing() {
    let world = world();
    world.tree("files", "raw");
    world.tree("libs", "maven");
    let refused = |name: &str, settings: &Value| {
        world.admin().patch_json(&format!("/api/v1/repositories/{name}"), settings).expect(400);
    };
    refused("files", &json!({"keep_versions": 2}));
    refused("files", &json!({"keep_unused": "90d"}));
    for odd in [json!({"keep_versions": 0}), json!({"keep_unused": "1h"}), json!({"keep_unused": "soon"})] {
        refused("libs", &odd);
    }
    world.change("libs", &json!({"keep_versions": 2, "keep_unused": "90d"}));
    let shown = world.admin().get("/api/v1/repositories/libs").expect(200).json();
    assert_eq!((&shown["keep_versions"], &shown["keep_unused"]), (&json!(2), &json!("90d")));
    world.change("libs", &json!({"keep_versions": null, "keep_unused": null}));
    assert_eq!(world.admin().get("/api/v1/repositories/libs").expect(200).json()["keep_versions"], Value::Null);
}

#[test]
fn what_is_purged_is_gone_from_every_moment_and_stays_taken_for_the_same_bytes() {
    let world = world();
    gems(&world);
    let gem = Gem::new("lamp", "1.1.0");
    world.repository("other", false);
    world.admin().push("other", &gem).expect(200);
    let planned = purge(&world, "stock", "lamp:1.1.0", false).expect(200).json();
    assert_eq!(
        (&planned["files"], &planned["also_in"], &planned["frees_bytes"]),
        (&json!(1), &json!(["other"]), &json!(0))
    );
    world.anon().get("/repository/stock/gems/lamp-1.1.0.gem").expect(200);
    world.set_time("1980-01-10T00:00:00Z");
    purge(&world, "stock", "lamp:1.1.0", true).expect(200);
    assert!(!versions(&world).contains(&"1.1.0".to_owned()));
    world.anon().get("/repository/stock/gems/lamp-1.1.0.gem").expect(404);
    let then = world.anon().get("/repository/stock@1980-01-05T00:00:00Z/gems/lamp-1.1.0.gem").expect(410);
    assert!(then.text().contains("purged on 1980-01-10"), "{}", then.text());
    let refused = world.admin().push("stock", &gem).expect(409);
    assert!(refused.text().contains("a key was in it"), "{}", refused.text());
    purge(&world, "stock", "lamp:1.1.0", true).expect(404);
    world.admin().post_json("/api/v1/repositories/stock/contents/lamp:1.1.0", &json!({})).expect(404);
    world.anon().get("/repository/other/gems/lamp-1.1.0.gem").expect(200);
}

#[test]
fn the_reason_of_a_purge_is_one_line_without_control_characters() {
    let world = World::start();
    for why in ["", " ", "a\u{1b}[2Jb", "two\nlines", "a\u{85}b"] {
        let body = json!({ "what": "lamp", "why": why, "apply": false });
        let refused = world.admin().post_json(&format!("/api/v1/repositories/{FIRST}/purge"), &body).expect(400);
        assert!(refused.text().contains("a purge needs a reason"), "{why:?}: {}", refused.text());
    }
}

#[test]
fn files_are_purged_by_path_or_by_artifact_and_those_deleted_before_with_them() {
    let world = world();
    world.tree("libs", "maven");
    let path = |version: &str| format!("org/example/lamp/{version}/lamp-{version}.jar");
    for version in ["1.0", "1.1", "2.0"] {
        world.admin().put("libs", &path(version), version.as_bytes()).expect(201);
    }
    world.admin().delete("libs", &path("1.0")).expect(204);
    let purged = purge(&world, "libs", "org.example:lamp:1.0", true).expect(200).json();
    assert_eq!((&purged["files"], &purged["frees_bytes"]), (&json!(1), &json!(3)));
    world.admin().post_json("/api/v1/repositories/libs/contents/org/example/lamp/1.0", &json!({})).expect(404);
    let refused = world.admin().put("libs", &path("1.0"), b"1.0").expect(409);
    assert!(refused.text().contains("a key was in it"), "{}", refused.text());
    purge(&world, "libs", "org/example/lamp/1.1", true).expect(200);
    world.anon().get(&format!("/repository/libs/{}", path("1.1"))).expect(404);
    world.anon().get(&format!("/repository/libs/{}", path("2.0"))).expect(200);
    let metadata = world.anon().get("/repository/libs/org/example/lamp/maven-metadata.xml");
    assert!(!metadata.text().contains("1.1"), "{}", metadata.text());
    for odd in ["", "/", "org/example/none"] {
        assert!([400, 404].contains(&purge(&world, "libs", odd, true).status), "{odd}");
    }
}

#[test]
fn the_command_line_plans_without_yes_and_purges_only_with_it() {
    let world = world();
    gems(&world);
    let run = |line: &str| world.says(line);
    let (said, code) = run("repo set stock --keep-versions 2");
    assert!(code == Some(0) && said.contains("`daylight cleanup stock` shows what the rules would delete"), "{said}");
    let (said, code) = run("cleanup");
    assert!(code == Some(0) && said.contains("keep_versions removes 3") && said.contains("frees "), "{said}");
    assert_eq!(versions(&world).len(), 5);
    let (said, code) = run("cleanup stock nothing --yes");
    assert!(code == Some(1) && said.contains("there is no repository `nothing`"), "{said}");
    assert_eq!(versions(&world).len(), 5, "a wrong name is refused before the first cleanup");
    let (said, code) = run("cleanup stock --yes --json");
    assert_eq!(
        (code, serde_json::from_str::<Value>(&said).unwrap()["applied"].clone()),
        (Some(0), json!(true)),
        "{said}"
    );
    assert_eq!(versions(&world).len(), 2);
    let names = &serde_json::from_str::<Value>(&said).unwrap()["repositories"][0]["rules"][0]["names"];
    assert_eq!(names.as_array().unwrap().len(), 3, "{said}");
    let (said, code) = run("purge stock oil --why leaked");
    assert!(code == Some(2) && said.contains("nothing was purged"), "{said}");
    let (said, code) = run("purge stock oil --why leaked --yes");
    assert!(code == Some(0) && said.contains("purged `oil`") && said.contains("frees "), "{said}");
    let (said, code) = run("cleanup");
    assert!(code == Some(0) && said.contains("nothing to clean up") && !said.contains("rules"), "{said}");
    world.repository("other", false);
    let (said, code) = run("repo delete other /");
    assert!(code == Some(2) && said.contains("the path is empty"), "{said}");
    let (said, code) = run("cleanup other");
    assert!(code == Some(0) && said.contains("no rules are set for other: `daylight repo set"), "{said}");
}

#[test]
fn a_removed_repository_is_told_from_one_that_never_was() {
    let world = world();
    world.repository("stock", false);
    world.admin().ask("DELETE", "/api/v1/repositories/stock?confirm=stock", &[], b"").expect(200);
    let removed = purge(&world, "stock", "lamp", false).expect(404).json();
    assert!(removed["detail"].as_str().unwrap().ends_with("it was removed on 1980-01-01T00:00:00.000Z"), "{removed}");
    assert!(removed["hint"].as_str().unwrap().starts_with("until 1980-01-08"), "{removed}");
    let never = purge(&world, "never", "lamp", false).expect(404).json();
    assert_eq!(never["detail"], "there is no repository `never`");
}

#[test]
fn bytes_go_when_they_are_due_and_not_only_with_the_hourly_round() {
    let world = world();
    world.repository("stock", false);
    let (secret, other) = (Gem::new("lamp", "1.0.0"), Gem::new("lamp", "2.0.0"));
    for gem in [&secret, &other] {
        world.admin().push("stock", gem).expect(200);
    }
    collect_at(&world, "2050-01-01T00:00:00.000Z");
    assert_eq!(blobs(&world).len(), 2);
    purge(&world, "stock", "lamp:1.0.0", true).expect(200);
    assert_eq!(blobs(&world).len(), 1);
    world.admin().yank("stock", "lamp", "2.0.0").expect(200);
    let horizon = "2051-02-05T00:01:00.000Z";
    collect_at(&world, horizon);
    collect_at(&world, "2051-02-06T00:00:59.000Z");
    assert_eq!(blobs(&world).len(), 1);
    collect_at(&world, "2051-02-06T00:01:00.000Z");
    assert_eq!(blobs(&world).len(), 0);
}
