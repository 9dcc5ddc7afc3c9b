//! Metadata as tools write it, and as it is rendered and merged.

use super::*;
use proptest::prelude::*;

const OURS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<metadata modelVersion="1.1.0">
  <groupId>org.example</groupId>
  <artifactId>lamp</artifactId>
  <versioning>
    <latest>1.10-SNAPSHOT</latest>
    <release>1.9</release>
    <versions>
      <version>1.0-rc1</version>
      <version>1.0</version>
      <version>1.9</version>
      <version>1.10-SNAPSHOT</version>
    </versions>
    <lastUpdated>20260102030405</lastUpdated>
  </versioning>
</metadata>
"#;

const BUILDS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<metadata modelVersion="1.1.0">
  <groupId>org.example</groupId>
  <artifactId>lamp</artifactId>
  <version>1.0-SNAPSHOT</version>
  <versioning>
    <snapshot>
      <timestamp>20260101.120000</timestamp>
      <buildNumber>10</buildNumber>
    </snapshot>
    <lastUpdated>20260101120000</lastUpdated>
    <snapshotVersions>
      <snapshotVersion>
        <extension>jar</extension>
        <value>1.0-20260101.120000-10</value>
        <updated>20260101120000</updated>
      </snapshotVersion>
      <snapshotVersion>
        <classifier>sources</classifier>
        <extension>jar</extension>
        <value>1.0-20251231.110000-9</value>
        <updated>20251231110000</updated>
      </snapshotVersion>
    </snapshotVersions>
  </versioning>
</metadata>
"#;

/// 2026-01-02 03:04:05 UTC.
const THEN: i64 = 1_767_323_045_000;

fn of_versions(names: &[&str]) -> Metadata {
    versions("org.example", "lamp", names.iter().copied(), THEN)
}

fn file<'a>(file_version: &'a str, classifier: Option<&'a str>) -> SnapshotFile<'a> {
    SnapshotFile { file_version, classifier, extension: "jar", came: THEN }
}

fn of_builds(files: &[SnapshotFile<'_>]) -> Metadata {
    snapshot("org.example", "lamp", "1.0-SNAPSHOT", files.iter().copied())
}

#[test]
fn the_versions_of_an_artifact_are_in_order_and_say_which_is_newest() {
    let made = of_versions(&["1.9", "1.10-SNAPSHOT", "1.0", "1.0-rc1", "1.0"]);
    assert_eq!(made.render(), OURS);
    assert_eq!(Metadata::read(OURS.as_bytes()), Ok(made));
    let only = of_versions(&["1.0-SNAPSHOT"]);
    assert_eq!((only.latest.as_deref(), only.release), (Some("1.0-SNAPSHOT"), None));
}

#[test]
fn a_snapshot_has_the_newest_build_of_each_file() {
    let made = of_builds(&[
        file("1.0-20251231.110000-9", None),
        file("1.0-20260101.120000-10", None),
        file("1.0-20251231.110000-9", Some("sources")),
        file("1.0-SNAPSHOT", Some("sources")),
    ]);
    assert_eq!(made.render(), BUILDS);
    assert_eq!(Metadata::read(BUILDS.as_bytes()), Ok(made));
    let plain = of_builds(&[file("1.0-SNAPSHOT", None)]);
    assert_eq!(plain.snapshot, None);
    assert_eq!((plain.files[0].value.as_str(), plain.updated.as_deref()), ("1.0-SNAPSHOT", Some("20260102030405")));
}

#[test]
fn the_plugins_of_a_group_are_each_there_once() {
    let plugin = |prefix: &str, name: &str| Plugin {
        name: Some(name.to_owned()),
        prefix: prefix.to_owned(),
        artifact: format!("{prefix}-maven-plugin"),
    };
    let made = plugins([plugin("lamp", "Lamp"), plugin("bulb", "Bulb & <Co>"), plugin("lamp", "Later")]);
    let document = made.render();
    assert!(document.contains("<name>Bulb &amp; &lt;Co&gt;</name>") && !document.contains("versioning"), "{document}");
    assert_eq!(Metadata::read(document.as_bytes()).as_ref(), Ok(&made));
    assert_eq!(merge([&made, &plugins([plugin("lamp", "Later"), plugin("candle", "C")])]).plugins.len(), 3);
    assert_eq!(merge([&made, &plugins([plugin("lamp", "Later")])]).plugins[1].name.as_deref(), Some("Lamp"));
}

#[test]
fn what_others_write_is_read_as_far_as_it_makes_sense() {
    let odd =
        "\u{feff}<metadata xmlns='http://maven.apache.org/METADATA/1.1.0'><groupId/><artifactId> lamp </artifactId>
        <versioning><lastUpdated>null</lastUpdated><versions><version>1.0</version><version/><version>../..</version>
        <version>a/b</version></versions><news>x</news><snapshot><localCopy>true</localCopy></snapshot>
        <snapshotVersions><snapshotVersion><extension>jar</extension></snapshotVersion></snapshotVersions></versioning>
        <plugins><plugin><prefix>x</prefix></plugin></plugins></metadata>";
    let read = Metadata::read(odd.as_bytes()).unwrap();
    let snapshot = Some(Snapshot { timestamp: None, number: 0, local: true });
    let artifact = Some("lamp".to_owned());
    let versions = vec!["1.0".to_owned()];
    assert_eq!(read, Metadata { artifact, versions, snapshot, ..Metadata::default() });
    assert_eq!(Metadata::read(b"<metadata/>"), Ok(Metadata::default()));
    for other in [&b"<html></html>"[..], b"", b"{}", b"<metadata>"] {
        assert!(Metadata::read(other).is_err());
    }
}

#[test]
fn a_group_says_what_all_of_its_members_do() {
    let merged = merge([&of_versions(&["1.0", "1.9"]), &of_versions(&["1.0-rc1", "1.10-SNAPSHOT", "1.0"])]);
    assert_eq!(merged.render(), OURS);
    let other = Metadata { artifact: Some("bulb".to_owned()), ..of_versions(&["7"]) };
    assert_eq!(merge([&merged, &other]), merged);
    let bare = Metadata { versions: Vec::new(), ..of_versions(&["1.0"]) };
    assert_eq!(merge([&bare]).release.as_deref(), Some("1.0"));
    assert_eq!(merge([]), Metadata::default());
}

#[test]
fn a_group_has_the_newest_build_whoever_has_it() {
    let old = of_builds(&[file("1.0-20251231.110000-9", None), file("1.0-20251231.110000-9", Some("sources"))]);
    let new = of_builds(&[file("1.0-20260101.120000-10", None)]);
    assert_eq!(merge([&old, &new]).render(), BUILDS);
    assert_eq!(merge([&new, &old]).render(), BUILDS);
    // Without files, as Maven 2 wrote it: clients look for all of them in its build.
    let mut ancient = new.clone();
    ancient.files.clear();
    assert_eq!(merge([&old, &ancient]), Metadata { updated: ancient.updated.clone(), ..ancient.clone() });
    let newer = of_builds(&[file("1.0-20260201.000000-1", None)]);
    assert_eq!(merge([&ancient, &newer]).files, newer.files);
}

const VERSION: &str = "[0-9](\\.[0-9]{1,2}){0,2}(-(rc[0-9]|SNAPSHOT))?";

proptest! {
    #[test]
    fn what_is_made_is_read_back(names in prop::collection::vec(VERSION, 0..8), then in 0..4_000_000_000_000i64) {
        let made = versions("g", "a", names.iter().map(String::as_str), then);
        prop_assert_eq!(Metadata::read(made.render().as_bytes()), Ok(made));
    }

    #[test]
    fn a_merge_is_the_same_in_any_order_and_merging_again_changes_nothing(
        documents in prop::collection::vec(prop::collection::vec(VERSION, 0..5), 1..4),
        builds in prop::collection::vec((0u32..4, 0u32..3, prop::option::of(Just("sources"))), 0..6),
    ) {
        let names: Vec<_> = builds.iter().map(|(day, number, _)| format!("1.0-2026010{}.000000-{number}", day + 1)).collect();
        let files: Vec<_> = builds.iter().zip(&names).map(|((.., classifier), name)| file(name, *classifier)).collect();
        for documents in [
            documents.iter().map(|names| of_versions(&names.iter().map(String::as_str).collect::<Vec<_>>())).collect::<Vec<_>>(),
            files.chunks(2).map(of_builds).collect(),
        ] {
            let merged = merge(&documents);
            prop_assert_eq!(&merge(documents.iter().rev()), &merged);
            prop_assert_eq!(&merge([&merged, &merged]), &merged);
            prop_assert_eq!(&merge(documents.iter().chain([&merged])), &merged);
        }
    }
}
