//! Imported packages keep their dates, and a repeated import adds the dates that an earlier one lacked.

use crate::policy::set;
use crate::world::{FIRST, Gem, Index, World, write};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

const WEEK_S: u64 = 7 * 86_400;
/// 1 May 2024, 12:00 UTC.
const MAY: u64 = 1_714_564_800;
const DAY: u64 = 86_400;

/// An import with a token of this secret.
pub(crate) fn import_as(world: &World, secret: &str, kind: &str, folder: &Path, into: &str) -> Output {
    let mut command = world.command(&["import", kind, folder.to_str().unwrap(), "--into", into, "--json"]);
    command.env("DAYLIGHT_TOKEN", secret).output().unwrap()
}

/// The result of an import by an admin: uploaded files, existing files, and the changes of their dates.
#[track_caller]
pub(crate) fn import(world: &World, kind: &str, folder: &Path, into: &str) -> [u64; 5] {
    counts(&import_as(world, world.admin().secret(), kind, folder, into))
}

#[track_caller]
fn counts(output: &Output) -> [u64; 5] {
    assert!(output.status.success(), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let origins = ["set", "there", "unknown"].map(|key| said["origins"][key].as_u64().unwrap());
    let [uploaded, there] = ["uploaded", "there"].map(|key| said[key].as_u64().unwrap());
    [uploaded, there, origins[0], origins[1], origins[2]]
}

/// Writes a file with this modification time.
pub(crate) fn put(path: &Path, bytes: &[u8], seconds: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    touch(path, seconds);
}

fn touch(path: &Path, seconds: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

/// The publication day of each version in `/info`.
fn days(world: &World, name: &str) -> BTreeMap<String, String> {
    let info = world.anon().file(FIRST, &format!("info/{name}")).expect(200);
    let day = |line: &str| {
        let (version, created) = (line.split(' ').next().unwrap(), line.rsplit_once("created_at:").unwrap().1);
        (version.to_owned(), created[..10].to_owned())
    };
    info.text().lines().skip(1).map(day).collect()
}

fn expected<const N: usize>(days: [(&str, &str); N]) -> BTreeMap<String, String> {
    days.map(|(version, day)| (version.to_owned(), day.to_owned())).into()
}

fn journal(world: &World) -> u64 {
    world.anon().file(FIRST, "versions").expect(200).text().lines().count() as u64
}

/// A Gemstash whose database has the dates of its gems, and whose files were all copied today.
pub(crate) fn gemstash(folder: &Path, versions: &[(&str, &str)]) {
    write(&folder.join("metadata.yml"), "---\n:storage_version: 1\n:gemstash_version: 2.8.0\n");
    let database = rusqlite::Connection::open(folder.join("gemstash.db")).unwrap();
    let tables =
        "CREATE TABLE rubygems (id integer PRIMARY KEY, name varchar(191) NOT NULL, created_at timestamp NOT NULL);
        CREATE TABLE versions (id integer PRIMARY KEY, rubygem_id integer NOT NULL, storage_id varchar(191) NOT NULL,
            number varchar(191) NOT NULL, platform varchar(191) NOT NULL, full_name varchar(191) NOT NULL,
            indexed boolean DEFAULT 1 NOT NULL, prerelease boolean NOT NULL, created_at timestamp NOT NULL,
            updated_at timestamp NOT NULL);";
    database.execute_batch(tables).unwrap();
    for (version, created) in versions {
        let name = format!("lamp-{version}");
        let resource = format!("private/gems/l/a/m/{}-0cc175b9c0f1b6a831c399e269772661", name.replace('.', "_"));
        let gem = Gem::new("lamp", version).bytes();
        fs::create_dir_all(folder.join(&resource)).unwrap();
        fs::write(folder.join(&resource).join("gem"), gem).unwrap();
        let row = "INSERT INTO versions (rubygem_id, storage_id, number, platform, full_name, prerelease, created_at, updated_at)
            VALUES (1, ?1, ?2, 'ruby', ?1, 0, ?3, ?3)";
        database.execute(row, [&name, *version, *created]).unwrap();
    }
}

#[test]
fn a_gemstash_keeps_the_dates_of_its_database_and_a_cooldown_hides_nothing_older() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    let versions = [("1.0", "2019-03-01 10:00:00.123456"), ("1.1", "2024-05-01 12:00:00.000000")];
    gemstash(folder.path(), &versions);
    assert_eq!(import(&world, "gems", folder.path(), FIRST), [2, 0, 2, 0, 0]);
    let told = world.anon().file(FIRST, "api/v1/versions/lamp.json").expect(200).json();
    assert_eq!(told[1]["created_at"], "2019-03-01T10:00:00.123Z");
    assert_eq!(days(&world, "lamp"), expected([("1.0", "2019-03-01"), ("1.1", "2024-05-01")]));
    let changes = journal(&world);
    assert_eq!(import(&world, "gems", folder.path(), FIRST), [0, 2, 0, 2, 0]);
    assert_eq!(journal(&world), changes, "nothing is written twice");

    world.admin().push(FIRST, &Gem::new("lamp", "1.2")).expect(200);
    set(&world, FIRST, &json!({ "cooldown_s": WEEK_S })).expect(200);
    let offered = Index::read(&world.anon(), FIRST).offered.into_keys().map(|(_, version)| version);
    assert_eq!(offered.collect::<Vec<_>>(), ["1.0", "1.1"]);
}

#[test]
fn a_geminabox_keeps_the_dates_of_its_files_and_a_younger_copy_spoils_none() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    let gem = |version: &str| folder.path().join(format!("data/gems/lamp-{version}.gem"));
    write(&folder.path().join("data/specs.4.8.gz"), "");
    for (version, seconds) in [("1.0", MAY), ("1.1", MAY + DAY), ("1.2", 0)] {
        put(&gem(version), &Gem::new("lamp", version).bytes(), seconds);
    }
    // An earlier import brought one version without its date.
    world.admin().push(FIRST, &Gem::new("lamp", "1.1")).expect(200);
    let today = days(&world, "lamp")["1.1"].clone();
    assert_eq!(import(&world, "gems", folder.path(), FIRST), [2, 1, 2, 0, 1]);
    let all = expected([("1.0", "2024-05-01"), ("1.1", "2024-05-02"), ("1.2", &today)]);
    assert_eq!(days(&world, "lamp"), all);
    Index::read(&world.anon(), FIRST).download(&world.anon(), FIRST);

    // A copy with newer files.
    ["1.0", "1.1", "1.2"].iter().for_each(|version| touch(&gem(version), MAY + 9 * DAY));
    assert_eq!(import(&world, "gems", folder.path(), FIRST), [0, 3, 1, 2, 0]);
    assert_eq!(days(&world, "lamp"), expected([("1.0", "2024-05-01"), ("1.1", "2024-05-02"), ("1.2", "2024-05-10")]));

    // A gem that is pushed after a move is appended.
    let before = world.anon().file(FIRST, "info/lamp").expect(200).text().to_owned();
    world.admin().push(FIRST, &Gem::new("lamp", "2.0")).expect(200);
    assert!(world.anon().file(FIRST, "info/lamp").expect(200).text().starts_with(&before));
    Index::read(&world.anon(), FIRST);
}

#[test]
fn an_index_beside_the_gems_tells_their_dates() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    for version in ["1.0", "1.1"] {
        put(&folder.path().join(format!("gems/lamp-{version}.gem")), &Gem::new("lamp", version).bytes(), MAY + DAY);
    }
    let line = format!("1.0 |checksum:{},created_at:2020-02-02T00:00:00Z\n", "a".repeat(64));
    write(&folder.path().join("info/lamp"), &format!("---\n{line}"));
    assert_eq!(import(&world, "gems", folder.path(), FIRST), [2, 0, 2, 0, 0]);
    assert_eq!(days(&world, "lamp"), expected([("1.0", "2020-02-02"), ("1.1", "2024-05-02")]));
}

#[test]
fn an_import_without_an_admin_brings_everything_but_the_dates_and_says_so_once() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    for number in 0..4 {
        let gem = Gem::new(&format!("lamp{number}"), "1.0");
        put(&folder.path().join(gem.file()), &gem.bytes(), MAY);
    }
    let writer = world.person("mover", &["read", "write"], &[]);
    let output = import_as(&world, writer.secret(), "gems", folder.path(), FIRST);
    assert_eq!(counts(&output), [4, 0, 0, 0, 0]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["origins"]["not_allowed"], 4);
    // With `--json` only the document tells it.
    assert!(output.stderr.is_empty(), "{output:?}");
    let mut people = world.command(&["import", "gems", folder.path().to_str().unwrap(), "--into", FIRST]);
    let told = people.env("DAYLIGHT_TOKEN", writer.secret()).output().unwrap().stderr;
    let told = String::from_utf8(told).unwrap();
    assert_eq!(told.matches("hint: 4 gems are dated today").count(), 1, "{told}");
    assert_eq!(import(&world, "gems", folder.path(), FIRST), [0, 4, 4, 0, 0]);
    assert_eq!(days(&world, "lamp3"), expected([("1.0", "2024-05-01")]));
    Index::read(&world.anon(), FIRST);
}

#[test]
fn dates_are_kept_where_the_index_does_not_tell_them() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    let old = json!({ "name": "old", "format": "gem", "kind": "hosted", "info_format": "v1" });
    world.admin().post_json("/api/v1/repositories", &old).expect(201);
    put(&folder.path().join("lamp-1.0.gem"), &Gem::new("lamp", "1.0").bytes(), MAY);
    world.admin().push("old", &Gem::new("lamp", "1.0")).expect(200);
    assert_eq!(import(&world, "gems", folder.path(), "old"), [0, 1, 1, 0, 0]);
    assert_eq!(import(&world, "gems", folder.path(), "old"), [0, 1, 0, 1, 0]);
    let told = world.anon().file("old", "api/v1/versions/lamp.json").expect(200).json();
    assert_eq!(told[0]["created_at"], "2024-05-01T12:00:00.000Z");
}

#[test]
fn a_tree_of_maven_keeps_the_dates_of_its_files_and_metadata() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    let base = folder.path().join("org/example/lamp");
    let file = |path: &str, seconds| put(&base.join(path), path.as_bytes(), seconds);
    file("1.0/lamp-1.0.jar", MAY);
    file("1.0/lamp-1.0.pom", MAY + 60);
    file("1.1/lamp-1.1.pom", MAY + 900 * DAY); // copied lately
    file("2.0-SNAPSHOT/lamp-2.0-20240301.120000-1.jar", MAY);
    file("2.0-SNAPSHOT/lamp-2.0-SNAPSHOT-doc.jar", MAY);
    let updated = "<metadata><versioning><lastUpdated>20240601120000</lastUpdated></versioning></metadata>";
    write(&base.join("maven-metadata-local.xml"), updated);
    write(&base.join("1.0/_remote.repositories"), "lamp-1.0.jar>=\n");
    assert_eq!(import(&world, "maven", folder.path(), "trees"), [5, 0, 5, 0, 0]);
    let expected = [
        ("1.0/lamp-1.0.jar", "Wed, 01 May 2024 12:00:00 GMT"),
        ("1.0/lamp-1.0.pom", "Wed, 01 May 2024 12:01:00 GMT"),
        ("1.1/lamp-1.1.pom", "Sat, 01 Jun 2024 12:00:00 GMT"),
        ("2.0-SNAPSHOT/lamp-2.0-20240301.120000-1.jar", "Fri, 01 Mar 2024 12:00:00 GMT"),
    ];
    let dated = || {
        for (path, date) in expected {
            let file = world.anon().file("trees", &format!("org/example/lamp/{path}")).expect(200);
            assert_eq!(file.header("last-modified"), Some(date), "{path}");
        }
    };
    dated();
    assert_eq!(import(&world, "maven", folder.path(), "trees"), [0, 5, 0, 5, 0]);
    set(&world, "trees", &json!({ "cooldown_s": WEEK_S })).expect(200);
    dated();
    let metadata = world.anon().file("trees", "org/example/lamp/maven-metadata.xml").expect(200);
    for version in ["1.0", "1.1"] {
        assert!(metadata.text().contains(&format!("<version>{version}</version>")), "{}", metadata.text());
    }
}

#[test]
fn an_earlier_import_of_a_tree_is_mended_by_another_one() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    set(&world, "trees", &json!({ "cooldown_s": WEEK_S })).expect(200);
    let (path, text) = ("org/example/lamp/1.0/lamp-1.0.pom", "<project><artifactId>lamp</artifactId></project>");
    world.admin().put("trees", path, text.as_bytes()).expect(201);
    world.anon().file("trees", path).expect(403);
    put(&folder.path().join(path), text.as_bytes(), MAY);
    // Hidden versions are uploaded again, because the import cannot see that they exist.
    assert_eq!(import(&world, "maven", folder.path(), "trees"), [0, 1, 1, 0, 0]);
    world.anon().file("trees", path).expect(200);
    assert_eq!(import(&world, "maven", folder.path(), "trees"), [0, 1, 0, 1, 0]);
}
