//! What a hub answers of tags, builds and files.

use super::{LAMP, built, lamp, numbers};
use crate::world::{KojiHub, hex};
use md5::{Digest, Md5};
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::BTreeSet;

/// The path below TOP of a file of a build that `listTaggedArchives` has.
pub(super) fn path(archive: &Value, build: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let volume = text(&build["volume_name"]);
    let volume = if volume == "DEFAULT" { String::new() } else { format!("vol/{volume}/") };
    let [name, version, release] = ["name", "version", "release"].map(|member| text(&build[member]));
    let members = ["maven_group_id", "maven_artifact_id", "maven_version", "filename"];
    let [group, artifact, maven, file] = members.map(|member| text(&archive[member]));
    format!("{volume}packages/{name}/{version}/{release}/maven/{}/{artifact}/{maven}/{file}", group.replace('.', "/"))
}

#[test]
fn one_call_has_all_that_the_urls_of_a_tag_need() {
    let hub = KojiHub::start();
    let (tag, lamp) = (hub.tag("maven-release"), lamp(&hub));
    hub.tag_build(tag, lamp);
    hub.add_file(lamp, &format!("{LAMP}/lamp-1.0-sources.jar"), b"sources");
    for volume in ["DEFAULT", "attic"] {
        if volume != "DEFAULT" {
            hub.move_build(lamp, volume);
        }
        let named = json!({ "type": "maven", "latest": false, "strict": true, "extra": false });
        let answer = hub.call("listTaggedArchives", json!([tag]), named).unwrap();
        let archives = answer[0].as_array().unwrap();
        assert_eq!(archives.len(), 3);
        for archive in archives {
            let path = path(archive, &answer[1][0]);
            assert_eq!(path.starts_with("vol/attic/"), volume == "attic");
            let address = hub.files().strip_prefix("http://").unwrap().split('/').next().unwrap().parse().unwrap();
            let mut files = crate::world::Connection::open(address).unwrap();
            let mut get = |path: &str| files.call("GET", &format!("/kojifiles/{path}"), &[], b"").unwrap();
            let file = get(&path).expect(200).body;
            assert_eq!(archive["size"], file.len());
            let digest = match archive["checksum_type"].as_u64().unwrap() {
                0 => hex(&Md5::digest(&file)),
                _ => hex(&Sha256::digest(&file)),
            };
            assert_eq!(archive["checksum"], digest);
            assert_eq!(get(&format!("{path}.md5")).expect(200).text().trim(), hex(&Md5::digest(&file)));
            get(&format!("{path}.sha256")).expect(404);
            get(path.strip_prefix("vol/attic/").unwrap_or(&path)).expect(200);
            assert_eq!(archive["metadata_only"], false);
        }
    }
    assert!(hub.file_gets().iter().all(|path| path.contains("packages/org.example-lamp/1.0/1/maven/")));
}

#[test]
fn two_builds_with_the_same_coordinates_are_both_in_a_list() {
    let hub = KojiHub::start();
    let tag = hub.tag("maven-release");
    let first = lamp(&hub);
    let second = built(&hub, "org.example-lamp", "1.1", LAMP);
    hub.tag_build(tag, second);
    hub.tag_build(tag, first);
    let answer = hub.call("listTaggedArchives", json!([tag]), json!({ "type": "maven" })).unwrap();
    let mut builds = numbers(&answer[0], "build_id");
    builds.sort_unstable();
    assert_eq!(builds, [first, first, second, second]);
    let latest = hub.call("getLatestMavenArchives", json!([tag]), json!({})).unwrap();
    assert_eq!(numbers(&latest, "build_id"), [first, first], "the one that was tagged last");
    let latest =
        hub.call("listTagged", json!([tag]), json!({ "latest": true, "package": "org.example-lamp" })).unwrap();
    assert_eq!(numbers(&latest, "build_id"), [first]);
}

#[test]
fn archives_are_found_by_build_name_and_coordinates() {
    let hub = KojiHub::start();
    let build = hub.build("org.example-lamp", "1.0", "1").digest("sha256").pom("org/example/lamp/1.0/lamp-1.0.pom");
    let build = build.file("org/example/wick/1.0/wick-1.0.jar", b"wick").make();
    let found = |named: Value| numbers(&hub.call("listArchives", json!([]), named).unwrap(), "build_id").len();
    assert_eq!(found(json!({ "buildID": build })), 2);
    assert_eq!(found(json!({ "buildID": build, "type": "maven", "queryOpts": { "limit": 1 } })), 1);
    assert_eq!(found(json!({ "filename": "wick-1.0.jar" })), 1);
    let wick = json!({ "group_id": "org.example", "artifact_id": "wick", "version": "1.0" });
    assert_eq!(found(json!({ "type": "maven", "typeInfo": wick })), 1);
    let untyped = hub.call("listArchives", json!([build]), json!({})).unwrap();
    assert!(untyped.as_array().unwrap().iter().all(|archive| archive.get("group_id").is_none()), "{untyped}");
    // Builds are found by the coordinates of the build alone: a module of it has none.
    let builds = |coordinates: &Value| {
        let named = json!({ "type": "maven", "typeInfo": coordinates });
        hub.call("listBuilds", json!([]), named).unwrap().as_array().unwrap().len()
    };
    assert_eq!(builds(&wick), 0);
    assert_eq!(builds(&json!({ "group_id": "org.example", "artifact_id": "lamp", "version": "1.0" })), 1);
    let maven = hub.call("getMavenBuild", json!([build]), json!({})).unwrap();
    assert_eq!(maven["artifact_id"], "lamp");
}

#[test]
fn patterns_of_tags_ignore_case() {
    let hub = KojiHub::start();
    for name in ["maven-a", "Maven-b", "other", "maven"] {
        hub.tag(name);
    }
    let found = |pattern: &str| {
        let rows = hub.call("listTags", json!([]), json!({ "pattern": pattern })).unwrap();
        let mut names: Vec<String> =
            rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(found("maven-*"), ["Maven-b", "maven-a"]);
    assert_eq!(found("MAVEN-?"), ["Maven-b", "maven-a"]);
    assert_eq!(found("*"), ["Maven-b", "maven", "maven-a", "other"]);
    assert_eq!(found("maven-[ab]"), [""; 0], "brackets stand for themselves");
}

#[test]
fn archives_without_a_file_say_so() {
    let hub = KojiHub::start();
    let tag = hub.tag("maven-release");
    let build = hub.build("org.example-lamp", "1.0", "1").file("org/example/lamp/1.0/lamp-1.0.jar", b"jar");
    let build = build.metadata_only("org/example/lamp/1.0/lamp-1.0-docs.jar", b"docs").make();
    hub.tag_build(tag, build);
    let answer = hub.call("listTaggedArchives", json!([tag, null, false, false, null, "maven"]), json!({})).unwrap();
    let mut told: Vec<bool> =
        answer[0].as_array().unwrap().iter().map(|row| row["metadata_only"].as_bool().unwrap()).collect();
    told.sort_unstable();
    assert_eq!(told, [false, true]);
}

/// The names of the members of a value, and of those inside.
fn members(value: &Value, before: &str, found: &mut BTreeSet<String>) {
    match value {
        // What a build's importer said of it is not the hub's.
        Value::Object(_) if before.ends_with(".extra") => {}
        Value::Object(all) => all.iter().for_each(|(name, value)| {
            found.insert(format!("{before}.{name}"));
            members(value, &format!("{before}.{name}"), found);
        }),
        Value::Array(all) => all.iter().for_each(|value| members(value, before, found)),
        _ => {}
    }
}

#[test]
fn rows_have_the_members_that_they_have_on_a_real_hub() {
    let hub = KojiHub::start();
    let (tag, parent, lamp) = (hub.tag("maven-release"), hub.tag("maven-parent"), lamp(&hub));
    hub.tag_build(tag, lamp);
    hub.inherit(tag, parent, 0);
    let tables = json!(["tag_listing", "tag_packages", "tag_inheritance", "tag_config"]);
    let mut found = BTreeSet::new();
    for (method, params, named) in [
        ("getLastEvent", json!([]), json!({})),
        ("getEvent", json!([2]), json!({})),
        ("getTag", json!([tag]), json!({ "event": 9999 })),
        ("listTags", json!([]), json!({ "pattern": "maven-*" })),
        ("listTagged", json!([tag]), json!({ "type": "maven" })),
        ("listTaggedArchives", json!([tag]), json!({ "type": "maven", "extra": false })),
        ("getLatestMavenArchives", json!([tag]), json!({})),
        ("listArchives", json!([]), json!({ "buildID": lamp, "type": "maven" })),
        ("getBuild", json!([lamp]), json!({})),
        ("getMavenBuild", json!([lamp]), json!({})),
        ("queryHistory", json!([]), json!({ "tables": tables, "tag": tag })),
        ("queryHistory", json!([]), json!({ "tables": tables, "tag": tag, "afterEvent": 1 })),
        ("getFullInheritance", json!([tag]), json!({})),
    ] {
        members(&hub.call(method, params, named).unwrap(), method, &mut found);
    }
    let text: String = found.into_iter().map(|name| name + "\n").collect();
    let expected = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/koji/members.txt");
    if std::env::var_os("DAYLIGHT_WRITE").is_some() && hub.is_real() {
        std::fs::write(expected, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(expected).unwrap());
}
