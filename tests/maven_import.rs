//! Importing a Maven repository: one command uploads the artifacts of a folder and compares them with the checksums
//! beside them. An interrupted import can be continued.

use crate::world::{FIRST, World, hex, write};
use serde_json::json;
use sha1::{Digest, Sha1};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn import(world: &World, folder: &Path, more: &[&str]) -> Output {
    command(world, folder, "trees").args(more).output().unwrap()
}

fn command(world: &World, folder: &Path, repository: &str) -> Command {
    world.command(&["import", "maven", folder.to_str().unwrap(), "--into", repository])
}

#[track_caller]
fn told(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// A version with its package and its POM, and with the additional files that clients and servers write.
fn version(folder: &Path, artifact: &str, version: &str) {
    let base = format!("org/example/{artifact}/{version}");
    let (jar, pom) =
        (format!("jar of {artifact} {version}"), format!("<project><artifactId>{artifact}</artifactId></project>"));
    let put = |name: &str, text: &str| write(&folder.join(&base).join(name), text);
    put(&format!("{artifact}-{version}.jar"), &jar);
    put(&format!("{artifact}-{version}.jar.sha1"), &hex(&Sha1::digest(&jar)).to_uppercase());
    put(&format!("{artifact}-{version}.pom"), &pom);
    put("_remote.repositories", &format!("#x\n{artifact}-{version}.jar>=\n{artifact}-{version}.pom>=\n"));
    write(&folder.join(format!("org/example/{artifact}/maven-metadata.xml")), "<metadata/>");
}

#[test]
fn what_is_imported_can_be_read_and_nothing_is_sent_twice() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    for number in ["1.0", "1.10", "1.9"] {
        version(folder.path(), "lamp", number);
    }
    version(folder.path(), "bulb", "2.0-SNAPSHOT");
    let first = told(&import(&world, folder.path(), &["--json"]));
    assert_eq!((&first["uploaded"], &first["there"], &first["left_out"]), (&8.into(), &0.into(), &4.into()));
    let metadata = world.anon().file("trees", "org/example/lamp/maven-metadata.xml").expect(200);
    let order: Vec<_> =
        ["1.0<", "1.9<", "1.10<"].iter().map(|version| metadata.text().find(&format!("<version>{version}"))).collect();
    assert!(order.is_sorted() && order[0].is_some(), "{}", metadata.text());
    let jar = world.anon().file("trees", "org/example/lamp/1.9/lamp-1.9.jar").expect(200);
    assert_eq!(jar.text(), "jar of lamp 1.9");

    version(folder.path(), "lamp", "2.0");
    let second = told(&import(&world, folder.path(), &["--json", "--jobs", "1"]));
    assert_eq!((&second["uploaded"], &second["there"]), (&2.into(), &8.into()));
}

#[test]
fn a_link_that_leads_out_of_the_folder_is_not_published() {
    let (world, folder, elsewhere) = (World::start(), TempDir::new().unwrap(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    version(folder.path(), "lamp", "1.0");
    let secret = elsewhere.path().join("secret");
    write(&secret, "hush");
    let sources = "org/example/lamp/1.0/lamp-1.0-sources.jar";
    std::os::unix::fs::symlink(&secret, folder.path().join(sources)).unwrap();
    let inside = "org/example/lamp/1.0/lamp-1.0-tests.jar";
    std::os::unix::fs::symlink("lamp-1.0.jar", folder.path().join(inside)).unwrap();
    let first = told(&import(&world, folder.path(), &["--json"]));
    assert_eq!((&first["uploaded"], &first["outside"]), (&3.into(), &1.into()));
    world.anon().file("trees", sources).expect(404);
    assert_eq!(world.anon().file("trees", inside).expect(200).text(), "jar of lamp 1.0");
    let out = String::from_utf8(import(&world, folder.path(), &[]).stdout).unwrap();
    assert!(out.contains("1 links to files outside the folder"), "{out}");
}

#[test]
fn a_damaged_file_and_a_version_that_is_there_with_other_bytes_are_refused_by_name_and_the_rest_comes_in() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    for number in ["1.0", "1.1", "1.2", "1.3"] {
        version(folder.path(), "lamp", number);
    }
    let file = |number: &str| folder.path().join(format!("org/example/lamp/{number}/lamp-{number}.jar"));
    write(&file("1.0"), "damaged");
    world.admin().put("trees", "org/example/lamp/1.1/lamp-1.1.jar", b"other bytes").expect(201);
    // The package of this build does not come beside the POM of another one.
    world.admin().put("trees", "org/example/lamp/1.3/lamp-1.3.pom", b"<project/>").expect(201);
    let output = import(&world, folder.path(), &[]);
    assert!(!output.status.success());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let sha1 = hex(&Sha1::digest("damaged"));
    let damaged = format!("lamp-1.0.jar: its sha1 is {sha1}, but the checksum file beside it has");
    assert!(out.contains(&damaged) && out.contains("lamp-1.1.jar: "), "{out}");
    for (file, first) in [("lamp-1.1.pom", "1.1/lamp-1.1.jar"), ("lamp-1.3.jar", "1.3/lamp-1.3.pom")] {
        assert!(out.contains(&format!("{file}: not sent, because `org/example/lamp/{first}`")), "{out}");
    }
    assert!(out.contains("uploaded 3 files, 0 were there already"), "{out}");
    assert!(err.contains("5 files were refused") && err.contains("hint: the other files were uploaded"), "{err}");
    for missing in ["1.0/lamp-1.0.jar", "1.1/lamp-1.1.pom", "1.3/lamp-1.3.jar"] {
        world.anon().file("trees", &format!("org/example/lamp/{missing}")).expect(404);
    }
    world.anon().file("trees", "org/example/lamp/1.2/lamp-1.2.jar").expect(200);
}

#[test]
fn a_snapshot_is_refused_with_the_repository_that_takes_it_said_once() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    version(folder.path(), "bulb", "2.0-SNAPSHOT");
    version(folder.path(), "lamp", "2.0-SNAPSHOT");
    let output = command(&world, folder.path(), "maven-releases").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("`2.0-SNAPSHOT` is not one") && !out.contains("distributionManagement"), "{out}");
    assert!(!output.status.success() && err.matches("--into maven-snapshots").count() == 1, "{err}");
}

#[test]
fn the_parent_folder_of_repositories_is_refused_with_the_name_of_one() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    let pom = "<project><groupId>org.example</groupId><artifactId>lamp</artifactId></project>";
    write(&folder.path().join("releases/org/example/lamp/1.0/lamp-1.0.pom"), pom);
    let output = import(&world, folder.path(), &["--claim", "--yes"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && err.contains("holds repositories"), "{err}");
    assert!(err.contains(&format!("name one of them: `{}`", folder.path().join("releases").display())), "{err}");
    world.anon().file("trees", "releases/org/example/lamp/1.0/lamp-1.0.pom").expect(404);
    assert!(import(&world, &folder.path().join("releases"), &["--claim", "org.example"]).status.success());
}

#[test]
fn an_import_that_is_killed_goes_on_where_it_was() {
    const VERSIONS: u64 = 60;
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    for number in 0..VERSIONS {
        version(folder.path(), "lamp", &format!("1.{number}"));
    }
    let mut first = command(&world, folder.path(), "trees");
    let mut first = first.args(["--jobs", "1"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let listed =
        || world.anon().file("trees", "org/example/lamp/maven-metadata.xml").text().matches("<version>").count();
    while listed() < 5 {
        assert!(first.try_wait().unwrap().is_none_or(|status| status.success()), "it failed by itself");
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let before = listed() as u64;
    let second = told(&import(&world, folder.path(), &["--json"]));
    let [uploaded, there] = ["uploaded", "there"].map(|key| second[key].as_u64().unwrap());
    // Files that the server had received when the importer was killed may be committed after the count.
    assert!(there >= 2 * before && uploaded + there == 2 * VERSIONS, "{before} were there, then {second}");
    assert_eq!(listed() as u64, VERSIONS);
}

#[test]
fn an_import_that_makes_no_sense_says_what_would() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    write(&folder.path().join("x.jar"), "");
    let said = |repository| {
        let output = command(&world, folder.path(), repository).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let nothing = said("trees");
    assert!(nothing.contains("there are no artifacts in") && nothing.contains("hint: "), "{nothing}");
    version(folder.path(), "lamp", "1.0");
    let remote =
        json!({ "name": "far", "format": "maven", "kind": "remote", "remote": { "urls": ["http://127.0.0.1:1/"] } });
    world.admin().post_json("/api/v1/repositories", &remote).expect(201);
    for elsewhere in [FIRST, "far"] {
        let refused = said(elsewhere);
        assert!(
            refused.contains("the repository takes no artifacts") && refused.contains("hint: name a hosted"),
            "{refused}"
        );
    }
}
