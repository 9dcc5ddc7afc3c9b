//! A year of a team on one server: releases, snapshots, retention, yanks, cleanup and monthly backups. Disk use, start
//! time and the cost of a push do not grow with deleted versions, and the last backup builds. `DAYLIGHT_YEAR=DAYS` sets
//! the number of busy days; `make torture` runs a whole year. The default is a few quiet days.

use crate::maven_deploys::{knows_as, porch_says, publish, shelf};
use crate::world::{Central, Connection, FIRST, Gem, Person, Release, Ruby, Said, World, program};
use md5::{Digest as _, Md5};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tempfile::TempDir;

const DAYS: u32 = 8;
/// The publications of a busy day: 20,000 releases in a year, and a snapshot every five minutes.
const BUSY: Pace = Pace { gems: 25, releases: 30, snapshots: 288 };
/// The publications of a quiet day.
const QUIET: Pace = Pace { gems: 4, releases: 4, snapshots: 24 };
/// How often a day the server does its regular work.
const TURNS: u32 = 4;
/// 2050-01-01 in days since 1970. It is in the future: during a restart the server has the real time, and nothing may
/// age by that.
const FIRST_DAY: i64 = 29_220;
/// The tolerance of comparisons, because a database grows by whole pages.
const NOISE_BYTES: u64 = 16 << 20;
/// The permanent cost of a push after its bytes are deleted: its rows and those of its removal, in the database and in
/// a segment.
const KEPT_BYTES: u64 = 4_096;

/// The number of publications in a day.
#[derive(Debug, Clone, Copy)]
struct Pace {
    gems: u32,
    releases: u32,
    snapshots: u32,
}

impl Pace {
    /// Each release and each snapshot has two files.
    fn pushes(self) -> u64 {
        u64::from(self.gems + 2 * self.releases + 2 * self.snapshots)
    }
}

struct Team<'a> {
    world: &'a World,
    writer: Person,
    connection: Connection,
    pace: Pace,
    day: u32,
}

/// The resources and costs of the server at the end of a month.
#[derive(Debug)]
struct Figures {
    day: u32,
    disk_bytes: u64,
    live_bytes: u64,
    start_ms: u128,
    push_us: u64,
}

/// Incompressible bytes, different for each name.
fn bytes(name: &str, size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size + 16);
    let mut digest = Md5::digest(name);
    while bytes.len() < size {
        bytes.extend_from_slice(&digest);
        digest = Md5::digest(digest);
    }
    bytes.truncate(size);
    bytes
}

fn date(day: u32) -> jiff::civil::Date {
    jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(FIRST_DAY + i64::from(day))).unwrap()
}

fn set_time(world: &World, day: u32, hour: u32) {
    world.set_time(&format!("{}T{hour:02}:00:00Z", date(day)));
}

impl Team<'_> {
    fn put(&mut self, repository: &str, path: &str, bytes: &[u8]) {
        let path = format!("/repository/{repository}/{path}");
        self.writer.on(&mut self.connection, "PUT", &path, &[], bytes).unwrap().expect(201);
    }

    fn publish(&mut self, turn: u32) {
        let (day, Pace { gems, releases, snapshots }) = (self.day, self.pace);
        for number in (0..gems).filter(|number| number % TURNS == turn) {
            let gem = Gem::new(&format!("part-{number}"), &format!("1.{day}.0"));
            let gem = gem.payload(&bytes(&format!("gem {day} {number}"), 8_000)).bytes();
            self.writer.push_on(&mut self.connection, FIRST, &gem).unwrap().expect(200);
        }
        for number in (0..releases).filter(|number| number % TURNS == turn) {
            let (base, version) = (format!("org/example/part-{number}"), format!("1.{day}"));
            let file = |ending: &str| format!("{base}/{version}/part-{number}-{version}.{ending}");
            self.put("releases", &file("jar"), &bytes(&file("jar"), 8_000));
            self.put("releases", &file("pom"), pom(&format!("part-{number}"), &version).as_bytes());
        }
        for number in (0..snapshots).filter(|number| number * TURNS / snapshots == turn) {
            let (minutes, build) = (number * 24 * 60 / snapshots, day * snapshots + number + 1);
            let day = date(day).to_string().replace('-', "");
            let stamp = format!("{day}.{:02}{:02}00-{build}", minutes / 60, minutes % 60);
            let file = |ending: &str| format!("org/example/hourly/1.0-SNAPSHOT/hourly-1.0-{stamp}.{ending}");
            self.put("snapshots", &file("jar"), &bytes(&file("jar"), 20_000));
            self.put("snapshots", &file("pom"), pom("hourly", "1.0-SNAPSHOT").as_bytes());
        }
    }

    fn live_a_day(&mut self) {
        for turn in 0..TURNS {
            set_time(self.world, self.day, turn * 24 / TURNS);
            self.publish(turn);
        }
        if self.day > 0 {
            let (name, version) = (format!("part-{}", self.day % self.pace.gems), format!("1.{}.0", self.day - 1));
            self.writer.yank_on(&mut self.connection, FIRST, &name, &version).unwrap().expect(200);
        }
        if self.day % 7 == 6 {
            daylight(self.world, &["cleanup", "--yes"]).good();
        }
    }
}

fn pom(artifact: &str, version: &str) -> String {
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>\
         <artifactId>{artifact}</artifactId><version>{version}</version></project>"
    )
}

/// Runs a command of the program for this server.
fn daylight(world: &World, arguments: &[&str]) -> Said {
    world.command(arguments).output().unwrap().into()
}

/// Runs a command of the program on a folder.
fn on_folder(arguments: &[&str], folder: &Path) -> Said {
    program(arguments).arg("--data").arg(folder).output().unwrap().into()
}

fn disk_bytes(folder: &Path) -> u64 {
    // Recorded events have a limit of their own.
    let told = Command::new("du").args(["-s", "--block-size=1", "--exclude=events"]).arg(folder).output().unwrap();
    String::from_utf8(told.stdout).unwrap().split_whitespace().next().unwrap().parse().unwrap()
}

/// The size of the files that clients can have now.
fn live_bytes(world: &World) -> u64 {
    let all = world.admin().get("/api/v1/repositories").expect(200).json();
    let all = all["repositories"].as_array().unwrap();
    all.iter().map(|one| one["holds"]["size_bytes"].as_u64().unwrap_or_default()).sum()
}

#[test]
fn a_year_of_a_team_leaves_what_is_live_and_its_last_backup_builds() {
    let days = std::env::var("DAYLIGHT_YEAR").map_or(DAYS, |days| days.parse().unwrap());
    let pace = if std::env::var("DAYLIGHT_YEAR").is_err() { QUIET } else { BUSY };
    let month = (days / 12).max(1);
    let central = Central::open();
    let world = World::start_in_conformance(&[
        ("DAYLIGHT_STORE_HORIZON", "30d"),
        ("DAYLIGHT_STORE_UNDO", "2d"),
        ("DAYLIGHT_STORE_COLLECT_AFTER", "6h"),
    ]);
    let mut world = shelf(world, &central);
    let wanted = |name: &str, more: serde_json::Value| {
        let mut wanted = json!({ "name": name, "format": "maven", "kind": "hosted", "versions": name });
        wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        wanted
    };
    world.make(&wanted("releases", json!({ "keep_versions": 40 })));
    world.make(&wanted("snapshots", json!({ "retention": { "builds": 20 } })));
    world.change(FIRST, &json!({ "keep_versions": 40 }));
    publish(&world.admin(), &central, "releases", "1.0.0");
    let backups = TempDir::new().unwrap();
    let target = backups.path().join("backup");
    let mut figures = Vec::new();
    for day in 0..days {
        let writer = world.admin();
        let connection = writer.connect().unwrap();
        let before = world.cpu_us();
        let mut team = Team { world: &world, writer, connection, pace, day };
        team.live_a_day();
        drop(team);
        let push_us = (world.cpu_us() - before) / pace.pushes();
        if day % month == month - 1 {
            on_folder(&["backup", target.to_str().unwrap()], &world.data()).good();
            let (disk_bytes, live_bytes) = (disk_bytes(&world.data()), live_bytes(&world));
            world.stop();
            let began = Instant::now();
            world.resume();
            figures.push(Figures { day, disk_bytes, live_bytes, start_ms: began.elapsed().as_millis(), push_us });
            eprintln!("{:?}", figures.last().unwrap());
        }
    }
    // From then on as many versions are deleted as are published, and only the journal grows.
    let [.., middle, _, _, _, _, last] = &figures[..] else { panic!("{figures:?}") };
    assert!(last.live_bytes < 2 * middle.live_bytes.max(1), "{figures:#?}");
    let waste = |of: &Figures| of.disk_bytes.saturating_sub(of.live_bytes);
    let rows_bytes = u64::from(last.day - middle.day) * pace.pushes() * KEPT_BYTES;
    assert!(waste(last) < waste(middle) + rows_bytes + NOISE_BYTES, "{figures:#?}");

    if days >= 60 {
        assert!(last.push_us < middle.push_us * 3 / 2 + 200, "{figures:#?}");
        assert!(last.start_ms < middle.start_ms * 2 + 1_000, "{figures:#?}");
    }

    let mut restored = World::stopped_in_conformance();
    on_folder(&["restore", target.to_str().unwrap()], &restored.data()).good();
    on_folder(&["check", "--verify"], &restored.data()).good();
    restored.resume();
    set_time(&restored, days, 0);
    for index in ["versions", "names", &format!("info/part-{}", days % pace.gems)] {
        let of = |world: &World| world.anon().file(FIRST, index).expect(200).body;
        assert!(of(&restored) == of(&world), "{index} differs");
    }
    let user = Ruby::new();
    let app = user.app("app", &restored.url(FIRST), "gem 'part-1'\ngem 'part-2'");
    app.bundle(&["install"]).good();
    let user = central.machine(Release::Three8);
    knows_as(&user, &restored, ["releases", "snapshots"], restored.admin().secret());
    assert_eq!(porch_says(&user, "1.0.0"), "Lantern 1.0.0 is lit, build 1\n");
}
