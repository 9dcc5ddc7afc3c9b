//! Documents that a group merges from those of its members: metadata at its three levels, and the documents at the
//! root.

use super::{Scene, group};
use crate::maven_hosted::all;
use crate::world::{Answer, Says, World, hex};
use md5::Md5;
use serde_json::json;
use sha1::{Digest, Sha1};
use std::thread;

const VERSIONS: &str = "org/example/lamp/maven-metadata.xml";
const BUILDS: &str = "org/example/lamp/1.0-SNAPSHOT/maven-metadata.xml";
const PLUGINS: &str = "org/example/maven-metadata.xml";

/// Metadata of `org.example:lamp` with these versions.
fn versions(versions: &[&str]) -> String {
    let versions: String = versions.iter().map(|version| format!("<version>{version}</version>")).collect();
    format!(
        "<metadata><groupId>org.example</groupId><artifactId>lamp</artifactId><versioning><release>1.5</release>\
         <versions>{versions}</versions><lastUpdated>20260101000000</lastUpdated></versioning></metadata>"
    )
}

/// Metadata of `org.example:lamp:1.0-SNAPSHOT` with this build.
fn build(timestamp: &str, number: u32) -> String {
    let updated = timestamp.replace('.', "");
    format!(
        "<metadata><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0-SNAPSHOT</version><versioning>\
         <snapshot><timestamp>{timestamp}</timestamp><buildNumber>{number}</buildNumber></snapshot><lastUpdated>{updated}\
         </lastUpdated><snapshotVersions><snapshotVersion><extension>jar</extension><value>1.0-{timestamp}-{number}</value>\
         <updated>{updated}</updated></snapshotVersion></snapshotVersions></versioning></metadata>"
    )
}

/// Publishes the POM of a version of `org.example:ARTIFACT`, of this packaging, in `ours`.
fn publish(world: &World, artifact: &str, version: &str, packaging: &str) {
    let pom = format!(
        "<project><groupId>org.example</groupId><artifactId>{artifact}</artifactId><version>{version}</version>\
         <packaging>{packaging}</packaging></project>"
    );
    let path = format!("org/example/{artifact}/{version}/{artifact}-{version}.pom");
    world.admin().put("ours", &path, pom.as_bytes()).expect(201);
}

/// Compares the checksums of a document with its bytes.
#[track_caller]
fn with_its_checksums(scene: &Scene, path: &str) -> Answer {
    let document = scene.get(path).expect(200);
    let sha1 = hex(&Sha1::digest(&document.body));
    assert_eq!(document.header("x-checksum-sha1"), Some(sha1.as_str()));
    assert_eq!(scene.get(&format!("{path}.sha1")).expect(200).text(), sha1);
    let endings = [("md5", "x-checksum-md5"), ("sha256", "x-checksum-sha256"), ("sha512", "x-checksum-sha512")];
    let sums = endings.map(|(ending, _)| scene.get(&format!("{path}.{ending}")).expect(200));
    assert_eq!(sums[0].text(), hex(&Md5::digest(&document.body)));
    let again = scene.get(path).expect(200);
    for ((_, header), sum) in endings.iter().zip(&sums) {
        assert_eq!(Some(sum.text()), again.header(header), "{header}, once its checksum was asked for");
    }
    document
}

#[test]
fn the_versions_of_an_artifact_are_those_of_all_members_whichever_of_file_and_checksum_is_asked_first() {
    let scene = Scene::new();
    scene.near.file(&format!("/{VERSIONS}"), versions(&["1.10", "1.0"]));
    scene.far.file(&format!("/{VERSIONS}"), versions(&["2.0-SNAPSHOT", "1.5"]));
    let sum = scene.get(&format!("{VERSIONS}.sha1")).expect(200);
    let merged = with_its_checksums(&scene, VERSIONS);
    assert_eq!(sum.text(), hex(&Sha1::digest(&merged.body)));
    assert_eq!(all(&merged, "version"), ["1.0", "1.5", "1.10", "2.0-SNAPSHOT"]);
    assert_eq!((all(&merged, "latest"), all(&merged, "release")), (vec!["2.0-SNAPSHOT".into()], vec!["1.10".into()]));
    assert_eq!((merged.header("daylight-stale"), merged.header("last-modified")), (None, None));
}

#[test]
fn what_one_member_alone_says_is_answered_as_it_is() {
    let scene = Scene::new();
    let odd = "<metadata>\n<artifactId>lamp</artifactId> <own>kept</own></metadata>";
    scene.far.file(&format!("/{VERSIONS}"), odd);
    assert_eq!(with_its_checksums(&scene, VERSIONS).text(), odd);
}

#[test]
fn what_is_deployed_is_in_the_group_s_metadata_at_once_and_gone_when_it_is_deleted() {
    let scene = Scene::new();
    scene.get(VERSIONS).expect(404);
    scene.near.file("/org/example/oil/maven-metadata.xml", versions(&["1.0"]));
    // Also through a group of the group, and often enough that the answer becomes a page.
    group(&scene.world, "outer", &["all"]);
    let listed = || {
        let answers = ["all", "outer"].map(|name| scene.world.anon().file(name, VERSIONS));
        let [answer, outer] = answers;
        assert!(answer.status == outer.status && (answer.status == 404 || answer.body == outer.body));
        if answer.status == 404 { Vec::new() } else { all(&answer.expect(200), "version") }
    };
    for version in ["1.0", "1.1", "1.2"] {
        publish(&scene.world, "lamp", version, "jar");
        for _ in 0..3 {
            assert_eq!(listed().last().map(String::as_str), Some(version));
        }
    }
    scene.world.admin().delete("ours", "org/example/lamp/1.1").expect(204);
    assert_eq!(listed(), ["1.0", "1.2"]);
    scene.world.admin().delete("ours", "org/example/lamp").expect(204);
    assert_eq!(listed(), [""; 0]);
}

#[test]
fn a_snapshot_has_its_newest_build_whichever_member_has_it() {
    let scene = Scene::new();
    scene.near.file(&format!("/{BUILDS}"), build("20260101.120000", 7));
    scene.far.file(&format!("/{BUILDS}"), build("20260301.120000", 1));
    let merged = with_its_checksums(&scene, BUILDS);
    assert_eq!(all(&merged, "value"), ["1.0-20260301.120000-1"]);
    assert_eq!(
        (all(&merged, "timestamp"), all(&merged, "buildNumber")),
        (vec!["20260301.120000".into()], vec!["1".into()])
    );
}

#[test]
fn the_plugins_of_a_group_are_those_of_all_members_and_a_hosted_one_keeps_its_prefix() {
    let scene = Scene::new();
    publish(&scene.world, "lamp-maven-plugin", "1.0", "maven-plugin");
    let plugin = |prefix: &str, artifact: &str| {
        format!("<plugin><prefix>{prefix}</prefix><artifactId>{artifact}</artifactId></plugin>")
    };
    let said = |plugins: &[String]| format!("<metadata><plugins>{}</plugins></metadata>", plugins.concat());
    scene
        .near
        .file(&format!("/{PLUGINS}"), said(&[plugin("lamp", "a-maven-plugin"), plugin("oil", "oil-maven-plugin")]));
    scene.far.file(&format!("/{PLUGINS}"), said(&[plugin("wick", "wick-maven-plugin")]));
    let merged = with_its_checksums(&scene, PLUGINS);
    assert_eq!(all(&merged, "artifactId"), ["lamp-maven-plugin", "oil-maven-plugin", "wick-maven-plugin"]);
    assert_eq!(all(&merged, "prefix"), ["lamp", "oil", "wick"]);
}

#[test]
fn a_plugin_prefix_that_two_members_map_is_the_first_member_s() {
    let scene = Scene::new();
    let mapped = |plugins: &[(&str, &str)]| {
        let plugins: String = plugins
            .iter()
            .map(|(prefix, artifact)| {
                format!("<plugin><prefix>{prefix}</prefix><artifactId>{artifact}</artifactId></plugin>")
            })
            .collect();
        format!("<metadata><plugins>{plugins}</plugins></metadata>")
    };
    scene.near.file(&format!("/{PLUGINS}"), mapped(&[("lamp", "lamp-maven-plugin"), ("oil", "oil-maven-plugin")]));
    // Maven takes the first line with the prefix, and lines are in the order of artifacts.
    scene.far.file(&format!("/{PLUGINS}"), mapped(&[("lamp", "a-maven-plugin"), ("wick", "wick-maven-plugin")]));
    let merged = with_its_checksums(&scene, PLUGINS);
    assert_eq!(all(&merged, "prefix"), ["lamp", "oil", "wick"]);
    assert_eq!(all(&merged, "artifactId"), ["lamp-maven-plugin", "oil-maven-plugin", "wick-maven-plugin"]);
    scene.world.change("all", &json!({ "members": ["ours", "far", "near"] }));
    assert_eq!(all(&scene.get(PLUGINS).expect(200), "artifactId")[0], "a-maven-plugin");
}

#[test]
fn a_version_that_is_written_with_an_undeclared_entity_is_not_listed() {
    let scene = Scene::new();
    scene.near.file(&format!("/{VERSIONS}"), versions(&["1.0", "&foo;", "2&foo;0", "&#51;.0"]));
    scene.far.file(&format!("/{VERSIONS}"), versions(&["1.5"]));
    let merged = with_its_checksums(&scene, VERSIONS);
    assert_eq!(all(&merged, "version"), ["1.0", "1.5", "3.0"]);
    assert_eq!(all(&merged, "latest"), ["3.0"]);
}

/// A catalog with version 1 of these archetypes (`GROUP:ARTIFACT`).
fn archetypes(names: &[&str]) -> String {
    let entry = |name: &&str| {
        let (group, artifact) = name.split_once(':').unwrap();
        format!(
            "<archetype><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>1</version>\
             <repository>https://elsewhere.example/</repository></archetype>"
        )
    };
    let entries: String = names.iter().map(entry).collect();
    format!("<archetype-catalog><archetypes>{entries}</archetypes></archetype-catalog>")
}

#[test]
fn the_catalog_has_the_archetypes_of_all_members_but_for_names_of_hosted_ones() {
    let scene = Scene::new();
    publish(&scene.world, "lamp-archetype", "1.0", "maven-archetype");
    scene.near.file("/archetype-catalog.xml", archetypes(&["org.example:lamp-archetype", "org.far:far-archetype"]));
    scene.far.file("/archetype-catalog.xml", archetypes(&["org.b:b-archetype", "org.far:far-archetype"]));
    let catalog = with_its_checksums(&scene, "archetype-catalog.xml");
    assert_eq!(all(&catalog, "artifactId"), ["b-archetype", "lamp-archetype", "far-archetype"]);
    assert_eq!(all(&catalog, "version"), ["1", "1.0", "1"]);
    assert_eq!(all(&catalog, "repository"), [""; 0], "it would lead clients past this server");
    // A member that fails has no part in it, and the answer says so.
    scene.far.unplug();
    group(&scene.world, "other", &["ours", "far"]);
    let change = json!({ "remote": { "fresh_s": 0, "missing_s": 0 } });
    scene.world.change("far", &change);
    let part = scene.world.anon().file("other", "archetype-catalog.xml").expect(200);
    assert!(part.header("daylight-stale").is_some());
    assert_eq!(all(&part, "artifactId"), ["b-archetype", "lamp-archetype", "far-archetype"], "the last good one");
}

#[test]
fn a_catalog_of_many_megabytes_is_merged() {
    let scene = Scene::new();
    publish(&scene.world, "lamp-archetype", "1.0", "maven-archetype");
    let names: Vec<String> = (0..80_000).map(|number| format!("org.far.number{number}:archetype-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    scene.near.file("/archetype-catalog.xml", archetypes(&names));
    let catalog = scene.get("archetype-catalog.xml").expect(200);
    assert_eq!((catalog.header("daylight-stale"), all(&catalog, "artifactId").len()), (None, 80_001));
}

#[test]
fn a_group_has_no_file_that_is_about_one_repository() {
    let scene = Scene::new();
    group(&scene.world, "hosted", &["ours"]);
    group(&scene.world, "remote", &["near"]);
    publish(&scene.world, "lamp", "1.0", "jar");
    scene.near.says_otherwise(Says::file("near"));
    let (prefixes, index) = (".meta/prefixes.txt", ".index/nexus-maven-repository-index");
    for path in [prefixes, &format!("{prefixes}.sha1"), &format!("{index}.properties"), &format!("{index}.gz")] {
        for name in ["all", "hosted", "remote"] {
            scene.world.anon().file(name, path).expect(404);
        }
        assert_eq!(scene.near.asked(), [], "clients would refuse what a list lacks");
    }
    // The list of one upstream is as good here as there.
    assert_eq!(scene.world.anon().file("near", prefixes).expect(200).text(), "near");
}

#[test]
fn members_in_another_order_or_others_are_other_documents_at_once() {
    let scene = Scene::new();
    scene.near.file(&format!("/{VERSIONS}"), versions(&["1.0"]));
    scene.far.file(&format!("/{VERSIONS}"), versions(&["2.0"]));
    let listed = || all(&scene.get(VERSIONS).expect(200), "version");
    for _ in 0..3 {
        assert_eq!(listed(), ["1.0", "2.0"]);
    }
    scene.world.change("all", &json!({ "members": ["ours", "far"] }));
    assert_eq!(listed(), ["2.0"]);
}

#[test]
fn a_hundred_who_ask_at_once_for_what_nobody_asked_for_are_one_question_to_each_upstream() {
    let scene = Scene::new();
    scene.near.file(&format!("/{VERSIONS}"), versions(&["1.0"]));
    scene.far.file(&format!("/{VERSIONS}"), versions(&["2.0"]));
    let anon = scene.world.anon();
    thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| assert_eq!(all(&anon.file("all", VERSIONS).expect(200), "version"), ["1.0", "2.0"]));
        }
    });
    assert_eq!((scene.near.asked().len(), scene.far.asked().len()), (1, 1));
}

#[test]
fn an_explanation_of_metadata_names_the_member_whose_document_is_left_out() {
    let scene = Scene::new();
    let named = |artifact: &str, version: &str| {
        format!(
            "<metadata><groupId>org.example</groupId><artifactId>{artifact}</artifactId><versioning><versions>\
             <version>{version}</version></versions></versioning></metadata>"
        )
    };
    scene.near.file("/org/example/lamp/maven-metadata.xml", named("wick", "9.0"));
    scene.far.file("/org/example/lamp/maven-metadata.xml", named("lamp", "1.0"));
    let path = "org/example/lamp/maven-metadata.xml";
    let answer = scene.get(path).expect(200);
    assert!(answer.text().contains("1.0") && !answer.text().contains("9.0"), "{}", answer.text());
    assert_eq!(answer.header("daylight-stale"), Some("upstream_invalid"));
    for told in [super::event(&scene.world, &answer), super::explain::explained(&scene.world, "all", path)] {
        let detail = |member: &str| {
            let members = told["members"].as_array().unwrap();
            members.iter().find(|one| one["member"] == member).unwrap()["detail"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        assert_eq!(
            detail("near"),
            "its document is left out: it is about `org.example:wick`, and not about this folder",
            "{told}"
        );
        assert_eq!(detail("far"), "");
    }
}

#[test]
fn metadata_without_what_only_a_dtd_declares_is_marked_until_the_upstream_is_mended() {
    let scene = Scene::new();
    let declared = format!("<!DOCTYPE metadata [<!ENTITY v \"9.0\">]>{}", versions(&["&v;", "2.0"]));
    scene.near.file(&format!("/{VERSIONS}"), declared);
    scene.far.file(&format!("/{VERSIONS}"), versions(&["1.0"]));
    for _ in 0..3 {
        let answer = scene.get(VERSIONS).expect(200);
        assert_eq!(all(&answer, "version"), ["1.0", "2.0"]);
        assert_eq!(answer.header("daylight-stale"), Some("upstream_invalid"));
        let told = super::event(&scene.world, &answer);
        assert!(told.to_string().contains("only a DTD, which is not read"), "{told:#}");
    }
    scene.near.file(&format!("/{VERSIONS}"), versions(&["2.0"]));
    scene.world.admin().ask("DELETE", &format!("/api/v1/repositories/near/contents/{VERSIONS}"), &[], b"").expect(200);
    assert_eq!(scene.get(VERSIONS).expect(200).header("daylight-stale"), None);
}
