//! The settings of a Koji hub: in the API, the configuration file and on pages, and what refuses them.

use crate::world::{Answer, KojiHub, World, await_true};
use serde_json::{Value, json};
use std::process::{Command, Output};

const REPOSITORIES: &str = "/api/v1/repositories";
const BUILDS: &str = "/api/v1/repositories/builds";

/// Where nothing listens.
fn nowhere() -> Value {
    json!({"hub": "http://127.0.0.1:9/kojihub", "files": "http://127.0.0.1:9/kojifiles", "tags": ["app-*", "tools"]})
}

fn definition(koji: &Value) -> Value {
    json!({"name": "builds", "format": "maven", "kind": "remote", "remote": {"koji": koji}})
}

fn koji(answer: &Answer) -> Value {
    answer.json()["remote"]["koji"].clone()
}

fn with(koji: &Value, more: &Value) -> Value {
    let mut koji = koji.clone();
    koji.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    koji
}

fn daylight(world: &World, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daylight"));
    command.args(arguments).args(["--server", &format!("http://{}", world.address())]);
    command.env_clear().env("DAYLIGHT_TOKEN", world.admin().secret()).output().unwrap()
}

#[test]
fn a_hub_is_set_and_changed_field_by_field_and_mistakes_are_refused_with_a_hint() {
    let mut world = World::start_with(&[("UPSTREAM_KOJI", "ann:hush-hush")]);
    let made = world.admin().post_json(REPOSITORIES, &definition(&nowhere())).expect(201);
    let shown = with(&nowhere(), &json!({"inherit": false, "duplicates": "newest"}));
    assert_eq!(made.json()["remote"], json!({ "koji": shown }));

    // A change of one field keeps the others, null takes one away, and the answer can be sent again.
    let change = |koji: &Value| world.admin().patch_json(BUILDS, &json!({"remote": {"koji": koji}}));
    let changed = change(&json!({"tags": ["app-*", "apps"], "inherit": true, "duplicates": "oldest"})).expect(200);
    let difference = "remote.koji.duplicates: oldest; remote.koji.inherit: true; remote.koji.tags: +apps -tools";
    assert_eq!(changed.json()["difference"], difference);
    let after = json!({"tags": ["app-*", "apps"], "inherit": true, "duplicates": "oldest"});
    assert_eq!(koji(&changed), with(&nowhere(), &after));
    let changed = change(&json!({"duplicates": null, "inherit": null})).expect(200);
    assert_eq!(koji(&changed), with(&shown, &json!({"tags": ["app-*", "apps"]})));
    assert_eq!(change(&koji(&changed)).expect(200).json()["difference"], "");

    // Credentials are for the files, and are named again for others, or for another hub.
    let secret = json!({"private": true, "remote": {"credentials": "env:UPSTREAM_KOJI"}});
    world.admin().patch_json(BUILDS, &secret).expect(200);
    for field in ["hub", "files"] {
        let elsewhere = change(&json!({ field: "http://127.0.0.1:8/koji" })).expect(400).json();
        let said = format!("`builds`: `remote.koji.{field}` names a host that `remote.credentials` was not given for");
        assert!(elsewhere["detail"].as_str().unwrap().contains(&said), "{elsewhere}");
    }
    let remote = json!({"koji": {"files": "http://127.0.0.1:8/koji"}, "credentials": "env:UPSTREAM_KOJI"});
    world.admin().patch_json(BUILDS, &json!({ "remote": remote })).expect(200);
    world.admin().patch_json(BUILDS, &json!({"private": false, "remote": {"credentials": null}})).expect(200);

    let refused = |answer: Answer, said: &str| {
        let problem = answer.expect(400).json();
        assert!(problem["hint"].is_string() && problem["detail"].as_str().unwrap().contains(said), "{problem}");
    };
    for (koji, said) in [
        (json!({"tags": []}), "1 to 64 names or patterns, not 0"),
        (json!({"tags": ["a["]}), "`[` without its `]`"),
        (json!({"tags": ["a\nb"]}), "control character"),
        (json!({"hub": "http://ann:hush-hush@127.0.0.1/x"}), "a URL holds no user and no password"),
        (json!({"files": "http://127.0.0.1/x?y=1"}), "`remote.koji.files`"),
        (json!({"hub": null}), "`remote.koji` names no `hub`"),
        (json!({"duplicates": "first"}), "there is no rule `first`"),
        (json!({"tag": "a"}), "`remote.koji` has no setting `tag`"),
        (Value::Null, "`builds` is a repository of a Koji hub"),
    ] {
        refused(change(&koji), said);
    }
    for (remote, said) in [
        (json!({"urls": ["http://127.0.0.1:9"]}), "two upstreams of one repository"),
        (json!({"fresh_s": 5}), "`remote.fresh_s` means nothing"),
        (json!({"missing_s": 5}), "`remote.missing_s` means nothing"),
        (json!({"prefixes": true}), "`remote.prefixes` means nothing"),
    ] {
        refused(world.admin().patch_json(BUILDS, &json!({ "remote": remote })), said);
    }
    let central = format!("{REPOSITORIES}/maven-central");
    let plain = world.admin().patch_json(&central, &json!({"remote": {"koji": nowhere()}}));
    refused(plain, "`maven-central` is no repository of a Koji hub");
    let gems = json!({"name": "g", "format": "gem", "kind": "remote", "remote": {"koji": nowhere()}});
    refused(world.admin().post_json(REPOSITORIES, &gems), "remote repositories of format maven");
    let two = json!({"name": "two", "format": "maven", "remote": {"koji": nowhere(), "urls": ["http://127.0.0.1:9"]}});
    refused(world.admin().post_json(REPOSITORIES, &two), "two upstreams of one repository");

    // It stays over a restart, and a private page is not for everybody.
    let before = koji(&world.admin().get(BUILDS).expect(200));
    world.stop();
    world.resume();
    assert_eq!(koji(&world.admin().get(BUILDS).expect(200)), before);
    assert!(!world.log().contains("hush-hush"));
}

#[test]
fn the_page_and_the_commands_tell_of_the_map_and_a_preview_of_the_builds_that_leave() {
    let (hub, world) = (KojiHub::start(), World::start());
    let (one, other) = (hub.tag("app-1"), hub.tag("app-2"));
    hub.tag_build(one, super::lamp(&hub));
    hub.tag_build(other, super::built(&hub, "org.example-oil", "2.0", "org/example/oil/2.0"));
    let koji = json!({"hub": hub.url(), "files": hub.files(), "tags": ["app-*"]});
    world.admin().post_json(REPOSITORIES, &definition(&koji)).expect(201);
    let unread = daylight(&world, &["repo", "show", "builds"]);
    assert!(String::from_utf8_lossy(&unread.stdout).contains("\nmap: none: the hub was not read yet;"), "{unread:?}");
    world.admin().get("/repository/builds/org/example/lamp/1.0/lamp-1.0.pom").expect(200);

    let shown = world.admin().get(BUILDS).expect(200).json()["koji"].clone();
    assert_eq!((&shown["tags"], &shown["builds"], &shown["files"]), (&json!(["app-1", "app-2"]), &json!(2), &json!(4)));
    assert_eq!((&shown["failure"], &shown["left_out"]), (&Value::Null, &json!({})));
    assert!(shown["confirmed"].is_string() && shown["event"].as_u64() > Some(0), "{shown}");
    // Everybody reads its content, and administrators where it comes from. A user of this machine is as good as one,
    // unless a proxy passed the request on.
    let passed_on = [("Via", "1.1 elsewhere")];
    let page = world.anon().ask("GET", "/repository/builds/", &passed_on, b"").expect(200).text().to_owned();
    let map = "tags with builds: app-1, app-2\n    builds: 2\n    files of these: 4\n    newest event: ";
    assert!(page.contains(map) && page.contains("tags: app-*") && page.contains("mvn -s settings.xml"), "{page}");
    assert!(!page.contains(&hub.url()), "{page}");
    let page = world.admin().get("/repository/builds/").expect(200).text().to_owned();
    assert!(page.contains(&format!("hub: {}", hub.url())) && page.contains(&hub.files()), "{page}");

    let text = |arguments: &[&str]| {
        let said = daylight(&world, arguments);
        assert!(said.status.success(), "{said:?}");
        String::from_utf8(said.stdout).unwrap() + &String::from_utf8(said.stderr).unwrap()
    };
    let said = text(&["repo", "show", "builds"]);
    assert!(said.contains("\nKoji tags: app-*\n") && said.contains("\nbuilds: 2\nfiles of builds: 4\n"), "{said}");
    let said = text(&["check", "--index"]);
    assert!(said.contains("builds: checked 2 builds with 4 files and the cached files:\n"), "{said}");
    assert!(said.contains("builds: 1 cached files are those of the builds, 0 are of former builds"), "{said}");

    // Other tags: the map knows who leaves, and the next look who comes.
    let said = text(&["repo", "set", "builds", "--koji-tag", "app-1", "--preview"]);
    assert!(
        said.contains("org.example-oil-2.0-1 would leave\n") && said.contains("the next look at the hub"),
        "{said}"
    );
    assert_eq!(world.admin().get(BUILDS).expect(200).json()["koji"]["builds"], 2);
    world.admin().get("/repository/builds/org/example/oil/2.0/oil-2.0.pom").expect(200);
    text(&["repo", "set", "builds", "--koji-tag", "app-1"]);
    await_true("the next look has left the builds of the other tag out", || {
        world.admin().get(BUILDS).expect(200).json()["koji"]["builds"] == 1
    });
    world.admin().get("/repository/builds/org/example/oil/2.0/oil-2.0.pom").expect(404);
    // Other files are another upstream: its cached files are lost, unless somebody says otherwise.
    let said = text(&["repo", "set", "builds", "--koji-files", "http://127.0.0.1:9/kojifiles", "--preview"]);
    assert!(said.contains("files of") && said.contains("would be dropped"), "{said}");
    let moved = json!({"remote": {"koji": {"files": "http://127.0.0.1:9/kojifiles"}}});
    world.admin().patch_json(BUILDS, &moved).expect(409);
    let said = daylight(&world, &["repo", "set", "maven-central", "--koji-tag", "a"]);
    let error = String::from_utf8(said.stderr).unwrap();
    assert!(error.contains("is no repository of a Koji hub") && error.contains("hint: "), "{error}");
}

#[test]
fn declared_tags_that_change_are_looked_at_at_once_also_after_a_restart() {
    let hub = KojiHub::start();
    let (one, other) = (hub.tag("app-1"), hub.tag("app-2"));
    hub.tag_build(one, super::lamp(&hub));
    hub.tag_build(other, super::built(&hub, "org.example-oil", "2.0", "org/example/oil/2.0"));
    let declared = |tags: &str| {
        format!(
            "[[repository]]\nname = \"builds\"\nformat = \"maven\"\n[repository.remote.koji]\nhub = \"{}\"\nfiles = \"{}\"\ntags = [\"{tags}\"]\n",
            hub.url(),
            hub.files()
        )
    };
    let await_builds = |world: &World, builds: u64| {
        await_true("a look with the new tags", || {
            world.admin().get(BUILDS).expect(200).json()["koji"]["builds"] == builds
        });
    };
    let mut world = World::start_with_file(&declared("app-*"));
    world.anon().get("/repository/builds/org/example/oil/2.0/oil-2.0.pom").expect(200);
    await_builds(&world, 2);
    world.configure(&declared("app-1"));
    world.reload("the repositories of the configuration file are in force");
    await_builds(&world, 1);
    world.stop();
    world.configure(&declared("app-*"));
    world.resume();
    await_builds(&world, 2);
}
