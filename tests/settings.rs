//! The settings of repositories in the API, and the messages that refuse invalid ones.

use crate::world::{FIRST, Gem, Says, Upstream, World, await_true, write};
use serde_json::{Value, json};

const REPOSITORIES: &str = "/api/v1/repositories";

fn made(world: &World, wanted: &Value) -> Value {
    world.admin().post_json(REPOSITORIES, wanted).expect(201).json()
}

fn refused(world: &World, wanted: &Value) -> Value {
    let problem = world.admin().post_json(REPOSITORIES, wanted).expect(400).json();
    assert!(problem["hint"].is_string(), "{problem}");
    problem["detail"].clone()
}

#[test]
fn repositories_of_each_kind_are_made_and_keep_their_settings() {
    let mut world = World::start();
    let releases = json!({"name": "releases", "format": "maven", "kind": "hosted", "versions": "releases"});
    let snapshots = json!({"name": "snapshots", "format": "maven", "kind": "hosted", "versions": "snapshots", "retention": {"builds": 3}});
    let central = json!({"name": "central", "format": "maven", "remote": {"urls": ["http://127.0.0.1:9/maven2/"], "fresh_s": 60}});
    let tools = json!({"name": "tools", "format": "raw", "kind": "remote", "private": true, "remote": {"urls": ["http://127.0.0.1:9"]}});
    assert_eq!(made(&world, &releases)["versions"], "releases");
    assert_eq!(made(&world, &snapshots)["retention"], json!({"builds": 3}));
    assert_eq!(made(&world, &central)["remote"], json!({"urls": ["http://127.0.0.1:9/maven2"], "fresh_s": 60}));
    assert_eq!(made(&world, &tools)["private"], true);
    let before = world.admin().get(REPOSITORIES).expect(200).json();
    world.stop();
    world.resume();
    let after = world.admin().get(REPOSITORIES).expect(200).json();
    let names = |list: &Value| -> Vec<Value> {
        list["repositories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| json!([one["name"], one["remote"], one["versions"]]))
            .collect()
    };
    assert_eq!(names(&after), names(&before));
    for name in ["releases", "central", "tools"] {
        world.admin().get(&format!("/repository/{name}/")).expect(200);
    }
    world.anon().get("/repository/tools/").expect(401);
}

#[test]
fn a_change_names_what_it_changes_and_null_takes_away() {
    let world = World::start_with(&[("UPSTREAM_TOKEN", "ann:hush-hush")]);
    let central = json!({
        "name": "central", "format": "maven",
        "remote": {"urls": ["http://127.0.0.1:9"], "credentials": "env:UPSTREAM_TOKEN", "missing_s": 5},
    });
    let shown = made(&world, &central);
    assert_eq!((&shown["remote"]["credentials"], &shown["private"]), (&"env:UPSTREAM_TOKEN".into(), &true.into()));
    world.anon().get("/repository/central/").expect(401);
    let path = format!("{REPOSITORIES}/central");
    let elsewhere = world.admin().patch_json(&path, &json!({"remote": {"urls": ["http://127.0.0.1:8"]}})).expect(400);
    let hint = elsewhere.json()["hint"].clone();
    assert!(hint.as_str().unwrap().starts_with("name it again in the same call"), "{hint}");
    let change = json!({"remote": {"credentials": null, "missing_s": 7}, "private": true});
    let shown = world.admin().patch_json(&path, &change).expect(200).json();
    assert_eq!(shown["remote"], json!({"urls": ["http://127.0.0.1:9"], "missing_s": 7}));
    world.anon().get("/repository/central/").expect(401);
    // A change by a person applies from the next answer on.
    world.admin().patch_json(&path, &json!({"private": false})).expect(200);
    world.anon().get("/repository/central/").expect(200);
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.pem");
    write(&broken, "-----BEGIN CERTIFICATE-----\n****\n-----END CERTIFICATE-----\n");
    for (change, said) in [
        (json!({"remote": {"urls": []}}), "`remote.urls` has 1 to 8 URLs, not 0"),
        (json!({"remote": {"url": "http://a"}}), "`remote` has no setting `url`"),
        (json!({"remote": {"credentials": "env:UPSTREAM_TOKEN"}}), "anybody reads `central`"),
        (json!({"private": true, "remote": {"credentials": "env:UPSTREAM_OTHER"}}), "`env:UPSTREAM_OTHER`"),
        (
            json!({"private": true, "remote": {"credentials": "env:DAYLIGHT_ADMIN_TOKEN"}}),
            "variables that begin with `UPSTREAM_`",
        ),
        (
            json!({"private": true, "remote": {"credentials": "file:/run/secrets/no/such"}}),
            "cannot read `/run/secrets/no/such`",
        ),
        (json!({"private": true, "remote": {"credentials": "file:/etc/hostname"}}), "files in `/run/secrets`"),
        (json!({"private": true, "remote": {"certificate": "/etc/hostname"}}), "files in `/run/secrets`"),
        (json!({"remote": {"trust": "/etc/hostname"}}), "`/etc/hostname` is not a PEM file"),
        (json!({"remote": {"trust": broken}}), "the trusted certificates cannot be used"),
        (json!({"versions": "releases"}), "`versions` is a setting of hosted repositories of format maven"),
        (json!({"info_format": "v1"}), "has no index of lines"),
    ] {
        let problem = world.admin().patch_json(&path, &change).expect(400).json();
        assert!(problem["detail"].as_str().unwrap().contains(said), "{change}: {problem}");
    }
    assert_eq!(world.admin().get(&path).expect(200).json()["remote"]["missing_s"], 7);
    assert!(!world.log().contains("hush-hush"));
}

#[test]
fn a_new_folder_has_repositories_and_the_upstream_that_somebody_set() {
    let mut world = World::start_with(&[
        ("DAYLIGHT_UPSTREAM_MAVEN_CENTRAL", "http://127.0.0.1:9/maven2/"),
        ("DAYLIGHT_UPSTREAM_RUBYGEMS", "http://127.0.0.1:9/gems/"),
    ]);
    let all = |world: &World| world.admin().get(REPOSITORIES).expect(200).json()["repositories"].clone();
    let shown: Vec<Value> =
        all(&world).as_array().unwrap().iter().map(|one| json!([one["name"], one["kind"], one["versions"]])).collect();
    let expected = [
        json!(["gems", "group", null]),
        json!(["gems-private", "hosted", null]),
        json!(["maven", "group", null]),
        json!(["maven-central", "remote", null]),
        json!(["maven-releases", "hosted", "releases"]),
        json!(["maven-snapshots", "hosted", "snapshots"]),
        json!(["rubygems", "remote", null]),
    ];
    assert_eq!(shown, expected);
    let members =
        |name: &str| world.admin().get(&format!("{REPOSITORIES}/{name}")).expect(200).json()["members"].clone();
    assert_eq!(members("gems"), json!(["gems-private", "rubygems"]));
    assert_eq!(members("maven"), json!(["maven-releases", "maven-snapshots", "maven-central"]));
    let of = |world: &World, name: &str| {
        world.admin().get(&format!("{REPOSITORIES}/{name}")).expect(200).json()["remote"]["urls"].clone()
    };
    let urls = |world: &World| of(world, "maven-central");
    assert_eq!(urls(&world), json!(["http://127.0.0.1:9/maven2"]));
    assert_eq!(of(&world, "rubygems"), json!(["http://127.0.0.1:9/gems"]));
    // The settings apply at every start; added mirrors stay.
    let change = json!({"remote": {"urls": ["http://127.0.0.1:8", "http://127.0.0.1:7"]}});
    world.admin().patch_json(&format!("{REPOSITORIES}/maven-central"), &change).expect(200);
    world.admin().patch_json(&format!("{REPOSITORIES}/rubygems"), &change).expect(200);
    world.stop();
    world.resume();
    assert_eq!(of(&world, "rubygems"), json!(["http://127.0.0.1:9/gems", "http://127.0.0.1:7"]));
    assert_eq!(urls(&world), json!(["http://127.0.0.1:9/maven2", "http://127.0.0.1:7"]));
    // A removed repository is not created again.
    let central = format!("{REPOSITORIES}/maven-central");
    let problem = world.admin().ask("DELETE", &central, &[], b"").expect(400).json();
    assert_eq!(problem["detail"], "`maven-central` is a member of `maven`");
    for (group, others) in [("maven", json!(["maven-releases", "maven-snapshots"])), ("gems", json!([FIRST]))] {
        world.admin().patch_json(&format!("{REPOSITORIES}/{group}"), &json!({"members": others})).expect(200);
    }
    world.admin().ask("DELETE", &format!("{central}?confirm=maven-central"), &[], b"").expect(200);
    world.admin().ask("DELETE", &format!("{REPOSITORIES}/rubygems?confirm=rubygems"), &[], b"").expect(200);
    world.stop();
    world.resume();
    assert_eq!(all(&world).as_array().unwrap().len(), 5);
}

#[test]
fn the_remote_for_gems_of_a_new_folder_waits_for_an_upstream_and_calls_nobody_before_it_is_asked() {
    let mut world = World::start_in_conformance(&[]);
    let path = format!("{REPOSITORIES}/rubygems");
    assert_eq!(world.admin().get(&path).expect(200).json()["remote"], json!({"urls": []}));
    world.anon().get("/repository/rubygems/").expect(200);
    let refused = world.anon().get("/repository/rubygems/versions").expect(502);
    assert_eq!(refused.phrase, "this repository has no upstream yet");
    assert!(refused.text().contains("`daylight repo set rubygems --remote URL`"), "{}", refused.text());
    // Its other settings can be set before, and it cannot lose its upstream again.
    world.admin().patch_json(&path, &json!({"policy": {"deny": ["oil"]}})).expect(200);
    let problem = world.admin().patch_json(&path, &json!({"remote": {"urls": []}})).expect(400).json();
    assert_eq!(problem["detail"], "`remote.urls` has 1 to 8 URLs, not 0");
    let added = json!({"name": "paid", "format": "gem", "remote": {"missing_s": 7}});
    world.admin().post_json(REPOSITORIES, &added).expect(400);
    world.stop();
    world.resume();

    let upstream = Upstream::start();
    let index = "created_at: 2026-11-01T00:00:00Z\n---\nlamp 1.0 0123456789abcdef0123456789abcdef\n";
    upstream.says("/versions", Says::bytes(index));
    world.admin().patch_json(&path, &json!({"remote": {"urls": [upstream.url()]}})).expect(200);
    // The regular work is done each time the clock is set.
    // Another remote repository, which a client used, shows when that is done.
    let other = Upstream::start();
    other.says("/versions", Says::bytes(index));
    world.remote_of("gem", "asked", &other.url());
    world.set_time("2026-11-02T12:00:00Z");
    world.anon().get("/repository/asked/versions").expect(200);
    for moment in ["2026-11-02T13:00:00Z", "2026-11-02T14:00:00Z", "2026-11-03T13:00:00Z"] {
        world.set_time(moment);
        // While a look is running the regular work starts no other one.
        let asked = format!("{REPOSITORIES}/asked");
        let looked = || world.admin().get(&asked).expect(200).json()["index"]["looked_at"].clone();
        await_true("it is looked at", || looked() == moment.replace('Z', ".000Z"));
    }
    assert_eq!(other.total(), 4);
    assert_eq!(upstream.total(), 0);
    assert!(world.anon().get("/repository/rubygems/versions").expect(200).text().contains("\nlamp 1.0 "));
    assert_eq!(upstream.total(), 1);
    // From then on its index is followed.
    world.set_time("2026-11-03T14:00:00Z");
    upstream.await_count("/versions", 2);
}

#[test]
fn the_group_for_gems_of_a_new_folder_has_what_is_pushed_while_its_remote_has_no_upstream() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0")).expect(200);
    assert!(world.anon().get("/repository/gems/versions").expect(200).text().contains("\nlamp 1.0 "));
    world.anon().get("/repository/gems/gems/lamp-1.0.gem").expect(200);
    world.anon().get("/repository/gems/info/oil").expect(404);
}

const DECLARED: &str = r#"
[[repository]]
name = "snapshots"
format = "maven"
versions = "snapshots"
retention = { builds = 3 }

[[repository]]
name = "gems-private"
format = "gem"
protocols = { full_index = false }
"#;

#[test]
fn what_the_file_declares_is_there_at_each_start_and_when_the_file_is_read_again() {
    let mut world = World::start_with_file(DECLARED);
    let shown = |world: &World, name: &str| world.admin().get(&format!("{REPOSITORIES}/{name}")).expect(200).json();
    assert_eq!(shown(&world, "snapshots")["retention"], json!({"builds": 3}));
    assert_eq!(shown(&world, FIRST)["protocols"]["full_index"], false);
    // Changed settings are those of the file again, and settings that the file does not name stay.
    let change = json!({"protocols": {"full_index": true}, "owners": "enforced"});
    world.admin().patch_json(&format!("{REPOSITORIES}/{FIRST}"), &change).expect(200);
    world.stop();
    world.resume();
    assert_eq!(shown(&world, FIRST)["protocols"]["full_index"], false);
    assert_eq!(shown(&world, FIRST)["owners"], "enforced");

    world.configure(&DECLARED.replace("builds = 3", "builds = 4, days = 30"));
    world.reload("the repositories of the configuration file are in force");
    assert_eq!(shown(&world, "snapshots")["retention"], json!({"builds": 4, "days": 30}));
    world.configure(&DECLARED.replace("\"maven\"", "\"raw\"").replace("versions", "# ").replace("retention", "# "));
    world.reload("the repositories of the configuration file are not in force");
    assert!(world.log().contains("it is there already, as a hosted repository of format maven"), "{}", world.log());
    assert_eq!(shown(&world, "snapshots")["format"], "maven");
}

#[test]
fn what_cannot_be_a_repository_is_refused_with_what_would_be_right() {
    let world = World::start();
    let none = refused(&world, &json!({"name": "r", "format": "maven", "kind": "remote"}));
    assert_eq!(none, "a remote repository needs the URL of its upstream");
    let secret = refused(&world, &json!({"name": "r", "format": "maven", "remote": {"urls": ["http://ann:hush@a"]}}));
    assert_eq!(secret, "`remote.urls`: a URL holds no user and no password");
    refused(&world, &json!({"name": "r", "format": "maven", "kind": "mirror"}));
    refused(&world, &json!({"name": "r", "format": "npm"}));
    refused(&world, &json!({"name": "r", "format": "gem", "colour": "red"}));
    refused(&world, &json!({"name": "r", "format": "maven", "kind": "hosted", "remote": {"urls": ["http://a"]}}));
    refused(&world, &json!({"name": "r", "format": "gem", "kind": "group", "members": ["maven-releases"]}));
    world.admin().get(&format!("{REPOSITORIES}/r")).expect(404);
}
