//! A clock that jumps while the server runs, or that is behind the journal at a start. Nothing is written then, until the clock is
//! right again or somebody decides whether the clock or the journal is right.

use crate::world::{FIRST, Gem, Index, Person, Said, World, program};
use jiff::{Timestamp, ToSpan as _};
use serde_json::json;

/// What makes the tests independent of the year: a server in conformance mode begins in 1980.
const START: &str = "2001-02-03T04:05:06Z";

fn set(world: &World, call: &str, at: &str) {
    let path = format!("/repository/{FIRST}/{call}");
    world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], at.as_bytes()).expect(200);
}

fn repair(world: &World, flags: &[&str]) -> Said {
    world.command(&["repair", "clock"]).args(flags).output().unwrap().into()
}

fn health(world: &World) -> String {
    world.anon().get("/health/ready").expect(200).text().to_owned()
}

#[track_caller]
fn is_doubted(world: &World, person: &Person, gem: &Gem, why: &str) {
    let said = person.push(FIRST, gem);
    assert_eq!(said.status, 503, "{}", said.text());
    assert!(said.text().contains(why), "{}", said.text());
    let problem = person.patch_json(&format!("/api/v1/repositories/{FIRST}"), &json!({ "keep_versions": 1 }));
    let problem = problem.expect(503);
    assert!(problem.json()["hint"].as_str().unwrap().contains("daylight repair clock"), "{}", problem.text());
    assert!(health(world).contains("degraded: read-only: the machine's clock"), "{}", health(world));
    world.anon().file(FIRST, "gems/lamp-1.0.gem").expect(200);
}

#[test]
fn a_clock_that_jumps_stops_every_write_until_it_is_right_or_somebody_decides() {
    let world = World::start_in_conformance(&[]);
    let admin = world.admin();
    set(&world, "set_time", START);
    admin.push(FIRST, &Gem::new("lamp", "1.0")).expect(200);
    let ahead = "the machine's clock jumped ahead by 30 d";
    set(&world, "jump_time", "2001-03-05T06:05:06Z");
    is_doubted(&world, &admin, &Gem::new("lamp", "1.1"), ahead);
    // Somebody sets it right.
    set(&world, "jump_time", "2001-02-03T04:06:06Z");
    admin.push(FIRST, &Gem::new("lamp", "1.1")).expect(200);
    assert_eq!(health(&world), "ready\n");
    // It was wrong before, and is right now.
    set(&world, "jump_time", "2001-03-05T06:05:06Z");
    is_doubted(&world, &admin, &Gem::new("lamp", "1.2"), ahead);
    let planned = repair(&world, &["--clock-is-right"]).good();
    assert!(planned.contains("no change is later than the clock; the clock would be believed"), "{planned}");
    is_doubted(&world, &admin, &Gem::new("lamp", "1.2"), ahead);
    repair(&world, &["--clock-is-right", "--yes"]).good();
    admin.push(FIRST, &Gem::new("lamp", "1.2")).expect(200);
    // It is wrong, and cannot be set now.
    set(&world, "jump_time", "2001-06-05T08:05:06Z");
    is_doubted(&world, &admin, &Gem::new("lamp", "1.3"), "the machine's clock jumped ahead by 92 d");
    repair(&world, &["--rows-are-right", "--yes"]).good();
    admin.push(FIRST, &Gem::new("lamp", "1.3")).expect(200);
    assert!(health(&world).contains("degraded: the machine's clock counts as wrong"), "{}", health(&world));
    let versions = admin.file(FIRST, "api/v1/versions/lamp.json").expect(200).json();
    let of = |number: &str| {
        let all = versions.as_array().unwrap();
        all.iter().find(|one| one["number"] == number).unwrap()["created_at"].as_str().unwrap()[..10].to_owned()
    };
    assert_eq!([of("1.0"), of("1.1"), of("1.2"), of("1.3")], ["2001-02-03", "2001-02-03", "2001-03-05", "2001-03-05"]);
    set(&world, "jump_time", "2001-03-05T06:06:06Z");
    admin.push(FIRST, &Gem::new("lamp", "1.4")).expect(200);
    assert_eq!(health(&world), "ready\n");
    Index::read(&world.anon(), FIRST).download(&world.anon(), FIRST);
}

#[test]
fn changes_of_the_future_count_as_of_the_repair_in_every_index_and_view_and_in_a_rebuilt_folder() {
    let world = World::start_in_conformance(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example")]);
    let admin = world.admin();
    // In this mode repositories have the older form of `/info`, without dates.
    world.repository("dated", false);
    admin.patch_json("/api/v1/repositories/dated", &json!({ "info_format": "v2" })).expect(200);
    world.tree("trees", "maven");
    admin.push("dated", &Gem::new("lamp", "1.0")).expect(200);
    admin.push("dated", &Gem::new("lamp", "1.1")).expect(200);
    let soon = Timestamp::now().checked_add(720.hours()).unwrap();
    set(&world, "set_time", &soon.to_string());
    for version in ["1.10", "1.9"] {
        admin.push("dated", &Gem::new("lamp", version)).expect(200);
    }
    admin.push(FIRST, &Gem::new("lamp", "1.0")).expect(200);
    admin.yank("dated", "lamp", "1.1").expect(200);
    admin.push("dated", &Gem::new("oil", "1.0")).expect(200);
    world.repository("later", false);
    world.person("reader", &["read"], &[]);
    let pom = b"<project><artifactId>lamp</artifactId></project>";
    admin.put("trees", "org/example/lamp/1.0/lamp-1.0.pom", pom).expect(201);
    let before = Index::read(&world.anon(), "dated");

    // Without the mode, the clock is that of the machine.
    let mut world = world.without_flags();
    let admin = world.admin();
    is_doubted(&world, &admin, &Gem::new("wick", "1.0"), "the machine's clock is behind the last change by 29 d");
    assert!(world.log().contains("nothing is written until somebody decides which is right"), "{}", world.log());
    let planned = repair(&world, &["--clock-is-right"]).good();
    assert!(planned.contains("changes that are dated later would count as of now"), "{planned}");
    let repaired = repair(&world, &["--clock-is-right", "--yes"]).good();
    assert!(repaired.contains("changes that were dated later count as of now"), "{repaired}");
    world.await_restart();

    let now = Timestamp::now();
    let day = |at: &Timestamp| at.to_string()[..10].to_owned();
    let seen = |world: &World, repository: &str| {
        let anon = world.anon();
        let paths = ["versions", "names", "info/lamp", "info/oil", "specs.4.8.gz", "api/v1/versions/lamp.json"];
        let told = paths.map(|path| anon.file(repository, path).body);
        (Index::read(&anon, repository), told)
    };
    let after = seen(&world, "dated");
    assert_eq!(after.0.offered, before.offered, "the same versions with the same bytes");
    let info = world.anon().file("dated", "info/lamp").expect(200).text().to_owned();
    for line in info.lines().filter(|line| line.starts_with("1.9 ") || line.starts_with("1.10 ")) {
        let date = line.split("created_at:").nth(1).unwrap_or_else(|| panic!("{info}"));
        let date: Timestamp = date[..20].parse().unwrap();
        assert!(date <= now && date >= now.checked_sub(1.hours()).unwrap(), "{info}");
    }
    let listed = admin.get("/api/v1/journal?limit=100").expect(200).text().to_owned();
    assert!(listed.contains("\"redate\"") && !listed.contains(&format!("\"at\":\"{}", day(&soon))), "{listed}");
    assert!(!admin.get("/api/v1/repositories").expect(200).text().contains(&day(&soon)));
    assert!(!admin.get("/api/v1/tokens").expect(200).text().contains(&day(&soon)));
    let metadata = world.anon().file("trees", "org/example/lamp/maven-metadata.xml").expect(200).text().to_owned();
    let dated = format!("<lastUpdated>{}", day(&now).replace('-', ""));
    assert!(metadata.contains(&dated), "{metadata}");
    // A view of a moment after the repair has them, and a view of one before has not.
    let at = |moment: &str| format!("dated@{moment}");
    let view = Index::read(&world.anon(), &at(&Timestamp::now().to_string()));
    assert_eq!(view.offered, before.offered);
    // New changes come after them, as of their own time.
    admin.push("dated", &Gem::new("wick", "1.0")).expect(200);
    assert_eq!(health(&world), "ready\n");
    let grown = seen(&world, "dated");
    let (old, new) = (after.1[0].as_slice(), grown.1[0].as_slice());
    assert!(new.starts_with(old), "clients only append to /versions");

    world.stop();
    for file in world.files() {
        if file.file_name().unwrap().to_str().unwrap().starts_with("truth") {
            std::fs::remove_file(file).unwrap();
        }
    }
    assert!(world.run("rebuild").status.success());
    assert!(world.run("check").status.success());
    let backup = world.data().with_file_name("backup");
    let run = |verb: &str, data: &std::path::Path| {
        Said::from(program(&[verb]).arg(&backup).arg("--data").arg(data).output().unwrap()).good()
    };
    run("backup", &world.data());
    std::fs::rename(world.data(), world.data().with_file_name("before")).unwrap();
    run("restore", &world.data());
    world.resume();
    assert_eq!(health(&world), "ready\n");
    assert_eq!(seen(&world, "dated"), grown, "after a rebuild, a backup and a restore");
}

#[test]
fn a_decision_for_the_journal_of_a_stopped_server_holds_over_restarts_while_the_clock_is_as_wrong() {
    let world = World::start_in_conformance(&[]);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0")).expect(200);
    set(&world, "set_time", &Timestamp::now().checked_add(720.hours()).unwrap().to_string());
    world.admin().push(FIRST, &Gem::new("lamp", "1.1")).expect(200);
    let mut world = world.without_flags();
    let admin = world.admin();
    is_doubted(&world, &admin, &Gem::new("lamp", "1.2"), "the machine's clock is behind the last change");
    world.stop();
    let on_folder = |world: &World, yes: &[&str]| {
        let mut command = program(&["repair", "clock", "--rows-are-right"]);
        Said::from(command.args(yes).arg("--data").arg(world.data()).output().unwrap()).good()
    };
    let planned = on_folder(&world, &[]);
    assert!(planned.contains("time would go on from the last change"), "{planned}");
    on_folder(&world, &["--yes"]);
    for version in ["1.2", "1.3"] {
        world.resume();
        assert!(health(&world).contains("degraded: the machine's clock counts as wrong"), "{}", health(&world));
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
        world.stop();
    }
    world.resume();
    Index::read(&world.anon(), FIRST).download(&world.anon(), FIRST);
}
