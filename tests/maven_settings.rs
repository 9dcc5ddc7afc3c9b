//! The settings file for Maven: it has the URL by which clients reach the repository, and no secret. `daylight settings` adds it to a
//! file that a user has.

use crate::world::{Central, Release, Ruby, Said, World};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

#[test]
fn a_hosted_repository_stands_beside_others_and_a_remote_one_instead_of_them() {
    let world = World::start();
    world.tree("private", "maven");
    let remote =
        json!({ "name": "all", "format": "maven", "kind": "remote", "remote": { "urls": ["http://127.0.0.1:1/"] } });
    world.admin().post_json("/api/v1/repositories", &remote).expect(201);
    for (repository, mirrored) in [("private", false), ("all", true)] {
        let settings = world.anon().file(repository, "settings.xml").expect(200);
        let text = settings.text();
        assert_eq!(settings.header("content-type"), Some("application/xml"));
        assert!(text.contains(&format!("<url>{}</url>", world.url(repository))), "{text}");
        assert_eq!(text.contains("<mirrorOf>*</mirrorOf>"), mirrored, "{text}");
        assert!(text.contains(&format!("<id>{repository}</id>")) && text.contains("<password>${env.DAYLIGHT_TOKEN}<"));
        assert!(!text.contains(world.admin().secret()), "{text}");
        let head = world.anon().ask("HEAD", &format!("/repository/{repository}/settings.xml"), &[], b"").expect(200);
        assert_eq!(head.header("etag"), settings.header("etag"));
    }
    world.tree("tools", "raw");
    world.anon().file("tools", "settings.xml").expect(404);
}

#[test]
fn behind_a_public_address_the_settings_name_that() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://builds.example")]);
    world.tree("private", "maven");
    let settings = world.anon().file("private", "settings.xml").expect(200);
    assert!(settings.text().contains("<url>https://builds.example/repository/private/</url>"), "{}", settings.text());
}

/// Publishes the POM that the project `heir` inherits from.
pub(crate) fn publishes_house(world: &World, name: &str) {
    let pom = "<project><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>house</artifactId>\
               <version>1.0</version><packaging>pom</packaging></project>";
    world.admin().put(name, "com/acme/house/1.0/house-1.0.pom", pom.as_bytes()).expect(201);
}

const MINE: &str = "<settings>\n  <!-- mine -->\n  <servers>\n    <server><id>mine</id><password>hunter2</password></server>\n  </servers>\n</settings>\n";

/// Runs `daylight settings maven --merge` for this file, without a terminal.
fn merges(world: &World, file: &Path, more: &[&str]) -> (String, Option<i32>) {
    let mut command = world.command(&["settings", "maven", "--merge", "--file"]);
    let output = command.arg(file).args(more).env_remove("DAYLIGHT_TOKEN").output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!said.contains("hunter2"), "a secret: {said}");
    (said, output.status.code())
}

#[test]
fn settings_are_added_to_a_file_of_the_users_and_everything_in_it_stays() {
    let (world, home) = (World::start(), tempfile::tempdir().unwrap());
    let (file, link) = (home.path().join("dotfiles.xml"), home.path().join("settings.xml"));
    fs::write(&file, MINE).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles.xml", &link).unwrap();
    let read = || fs::read_to_string(&file).unwrap();

    let (said, code) = merges(&world, &link, &[]);
    assert_eq!((code, read().as_str()), (Some(2), MINE), "{said}");
    assert!(said.contains("+      <mirrorOf>*</mirrorOf>") && said.contains("--yes"), "{said}");

    let (said, code) = merges(&world, &link, &["--yes"]);
    assert_eq!(code, Some(0), "{said}");
    let merged = read();
    assert!(merged.starts_with(MINE.split("\n  </servers>").next().unwrap()), "{merged}");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    let copy = home.path().join("dotfiles.xml.bak");
    assert!(said.contains(copy.to_str().unwrap()), "{said}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), MINE);
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o640);

    let (said, code) = merges(&world, &link, &[]);
    assert_eq!((code, read()), (Some(0), merged), "{said}");
    assert!(said.contains("already"), "{said}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 3);

    // A file of its own.
    let new = home.path().join("new/.m2/settings.xml");
    assert_eq!(merges(&world, &new, &["--yes"]).1, Some(0));
    assert_eq!(fs::read_to_string(&new).unwrap(), world.anon().file("maven", "settings.xml").expect(200).text());
    assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_added_lines_are_shown_with_their_tabs_and_then_what_they_change_for_requests() {
    let (world, home) = (World::start(), tempfile::tempdir().unwrap());
    let file = home.path().join("settings.xml");
    let mine = "<settings>\n\t<proxies>\n\t\t<proxy><host>proxy.acme</host></proxy>\n\t</proxies>\n\t<profiles>\n\t\t<profile><repositories>\n\
                \t\t\t<repository><id>acme-old</id><url>http://old/</url></repository></repositories></profile>\n\t</profiles>\n</settings>\n";
    fs::write(&file, mine).unwrap();
    let (said, code) = merges(&world, &file, &["--yes"]);
    assert_eq!(code, Some(0), "{said}");
    let (lines, notes) = said.split_once("line 7: `acme-old` now comes from `maven`").expect(&said);
    assert!(lines.contains("\n+\t\t\t<mirrorOf>*</mirrorOf>\n") && !said.contains('\u{fffd}'), "{said}");
    assert!(
        notes.contains("line 3: add `|127.0.0.1` to `<nonProxyHosts>`") && notes.contains("`proxy.acme`"),
        "{said}"
    );
}

#[test]
fn nothing_is_changed_where_settings_contradict_or_the_file_is_broken() {
    let (world, home) = (World::start(), tempfile::tempdir().unwrap());
    let mirror = "<settings>\n<mirrors>\n<mirror><id>corp</id><url>https://me:hunter2@c/</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>";
    for (text, says) in [(mirror, "line 3: the mirror `corp`"), ("<settings>\n<servers>\n</settings>", "line 3: ")] {
        let file = home.path().join("settings.xml");
        fs::write(&file, text).unwrap();
        let (said, code) = merges(&world, &file, &["--yes"]);
        assert!(code == Some(1) && said.contains(says) && said.contains("nothing was changed"), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
    symlink("nowhere.xml", home.path().join("dangling.xml")).unwrap();
    assert_eq!(merges(&world, &home.path().join("dangling.xml"), &["--yes"]).1, Some(1));
    assert!(!home.path().join("nowhere.xml").exists());
}

#[test]
fn on_a_terminal_it_asks_and_maven_then_uses_both_settings() {
    let central = Central::open();
    let world = World::start();
    publishes_house(&world, "maven-releases");
    world.change("maven", &json!({ "members": ["maven-releases"] }));
    let desk = central.machine(Release::Three9);
    desk.saves(MINE);
    let file = desk.home().join("settings.xml");
    let asks = |answer: &str| -> Said {
        let server = format!("DAYLIGHT_SERVER=http://{}", world.address());
        let file = file.to_str().unwrap();
        let command = ["env", &server, env!("CARGO_BIN_EXE_daylight"), "settings", "maven", "--merge", "--file", file];
        Ruby::here().asked(&command, &[("Type `yes`", answer)])
    };
    for answer in ["no", "y"] {
        assert!(asks(answer).bad().contains("nothing was changed"));
        assert_eq!(fs::read_to_string(&file).unwrap(), MINE);
    }
    assert!(asks("yes").good().contains("the former file is"));
    desk.project("heir", &[("group", "com.acme")]).maven(&["validate"]).good();
    assert!(fs::read_to_string(&file).unwrap().contains("hunter2"));
}
