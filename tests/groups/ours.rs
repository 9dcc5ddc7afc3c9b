//! Names of hosted members: no upstream can add a version to them, or learns of them.

use super::{Scene, command};
use crate::maven_hosted::all;
use crate::world::{Upstream, hex};
use serde_json::json;
use sha1::{Digest, Sha1};

const LAMP: &str = "org/example/lamp";

/// Files under a name, with versions that are higher than all others and versions that are published.
const SQUATTED: [&str; 5] = [
    "9.9/lamp-9.9.jar",
    "9.9/lamp-9.9.jar.sha1",
    "9.9/lamp-9.9.pom",
    "1.0/lamp-1.0-sources.jar",
    "1.0-SNAPSHOT/lamp-1.0-29990101.000000-9.jar",
];

/// Makes the upstream offer everything under a name, in a higher version.
fn squat(upstream: &Upstream) {
    let metadata = "<metadata><groupId>org.example</groupId><artifactId>lamp</artifactId><versioning><versions>\
                    <version>9.9</version><version>1.0-SNAPSHOT</version></versions></versioning></metadata>";
    let build = "<metadata><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0-SNAPSHOT</version>\
                 <versioning><snapshot><timestamp>29990101.000000</timestamp><buildNumber>9</buildNumber></snapshot>\
                 </versioning></metadata>";
    for path in SQUATTED {
        let text = if path.ends_with(".sha1") { hex(&Sha1::digest("evil")) } else { "evil".to_owned() };
        upstream.file(&format!("/{LAMP}/{path}"), text);
    }
    upstream.file(&format!("/{LAMP}/maven-metadata.xml"), metadata);
    upstream.file(&format!("/{LAMP}/1.0-SNAPSHOT/maven-metadata.xml"), build);
}

#[test]
fn files_in_folders_below_a_version_and_beside_it_do_not_end_the_guard_of_its_name() {
    let scene = Scene::new();
    let admin = scene.world.admin();
    scene.world.change("ours", &json!({ "layout": "any" }));
    admin.put("ours", &format!("{LAMP}/1.0/lamp-1.0.jar"), b"ours").expect(201);
    squat(&scene.near);
    // Each of these keys comes before the version's own file.
    for deeper in ["0/ivys/ivy.xml", "1.0/aaa/lamp.xml", "0.txt"] {
        admin.put("ours", &format!("{LAMP}/{deeper}"), b"ours").expect(201);
        scene.get(&format!("{LAMP}/9.9/lamp-9.9.jar")).expect(404);
    }
    assert_eq!((scene.near.asked(), scene.far.asked()), (vec![], vec![]), "no upstream learns the name");
}

#[test]
fn a_plugin_that_is_held_is_not_an_upstream_s_and_the_rest_of_its_group_is() {
    let scene = Scene::new();
    scene.world.admin().put("ours", &format!("{LAMP}/1.0/lamp-1.0.jar"), b"ours").expect(201);
    let plugin = |name: &str| format!("<plugin><prefix>{name}</prefix><artifactId>{name}</artifactId></plugin>");
    let plugins = format!("<metadata><plugins>{}{}</plugins></metadata>", plugin("lamp"), plugin("oil"));
    scene.near.file("/org/example/maven-metadata.xml", plugins);
    assert_eq!(all(&scene.get("org/example/maven-metadata.xml").expect(200), "artifactId"), ["oil"]);
}

#[test]
fn what_was_had_of_an_upstream_is_seen_no_more_once_its_name_is_held() {
    let scene = Scene::new();
    squat(&scene.near);
    let jar = format!("{LAMP}/9.9/lamp-9.9.jar");
    let metadata = format!("{LAMP}/maven-metadata.xml");
    for _ in 0..3 {
        assert_eq!(scene.get(&jar).expect(200).text(), "evil");
        assert_eq!(all(&scene.get(&metadata).expect(200), "version"), ["9.9", "1.0-SNAPSHOT"]);
    }
    let pom = b"<project><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0</version></project>";
    let put = scene.world.admin().put("ours", &format!("{LAMP}/1.0/lamp-1.0.pom"), pom).expect(201);
    // Three kinds of users get this notice: the uploader, the client that misses a version, and the user of `explain`.
    let notice = "from now on the group `all` asks no upstream for `org.example:lamp`, and hides the versions of that name that `near` has";
    assert_eq!(put.header("daylight-notice"), Some(notice));
    assert_eq!(put.text(), format!("{notice}\n"));
    let event = scene.world.event(put.header("daylight-event").unwrap());
    assert_eq!(event["detail"], notice);
    assert_eq!(scene.world.admin().put("ours", &format!("{LAMP}/1.1/lamp-1.1.jar"), b"x").expect(201).text(), "");
    let missing = scene.get(&jar).expect(404);
    assert!(
        missing.text().contains("`org.example:lamp` was published in one of its hosted members"),
        "{}",
        missing.text()
    );
    let text = missing.text();
    assert!(
        text.contains("an administrator has them asked, too: `daylight repo set all --shared org.example:lamp`"),
        "{text}"
    );
    let told = super::explain::explained(&scene.world, "all", &jar);
    let near = told["members"].as_array().unwrap().iter().find(|one| one["member"] == "near").unwrap();
    assert_eq!(near["detail"], "`org.example:lamp` was published in `ours`, so this upstream is not asked for it");
    assert_eq!(all(&scene.get(&metadata).expect(200), "version"), ["1.0"]);
    // Unless the policy shares the name.
    scene.world.change("all", &json!({ "policy": { "shared": ["org.example:lamp"] } }));
    assert_eq!(scene.get(&jar).expect(200).text(), "evil");
    assert!(all(&scene.get(&metadata).expect(200), "version").contains(&"9.9".to_owned()));
}

#[test]
fn an_odd_path_is_seen_no_more_either_once_its_name_is_held_however_often_it_was_answered() {
    let scene = Scene::new();
    for path in [
        "org/example/lamp/notes/deep/notes.txt",
        "org/example/lamp/1.0/maven-metadata.xml.asc",
        "org/example/lamp/notes.txt",
    ] {
        scene.near.file(&format!("/{path}"), "evil");
        for _ in 0..3 {
            assert_eq!(scene.get(path).expect(200).text(), "evil");
        }
    }
    scene.world.admin().put("ours", &format!("{LAMP}/1.0/lamp-1.0.jar"), b"ours").expect(201);
    for asked in scene.near.asked() {
        scene.get(asked.path.trim_start_matches('/')).expect(404);
    }
    assert_ne!(scene.get("org/example/%6camp/notes/deep/notes.txt").status, 200, "however it is spelt");
}

#[test]
fn an_upload_that_hides_files_that_builds_have_fetched_says_whose_they_are_also_where_nobody_asked_for_metadata() {
    let scene = Scene::new();
    scene.far.file(&format!("/{LAMP}/9.9/lamp-9.9.jar"), "far");
    // A build whose versions are fixed asks for no metadata.
    scene.get(&format!("{LAMP}/9.9/lamp-9.9.jar")).expect(200);
    let put = scene.world.admin().put("ours", &format!("{LAMP}/1.0/lamp-1.0.jar"), b"ours").expect(201);
    assert!(put.header("daylight-notice").unwrap().ends_with("hides the versions of that name that `far` has"));
}

/// What a removal tells of the name of the lamp, and whether it stays ours until the command of the answer has run.
fn stays_until_given_back(scene: &Scene, notice: &str) {
    let gives_back = "daylight repo set all --shared org.example:oil --shared org.example:lamp";
    assert!(notice.contains("`org.example:lamp`") && notice.contains(&format!("`{gives_back}`")), "{notice}");
    let jar = format!("{LAMP}/9.9/lamp-9.9.jar");
    scene.get(&jar).expect(404);
    assert_eq!(scene.near.count_of("lamp"), 0);
    let arguments: Vec<&str> = gives_back.split(' ').skip(1).collect();
    assert!(command(&scene.world, &arguments).status.success());
    assert_eq!(scene.get(&jar).expect(200).text(), "evil");
}

/// A name with two versions, which an upstream has, too, and a group that shares another name.
fn published() -> Scene {
    let scene = Scene::new();
    squat(&scene.near);
    scene.world.change("all", &json!({ "policy": { "shared": ["org.example:oil"] } }));
    for number in ["1.0", "1.1"] {
        scene.world.admin().put("ours", &format!("{LAMP}/{number}/lamp-{number}.jar"), b"ours").expect(201);
    }
    scene
}

#[test]
fn a_deletion_keeps_a_name_and_says_which_command_gives_it_back_to_upstreams() {
    let scene = published();
    let one = scene.world.admin().delete("ours", &format!("{LAMP}/1.0/lamp-1.0.jar")).expect(204);
    assert_eq!(one.header("daylight-notice"), None, "a version is left");
    let publisher = scene.world.person("publisher", &["read", "delete"], &["ours"]);
    let last = publisher.delete("ours", &format!("{LAMP}/1.1")).expect(204);
    let notice = last.header("daylight-notice").unwrap().to_owned();
    assert_eq!(scene.world.event(last.header("daylight-event").unwrap())["detail"], notice);
    stays_until_given_back(&scene, &notice);
}

#[test]
fn a_deletion_by_an_administrator_and_a_purge_say_the_same() {
    let scene = published();
    let deleted = command(&scene.world, &["repo", "delete", "ours", LAMP]);
    stays_until_given_back(&scene, &String::from_utf8_lossy(&deleted.stderr));
    let scene = published();
    let why = ["--why", "a key", "--yes"];
    let purged = command(&scene.world, &[&["purge", "ours", "org.example:lamp"], &why[..]].concat());
    stays_until_given_back(&scene, &String::from_utf8_lossy(&purged.stderr));
    // A name that is shared is not ours alone.
    let shared = command(&scene.world, &["repo", "delete", "ours", LAMP, "--json"]);
    assert!(!String::from_utf8_lossy(&shared.stdout).contains("--shared"), "{shared:?}");
}
