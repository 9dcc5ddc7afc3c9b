//! Policies of remote repositories: young or denied versions of an upstream are hidden, also in its metadata.

use super::{WEEK_S, allow, set, set_day, world};
use crate::as_of::last_change;
use crate::world::{Answer, Says, Upstream, World, await_true};
use serde_json::json;

const METADATA: &str = "org/example/lamp/maven-metadata.xml";

/// `far` has 1.0 (1 October), 1.1 (10 November) and 1.2 without a date, and `all` is a group with it. It is day 11.
fn shore() -> (World, Upstream) {
    let (world, far) = (world(), Upstream::start());
    world.remote("far", &far.url());
    world.make(&json!({ "name": "all", "format": "maven", "members": ["far"] }));
    for (version, modified) in
        [("1.0", Some("Thu, 01 Oct 2026 12:00:00 GMT")), ("1.1", Some("Tue, 10 Nov 2026 12:00:00 GMT")), ("1.2", None)]
    {
        for ending in ["jar", "pom"] {
            let says = Says::bytes(format!("{ending} of {version}"));
            let says = modified.into_iter().fold(says, |says, modified| says.header("Last-Modified", modified));
            far.says(&format!("/{}", path(version, ending)), says);
        }
    }
    let versions = ["1.0", "1.1", "1.2"].map(|version| format!("<version>{version}</version>")).concat();
    far.file(
        &format!("/{METADATA}"),
        format!(
            "<metadata><groupId>org.example</groupId><artifactId>lamp</artifactId><versioning><latest>1.2</latest><release>1.2\
             </release><versions>{versions}</versions><lastUpdated>20261110120000</lastUpdated></versioning></metadata>"
        ),
    );
    set_day(&world, 11);
    (world, far)
}

fn path(version: &str, ending: &str) -> String {
    format!("org/example/lamp/{version}/lamp-{version}.{ending}")
}

fn get(world: &World, repository: &str, path: &str) -> Answer {
    world.anon().file(repository, path)
}

fn listed(world: &World, repository: &str) -> Vec<String> {
    let text = get(world, repository, METADATA).expect(200).text().to_owned();
    text.split("<version>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
}

#[test]
fn what_is_young_upstream_or_of_unknown_age_is_on_no_list_and_appears_once_it_is_old_enough() {
    let (world, _far) = shore();
    set(&world, "far", &json!({ "cooldown_s": WEEK_S })).expect(200);
    let sums = |repository| get(&world, repository, &format!("{METADATA}.sha1")).expect(200).text().to_owned();
    for repository in ["far", "all"] {
        let before = sums(repository);
        for _ in 0..3 {
            assert_eq!(listed(&world, repository), ["1.0"]);
        }
        assert!(get(&world, repository, METADATA).text().contains("<release>1.0<"));
        assert_eq!(sums(repository), before);
        get(&world, repository, &path("1.0", "jar")).expect(200);
        for young in ["1.1", "1.2"] {
            for ending in ["jar", "pom"] {
                let refused = get(&world, repository, &path(young, ending)).expect(403).json();
                assert!(refused["detail"].as_str().unwrap().contains("hidden by the policy of `far`"), "{refused}");
            }
        }
    }
    allow(&world, "far", "org.example:lamp:1.2", None).expect(201);
    assert_eq!(listed(&world, "all"), ["1.0", "1.2"]);
    get(&world, "all", &path("1.2", "jar")).expect(200);
    set_day(&world, 17);
    for repository in ["far", "all"] {
        assert_eq!(listed(&world, repository), ["1.0", "1.1", "1.2"]);
        get(&world, repository, &path("1.1", "jar")).expect(200);
    }
}

#[test]
fn what_is_denied_is_not_in_the_metadata_of_an_upstream_and_no_pom_is_asked_for_to_know_that() {
    let (world, far) = shore();
    set(&world, "all", &json!({ "deny": ["org.example:lamp:1.1"] })).expect(200);
    assert_eq!((listed(&world, "all"), listed(&world, "far").len()), (vec!["1.0".to_owned(), "1.2".to_owned()], 3));
    assert_eq!(far.count(&format!("/{}", path("1.1", "pom"))), 0);
    let catalog = get(&world, "far", "archetype-catalog.xml").status;
    assert_eq!(catalog, 404);
}

#[test]
fn the_checksum_of_a_raw_file_is_hidden_where_the_file_is() {
    let (world, far) = (world(), Upstream::start());
    world.remote_of("raw", "tools", &far.url());
    world.make(&json!({ "name": "every", "format": "raw", "members": ["tools"] }));
    for file in ["bin/lamp.zip", "secret/oil.zip", "bin/wick.zip"] {
        far.file(&format!("/{file}"), file);
        far.file(&format!("/{file}.sha1"), "of it");
    }
    set(&world, "tools", &json!({ "deny": ["bin/lamp.zip"], "private_prefixes": ["secret/oil.zip"] })).expect(200);
    for repository in ["tools", "every"] {
        for hidden in ["bin/lamp.zip", "secret/oil.zip"] {
            for ending in ["", ".sha1"] {
                get(&world, repository, &format!("{hidden}{ending}")).expect(403);
            }
        }
    }
    assert_eq!(far.total(), 0, "nobody there learns of it");
    get(&world, "every", "bin/wick.zip.sha1").expect(200);
}

#[test]
fn a_plugin_that_is_denied_is_on_no_list_of_its_group_also_not_on_those_of_before() {
    let (world, far) = shore();
    let group = "org/example/maven-metadata.xml";
    let plugins = ["lamp", "oil"].map(|name| {
        format!(
            "<plugin><name>{name}</name><prefix>{name}</prefix><artifactId>{name}-maven-plugin</artifactId></plugin>"
        )
    });
    far.file(&format!("/{group}"), format!("<metadata><plugins>{}</plugins></metadata>", plugins.concat()));
    let before = last_change(&world);
    assert!(get(&world, "far", group).expect(200).text().contains("<prefix>oil<"));
    await_true("the plugins are recorded", || last_change(&world) != before);
    set(&world, "far", &json!({ "deny": ["org.example:oil-maven-plugin"] })).expect(200);
    for repository in ["far", "all", &format!("far@seq-{}", last_change(&world))] {
        let told = get(&world, repository, group).expect(200);
        assert!(told.text().contains("<prefix>lamp<") && !told.text().contains("oil"), "{repository}: {}", told.text());
    }
}

#[test]
fn a_cooldown_counts_as_of_then_for_files_as_it_does_for_lists() {
    let (world, _far) = shore();
    set(&world, "far", &json!({ "cooldown_s": WEEK_S })).expect(200);
    assert_eq!(listed(&world, "far"), ["1.0"]);
    set_day(&world, 18);
    assert_eq!(listed(&world, "far"), ["1.0", "1.1", "1.2"]);
    for (day, versions) in [("2026-11-12", vec!["1.0"]), ("2026-11-17", vec!["1.0", "1.1", "1.2"])] {
        for repository in ["far", "all"] {
            let then = format!("{repository}@{day}");
            assert_eq!(listed(&world, &then), versions, "{then}");
            for version in ["1.0", "1.1", "1.2"] {
                let expected = if versions.contains(&version) { 200 } else { 403 };
                for ending in ["jar", "pom", "jar.sha1"] {
                    get(&world, &then, &path(version, ending)).expect(expected);
                }
            }
        }
    }
}
