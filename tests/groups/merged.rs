//! Documents that a group merges from those of its members: metadata at its three levels, and the documents at the
//! root.

use super::{Scene, group};
use crate::maven_hosted::all;
use crate::world::{Answer, World, hex};
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
    for (ending, header) in
        [("md5", "x-checksum-md5"), ("sha256", "x-checksum-sha256"), ("sha512", "x-checksum-sha512")]
    {
        assert_eq!(Some(scene.get(&format!("{path}.{ending}")).expect(200).text()), document.header(header));
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
    let members = json!({ "members": ["ours", "far", "near"] });
    scene.world.admin().patch_json("/api/v1/repositories/all", &members).expect(200);
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

#[test]
fn the_catalog_has_the_archetypes_that_are_hosted() {
    let scene = Scene::new();
    scene.near.file("/archetype-catalog.xml", "<archetype-catalog/>");
    scene.get("archetype-catalog.xml").expect(404);
    scene.world.tree("theirs", "maven");
    group(&scene.world, "both", &["theirs", "all"]);
    publish(&scene.world, "lamp-archetype", "1.0", "maven-archetype");
    let pom = "<project><packaging>maven-archetype</packaging></project>";
    scene.world.admin().put("theirs", "org/b/b-archetype/2/b-archetype-2.pom", pom.as_bytes()).expect(201);
    let catalog = scene.world.anon().file("both", "archetype-catalog.xml").expect(200);
    assert_eq!(all(&catalog, "artifactId"), ["b-archetype", "lamp-archetype"]);
    let sum = scene.world.anon().file("both", "archetype-catalog.xml.sha1").expect(200);
    assert_eq!(sum.text(), hex(&Sha1::digest(&catalog.body)));
    assert_eq!(scene.near.asked(), [], "a public one is not asked for");
}

#[test]
fn the_beginnings_of_all_paths_are_told_only_where_all_is_hosted() {
    let scene = Scene::new();
    scene.near.file("/.meta/prefixes.txt", "## repository-prefixes/2.0\n/com/near\n");
    scene.world.tree("theirs", "maven");
    group(&scene.world, "hosted", &["ours", "theirs"]);
    let prefixes = |name: &str| scene.world.anon().file(name, ".meta/prefixes.txt");
    publish(&scene.world, "lamp", "1.0", "jar");
    prefixes("hosted").expect(404);
    scene.world.admin().put("theirs", "com/other/lamp/1/lamp-1.jar", b"jar").expect(201);
    assert_eq!(prefixes("hosted").expect(200).text(), "## repository-prefixes/2.0\n/com/other\n/org/example\n");
    scene.world.admin().put("theirs", "net/third/lamp/1/lamp-1.jar", b"jar").expect(201);
    assert!(prefixes("hosted").expect(200).text().contains("/net/third"));
    prefixes("all").expect(404);
    assert_eq!(scene.near.asked(), [], "with an incomplete list, clients would refuse existing files");
}

#[test]
fn where_a_policy_may_hide_something_the_beginnings_of_paths_do_not_tell_of_it() {
    let scene = Scene::new();
    group(&scene.world, "hosted", &["ours"]);
    publish(&scene.world, "lamp", "1.0", "jar");
    let prefixes = |name: &str| scene.world.anon().file(name, ".meta/prefixes.txt");
    prefixes("hosted").expect(200);
    let change = json!({ "policy": { "deny": ["org.example"] } });
    scene.world.admin().patch_json("/api/v1/repositories/hosted", &change).expect(200);
    prefixes("hosted").expect(404);
    prefixes("ours").expect(200);
    scene.world.admin().patch_json("/api/v1/repositories/ours", &change).expect(200);
    prefixes("ours").expect(404);
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
    let members = json!({ "members": ["ours", "far"] });
    scene.world.admin().patch_json("/api/v1/repositories/all", &members).expect(200);
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
