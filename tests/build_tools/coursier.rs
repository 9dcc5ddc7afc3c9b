//! Coursier's command.

use super::Scene;
use super::tool::Machine;
use crate::world::{Central, Release, Said};
use std::fs;
use std::path::PathBuf;

const VERSION: &str = "2.1.24";

/// The jars of Coursier, which Maven brings once.
fn installed(central: &Central) -> PathBuf {
    let folder = central.clients().join(format!("coursier-{VERSION}"));
    if !folder.exists() {
        let machine = central.machine(Release::Three8);
        machine.settings(&central.url(), &[], "");
        let project = machine.project("coursier", &[("version", VERSION)]);
        let copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
        let unpacked = tempfile::tempdir_in(central.clients()).unwrap();
        let jars = unpacked.path().join("jars");
        project.maven(&[copy, &format!("-DoutputDirectory={}", jars.display())]).good();
        fs::rename(jars, &folder).unwrap();
    }
    folder
}

/// Runs a block of the page: variables, the command and its arguments.
fn runs(scene: &Scene, central: &Central, block: usize, secret: &str) -> Said {
    let machine = Machine::new();
    machine.saves("empty", "");
    let jars = installed(central);
    let command = scene.block("Coursier", block);
    let java = format!(
        "java -Duser.home=$HOME -XX:TieredStopAtLevel=1 -cp '{}/*' coursier.cli.Coursier fetch",
        jars.display()
    );
    machine.runs("sh", secret, &["-c", &command.replace("coursier fetch", &java)])
}

#[test]
fn coursier_fetches_through_a_group_and_from_a_private_repository() {
    let central = Central::open();
    let scene = Scene::new(&central);
    let pom = "<project><modelVersion>4.0.0</modelVersion><groupId>example.lantern</groupId><artifactId>wick</artifactId>\
               <version>1.0</version>DEPENDENCIES</project>";
    let needs = "<dependencies><dependency><groupId>org.apache.commons</groupId><artifactId>commons-lang3</artifactId>\
                 <version>3.12.0</version></dependency></dependencies>";
    for (repository, needs) in [("maven-releases", needs), ("vault", "")] {
        let base = "example/lantern/wick/1.0/wick-1.0";
        scene.writer.put(repository, &format!("{base}.jar"), b"jar").expect(201);
        scene.writer.put(repository, &format!("{base}.pom"), pom.replace("DEPENDENCIES", needs).as_bytes()).expect(201);
    }
    let said = runs(&scene, &central, 0, "").good();
    assert!(said.contains("wick-1.0.jar") && said.contains("commons-lang3-3.12.0.jar"), "{said}");
    assert!(runs(&scene, &central, 1, "").bad().contains("unauthorized"));
    assert!(runs(&scene, &central, 1, scene.writer.secret()).good().contains("wick-1.0.jar"));
}
