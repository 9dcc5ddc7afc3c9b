//! Ivy, Debian's and the newest.

use super::Scene;
use super::tool::Machine;
use crate::world::{Central, Said};

const NEWEST: &str = "org/apache/ivy/ivy/2.6.0/ivy-2.6.0.jar";
const DEBIANS: &str = "/usr/share/java/ivy.jar";

/// A module that may need others.
fn module(name: &str, needs: &str) -> String {
    format!(
        "<ivy-module version=\"2.0\"><info organisation=\"example.lantern\" module=\"{name}\" status=\"release\"/>\
         <configurations><conf name=\"default\"/></configurations>\
         <publications><artifact name=\"{name}\" type=\"jar\" ext=\"jar\" conf=\"default\"/></publications>\
         <dependencies>{needs}</dependencies></ivy-module>"
    )
}

fn ivy(machine: &Machine, jar: &str, secret: &str, arguments: &[&str]) -> Said {
    machine.java(secret, &[&["-jar", jar, "-settings", "ivysettings.xml", "-ivy", "ivy.xml"], arguments].concat())
}

fn publishes_and_resolves(jar: &str) {
    let central = Central::open();
    let scene = Scene::new(&central);
    let jar = if jar == NEWEST { central.jar(jar).to_str().unwrap().to_owned() } else { jar.to_owned() };
    let machine = Machine::new();
    machine.saves("ivysettings.xml", &scene.block("Ivy", 0));
    machine.saves("wick.jar", "jar of wick");
    let needs =
        "<dependency org=\"org.apache.commons\" name=\"commons-lang3\" rev=\"3.12.0\" conf=\"default->default\"/>";
    machine.saves("ivy.xml", &module("wick", needs));
    // Its cache is in the home of the user, which Java does not read from the environment.
    let java = format!("java -Duser.home={} ", machine.home().display());
    let command = scene.block("Ivy", 1).replace("ivy.jar", &jar).replace("java ", &java);
    let said = machine.runs("sh", "", &["-c", &command]).bad();
    assert!(said.contains("was refused by the server"), "{said}");
    let said = machine.runs("sh", scene.writer.secret(), &["-c", &command]).good();
    assert!(said.contains("published wick to") && said.contains("published ivy to"), "{said}");
    scene.has("ivy", "example.lantern/wick/1.0/wick-1.0.jar");
    scene.has("ivy", "example.lantern/wick/1.0/ivy-1.0.xml.sha1");

    let user = Machine::new();
    user.saves("ivysettings.xml", &scene.block("Ivy", 0));
    user.saves(
        "ivy.xml",
        &module("porch", "<dependency org=\"example.lantern\" name=\"wick\" rev=\"1.0\" conf=\"default->default\"/>"),
    );
    ivy(&user, &jar, "", &["-retrieve", "lib/[artifact]-[revision].[ext]"]).good();
    assert_eq!(std::fs::read(user.file("lib/wick-1.0.jar")).unwrap(), b"jar of wick");
    assert!(user.file("lib/commons-lang3-3.12.0.jar").exists());
}

#[test]
fn debian_s_ivy_publishes_and_resolves_from_an_empty_cache() {
    publishes_and_resolves(DEBIANS);
}

#[test]
fn the_newest_ivy_publishes_and_resolves_from_an_empty_cache() {
    publishes_and_resolves(NEWEST);
}
