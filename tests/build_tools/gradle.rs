//! Gradle, as Debian has it.

use super::Scene;
use super::tool::Machine;
use crate::world::{Central, Said};

fn gradle(machine: &Machine, secret: &str, task: &str) -> Said {
    machine.runs("gradle", secret, &["--no-daemon", "--console=plain", task])
}

#[test]
fn gradle_publishes_and_resolves_from_an_empty_home() {
    let central = Central::open();
    let scene = Scene::new(&central);
    let library = Machine::new();
    let needs = "dependencies { compile 'org.apache.commons:commons-lang3:3.12.0' }";
    let build = format!("group = 'example.lantern'\nversion = '1.0'\n{}\n{needs}\n", scene.block("Gradle", 0));
    library.saves("build.gradle", &build);
    library.saves("settings.gradle", "rootProject.name = 'wick'\n");
    library.saves(
        "src/main/java/example/Wick.java",
        "package example; public class Wick { public static String light() { \
         return org.apache.commons.lang3.StringUtils.capitalize(\"lit\"); } }",
    );
    gradle(&library, scene.writer.secret(), "publish").good();
    scene.has("ivy", "example.lantern/wick/1.0/ivy-1.0.xml");

    let user = Machine::new();
    let run = "dependencies { compile 'example.lantern:wick:1.0' }\n\
               task light(type: JavaExec) { classpath = sourceSets.main.runtimeClasspath; main = 'Porch' }";
    user.saves("build.gradle", &format!("{}\n{run}\n", scene.block("Gradle", 1)));
    user.saves("settings.gradle", "rootProject.name = 'porch'\n");
    user.saves(
        "src/main/java/Porch.java",
        "public class Porch { public static void main(String[] a) { System.out.println(\"it is \" + example.Wick.light()); } }",
    );
    let said = gradle(&user, "", "light").good();
    assert!(said.contains("it is Lit"), "{said}");
}
