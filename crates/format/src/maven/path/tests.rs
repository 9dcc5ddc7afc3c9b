//! Paths that clients use, and some invalid ones.

use super::*;
use proptest::prelude::*;

fn lamp<'a>(version: &'a str, classifier: Option<&'a str>, extension: &'a str) -> Artifact<'a> {
    let (group, artifact, file_version) = ("org/example", "lamp", version);
    Artifact { group, artifact, version, file_version, build: None, classifier, extension }
}

fn artifact_at(path: &str) -> Artifact<'_> {
    match read(path).map(|path| path.kind) {
        Some(Kind::Artifact(artifact)) => artifact,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn files_of_releases_are_read() {
    for (name, classifier, extension) in [
        ("lamp-1.0.jar", None, "jar"),
        ("lamp-1.0.pom", None, "pom"),
        ("lamp-1.0.pom.asc", None, "pom.asc"),
        ("lamp-1.0.module", None, "module"),
        ("lamp-1.0.tar.gz", None, "tar.gz"),
        ("lamp-1.0", None, ""),
        ("lamp-1.0-sources.jar", Some("sources"), "jar"),
        ("lamp-1.0-sources.jar.asc", Some("sources"), "jar.asc"),
        ("lamp-1.0-bin.tar.gz", Some("bin"), "tar.gz"),
        ("lamp-1.0-bin.tar.gz.asc", Some("bin"), "tar.gz.asc"),
        ("lamp-1.0-jdk1.5.jar", Some("jdk1.5"), "jar"),
        ("lamp-1.0-linux-x86_64.jar.sigstore.json", Some("linux-x86_64"), "jar.sigstore.json"),
        ("lamp-1.0-build.pom", Some("build"), "pom"),
        ("lamp-1.0-tests", Some("tests"), ""),
    ] {
        let path = format!("org/example/lamp/1.0/{name}");
        assert_eq!(artifact_at(&path), lamp("1.0", classifier, extension), "{name}");
        assert!(lasting(&path));
    }
    assert_eq!(artifact_at("org/example/lamp/1.0/lamp-1.0.jar").group_id(), "org.example");
    let dashes = artifact_at("a/my-lamp/1.0-rc-1/my-lamp-1.0-rc-1-all-deps.jar");
    assert_eq!((dashes.group, dashes.artifact, dashes.version), ("a", "my-lamp", "1.0-rc-1"));
    assert_eq!(dashes.classifier, Some("all-deps"));
}

#[test]
fn files_of_snapshots_are_read() {
    let folder = "org/example/lamp/1.0-SNAPSHOT";
    let path = format!("{folder}/lamp-1.0-20260101.120000-12-sources.jar");
    let one = artifact_at(&path);
    assert_eq!(one.version, "1.0-SNAPSHOT");
    assert_eq!(one.file_version, "1.0-20260101.120000-12");
    assert_eq!(one.build, Some(Build { timestamp: "20260101.120000", number: 12 }));
    assert_eq!((one.classifier, one.extension), (Some("sources"), "jar"));
    assert!(one.snapshot() && lasting(&path));

    let path = format!("{folder}/lamp-1.0-SNAPSHOT-sources.jar");
    let plain = artifact_at(&path);
    assert_eq!((plain.file_version, plain.build), ("1.0-SNAPSHOT", None));
    assert_eq!((plain.classifier, plain.extension), (Some("sources"), "jar"));
    assert!(plain.snapshot() && !lasting(&path));

    let bare = artifact_at("org/example/lamp/SNAPSHOT/lamp-20260101.120000-1.jar");
    assert_eq!((bare.version, bare.file_version), ("SNAPSHOT", "20260101.120000-1"));
}

#[test]
fn plugins_of_sbt_have_more_in_their_folder_than_in_their_names() {
    let plugin = artifact_at("org/example/sbt-lamp_2.12_1.0/3.1/sbt-lamp-3.1.pom");
    assert_eq!((plugin.artifact, plugin.version, plugin.extension), ("sbt-lamp_2.12_1.0", "3.1", "pom"));
    assert_eq!(read("org/example/sbt-lamp_2.12/3.1/sbt-lamp-3.1.pom"), None);
}

#[test]
fn metadata_is_read_at_its_three_levels() {
    let at = |path| match read(path).unwrap().kind {
        Kind::Metadata(metadata) => metadata,
        other => panic!("{other:?}"),
    };
    let plugins = at("org/example/maven-metadata.xml");
    assert_eq!((plugins.group(), plugins.artifact()), ("org/example", Some(("org", "example"))));
    let versions = at("org/example/lamp/maven-metadata.xml.sha1");
    assert_eq!(versions.artifact(), Some(("org/example", "lamp")));
    assert_eq!(versions.snapshot(), None);
    let builds = at("org/example/lamp/1.0-SNAPSHOT/maven-metadata.xml");
    assert_eq!(builds.snapshot(), Some(("org/example", "lamp", "1.0-SNAPSHOT")));
    assert_eq!(at("maven-metadata.xml"), Metadata { folder: "" });
    assert_eq!(at("maven-metadata.xml").artifact(), None);
    assert!(!lasting("org/example/lamp/maven-metadata.xml"));
}

#[test]
fn files_at_the_root_are_read() {
    for (path, kind) in [
        ("archetype-catalog.xml", Kind::Catalog),
        (".meta/prefixes.txt", Kind::Prefixes),
        ("settings.xml", Kind::Settings),
        (".index/some-index.gz", Kind::Index),
    ] {
        assert_eq!(read(path), Some(Path { file: path, checksum: None, kind }));
        let checksum = Some(Checksum::Sha1);
        assert_eq!(read(&format!("{path}.sha1")), Some(Path { file: path, checksum, kind }));
        assert!(!lasting(path));
    }
}

#[test]
fn checksums_and_signatures_lead_to_what_they_are_of() {
    let path = "org/example/lamp/1.0/lamp-1.0.jar.asc.sha512";
    let signature = read(path).unwrap();
    assert_eq!(signature.file, "org/example/lamp/1.0/lamp-1.0.jar.asc");
    assert_eq!(signature.checksum, Some(Checksum::Sha512));
    assert_eq!(signature.kind, Kind::Artifact(lamp("1.0", None, "jar.asc")));
    assert_eq!(signature_of(signature.file), Some("org/example/lamp/1.0/lamp-1.0.jar"));
    assert_eq!(signature_of("org/example/.asc"), None);
    assert!(lasting(path));
    assert_eq!(unit(path), "org/example/lamp/1.0");
    assert_eq!(unit("archetype-catalog.xml"), "");
}

#[test]
fn what_the_layout_does_not_have_is_nothing() {
    for path in [
        "",
        "lamp-1.0.jar",
        "lamp/1.0/lamp-1.0.jar",
        "org/lamp/1.0/lamp-1.1.jar",
        "org/lamp/1.0/lamp-1.0x.jar",
        "org/lamp/1.0/lamp-1.0-.jar",
        "org/lamp/1.0/lamp-1.0-",
        "org/lamp/1.0/lamp-1.0.",
        "org/lamp/1.0/lamp-1.0-bin.",
        "org/lamp/1.0/lamp-1.0-bin..sha512",
        "org/lamp/1.0/lamp-1.0-bin .md5",
        "org/lamp/1.0/lamp-10.jar",
        "org/lamp/1.0/_remote.repositories",
        "org/lamp/1.0/lamp-1.0.jar.sha1.md5",
        "org/lamp/1.0/lamp-1.0-20260101.120000-1.jar.sha1.sha1",
        "org/lamp/1.0-SNAPSHOT/lamp-1.0.jar",
        "org/lamp/1.0-SNAPSHOT/lamp-1.0-2026.jar",
        "org/lamp/1.0-SNAPSHOT/lamp-1.0-20260101.120000-1x.jar",
        "org/lamp/1.0SNAPSHOT/lamp-1.020260101.120000-1.jar",
        "prefixes.txt",
    ] {
        assert_eq!(read(path), None, "{path}");
    }
    for path in [
        "org;x/lamp/1.0/lamp-1.0.jar",
        "org/lamp/1.0/lamp-1.0.jar;x",
        "org/la%6dp/1.0/la%6dp-1.0.jar",
        "org/lamp#/1.0/lamp#-1.0.jar",
    ] {
        assert_eq!((read(path), version_of(path)), (None, None), "{path}");
    }
}

proptest! {
    #[test]
    fn whatever_is_published_is_read_as_what_it_is(
        group in "[a-z]{1,4}(/[a-z0-9-]{1,4}){0,3}",
        artifact in "[a-z][a-z0-9.-]{0,6}[a-z0-9]",
        version in "[0-9](\\.[0-9]{1,2}){0,2}(-[a-z]{1,3}(-[0-9])?)?",
        build in proptest::option::of(0u32..1000),
        classifier in proptest::option::of("[a-z][a-z0-9.-]{0,6}[a-z]"),
        extension in prop_oneof!["[a-z]{1,4}", Just("tar.gz".to_owned()), Just("jar.asc".to_owned())],
    ) {
        // Only the known endings have a dot when there is a classifier before them.
        prop_assume!(!classifier.as_ref().is_some_and(|classifier| classifier.ends_with(".tar")));
        let (folder, in_name) = match build {
            Some(number) => (format!("{version}-SNAPSHOT"), format!("{version}-20260101.120000-{number}")),
            None => (version.clone(), version.clone()),
        };
        let middle = classifier.as_ref().map(|classifier| format!("-{classifier}")).unwrap_or_default();
        let path = format!("{group}/{artifact}/{folder}/{artifact}-{in_name}{middle}.{extension}");
        let read = artifact_at(&path);
        prop_assert_eq!(read.group, group);
        prop_assert_eq!(read.artifact, artifact);
        prop_assert_eq!(read.version, folder);
        prop_assert_eq!(read.file_version, in_name);
        prop_assert_eq!(read.build.map(|build| build.number), build);
        prop_assert_eq!(read.classifier, classifier.as_deref());
        prop_assert_eq!(read.extension, extension);
        prop_assert!(lasting(&path));
    }
}
