//! The real `koji` command against a hub: what it prints of the stand-in is what it prints of a real one.

use super::{LAMP, built, lamp};
use crate::world::{KojiHub, cache, write};
use std::process::Command;
use tempfile::TempDir;

/// What the command prints, with the places and moments of this run replaced.
fn koji(hub: &KojiHub, arguments: &[&str]) -> String {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("koji.conf");
    write(&file, &format!("[koji]\nserver = {}\ntopurl = {}\nauthtype = noauth\n", hub.url(), hub.files()));
    let tools = cache().join("tools/koji");
    let mut command = Command::new("python3");
    command.arg(tools.join("bin/koji")).arg("-c").arg(&file).args(arguments).env("PYTHONPATH", &tools);
    let ran = command.env("TZ", "UTC").env("HOME", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{arguments:?}: {text}");
    // A line of history begins with its moment: `Sun Nov 29 04:00:13 2026 `.
    let is_moment = |line: &str| line.len() > 25 && line.as_bytes()[13] == b':' && line.as_bytes()[16] == b':';
    let is_event = |line: &str| line.starts_with("Querying at event ");
    let line = |line: &str| {
        if is_event(line) {
            "Querying at event FIRST".to_owned()
        } else if is_moment(line) {
            format!("(moment) {}", &line[25..])
        } else {
            line.to_owned()
        }
    };
    text.lines().map(|text| line(text.trim_end()) + "\n").collect()
}

#[test]
fn the_real_command_prints_of_the_stand_in_what_it_prints_of_a_hub() {
    let hub = KojiHub::start();
    let (tag, parent) = (hub.tag("maven-release"), hub.tag("maven-parent"));
    let (lamp, oil) = (lamp(&hub), built(&hub, "org.example-oil", "1.0", "org/example/oil/1.0"));
    let first = hub.tag_build(tag, lamp).to_string();
    hub.tag_build(tag, oil);
    hub.untag_build(tag, lamp);
    hub.tag_build(parent, built(&hub, "org.example-lamp", "1.1", LAMP));
    hub.inherit(tag, parent, 0);
    hub.block(tag, "org.example-wick");
    let event = format!("--event={first}");
    let mut session = String::new();
    for arguments in [
        &["list-tagged", "maven-release", "--type=maven"][..],
        &["list-tagged", "maven-release", "--type=maven", &event],
        &["list-tagged", "maven-release", "--type=maven", "--inherit"],
        &["list-tagged", "maven-release", "--type=maven", "--inherit", "--latest"],
        &["list-history", "--tag", "maven-release"],
        &["list-history", "--build", "org.example-lamp-1.0-1"],
        &["list-tag-inheritance", "maven-release"],
        &["list-tags", "maven-*"],
        &["call", "getFullInheritance", "maven-release"],
        &["call", "listTags", "--kwargs", "{\"pattern\": \"MAVEN-P*\"}"],
        &["call", "getMavenBuild", "org.example-lamp-1.0-1"],
    ] {
        let said = arguments.join(" ").replace(&event, "--event=FIRST");
        session += &format!("$ koji {said}\n{}", koji(&hub, arguments));
    }
    assert_eq!(hub.logins(), 0, "the command asks without a login, too");
    let expected = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/koji/session.txt");
    if std::env::var_os("DAYLIGHT_WRITE").is_some() && hub.is_real() {
        std::fs::write(expected, &session).unwrap();
    }
    assert_eq!(session, std::fs::read_to_string(expected).unwrap());
}
