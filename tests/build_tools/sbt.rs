//! sbt, installed in the cache folder, with an empty home folder.

use super::Scene;
use super::tool::Machine;
use crate::world::{Central, Said};

const VERSION: &str = "1.12.14";

fn sbt(machine: &Machine, central: &Central, secret: &str, commands: &[&str]) -> Said {
    let launcher = central.jar(&format!("org/scala-sbt/sbt-launch/{VERSION}/sbt-launch-{VERSION}.jar"));
    let (home, boot) = (machine.home().display(), central.clients().join(format!("sbt-{VERSION}")));
    let options = [
        format!("-Dsbt.boot.directory={}", boot.display()),
        format!("-Dsbt.global.base={home}/.sbt"),
        format!("-Dsbt.ivy.home={home}/.ivy2"),
        format!("-Dcoursier.cache={home}/coursier"),
        format!("-Dsbt.coursier.home={home}/.coursier"),
    ];
    let mut arguments: Vec<&str> = options.iter().map(String::as_str).collect();
    arguments.extend([
        "-Dsbt.override.build.repos=true",
        "-Dsbt.repository.config=repositories",
        "-Dsbt.server.autostart=false",
        "-Dsbt.supershell=false",
        "-Dsbt.color=false",
        "-jar",
        launcher.to_str().unwrap(),
    ]);
    arguments.extend(commands);
    machine.java(secret, &arguments)
}

/// A machine with a project of Java's, whose `build.sbt` begins with what every project here needs.
fn project(scene: &Scene, build: &str) -> Machine {
    let machine = Machine::new();
    machine.saves("repositories", &scene.block("sbt", 0));
    machine.saves("project/build.properties", &format!("sbt.version={VERSION}\n"));
    machine.saves("build.sbt", &format!("crossPaths := false\nautoScalaLibrary := false\n{build}"));
    machine
}

#[test]
fn sbt_publishes_in_both_styles_and_resolves_from_an_empty_home() {
    let central = Central::open();
    let scene = Scene::new(&central);
    let ours = "organization := \"example.lantern\"\nname := \"wick\"\nversion := \"1.0\"\n\
                Compile / packageDoc / publishArtifact := false\n\
                libraryDependencies += \"org.apache.commons\" % \"commons-lang3\" % \"3.12.0\"\n";
    let library = project(&scene, &format!("{ours}{}", scene.block("sbt", 1)));
    library.saves(
        "src/main/java/example/Wick.java",
        "package example; public class Wick { public static String light() { \
         return org.apache.commons.lang3.StringUtils.capitalize(\"lit\"); } }",
    );
    let style = scene.block("sbt", 2);
    let style: Vec<String> = style.lines().map(|line| format!("set {line}")).collect();
    let style: Vec<&str> = ["publish"].into_iter().chain(style.iter().map(String::as_str)).chain(["publish"]).collect();
    sbt(&library, &central, scene.writer.secret(), &style).good();
    scene.has("maven-releases", "example/lantern/wick/1.0/wick-1.0.pom");
    scene.has("maven-releases", "example/lantern/wick/1.0/wick-1.0.jar.sha1");
    scene.has("ivy", "example.lantern/wick/1.0/ivys/ivy.xml");
    scene.has("ivy", "example.lantern/wick/1.0/jars/wick.jar.sha1");

    let user = project(&scene, "libraryDependencies += \"example.lantern\" % \"wick\" % \"1.0\"\n");
    user.saves(
        "src/main/java/Porch.java",
        "public class Porch { public static void main(String[] a) { System.out.println(\"it is \" + example.Wick.light()); } }",
    );
    let said = sbt(&user, &central, "", &["run"]).good();
    assert!(said.contains("it is Lit"), "{said}");
}
