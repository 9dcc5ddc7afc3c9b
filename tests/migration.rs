//! Moving in and out: one command imports the data of another server, another exports it byte for byte. An interrupted
//! command can be continued.

use crate::world::{FIRST, Gem, Index, World, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use store::{Batch, Change, JournalReads as _, SettingReads as _, Sqlite, Transactions as _, UnitReads as _};
use tempfile::TempDir;

fn put(folder: &Path, file: &str, bytes: &[u8]) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The command, with an admin token.
fn daylight(world: &World, arguments: &[&str]) -> Command {
    world.command(arguments)
}

fn run(world: &World, arguments: &[&str]) -> Output {
    daylight(world, arguments).output().unwrap()
}

#[track_caller]
fn json(world: &World, arguments: &[&str]) -> serde_json::Value {
    let said = run(world, &[arguments, &["--json"]].concat());
    assert!(said.status.success(), "{said:?}");
    serde_json::from_slice(&said.stdout).unwrap()
}

fn import(world: &World, folder: &Path) -> Output {
    run(world, &["import", "gems", folder.to_str().unwrap(), "--into", FIRST])
}

/// Every file of a folder by its name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
    fs::read_dir(folder).unwrap().map(|entry| file(entry.unwrap())).collect()
}

#[test]
fn what_is_imported_is_exported_byte_for_byte_and_nothing_is_sent_twice() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    let (gems, out) = (folder.path().join("gems"), folder.path().join("out"));
    for version in ["10.0", "9.0", "1.0.rc1", "1.0"] {
        put(&gems, &format!("lamp-{version}.gem"), &Gem::new("lamp", version).needs("oil", ">= 1").bytes());
    }
    put(&gems, "lamp-1.0-java.gem", &Gem::new("lamp", "1.0").platform("java").bytes());
    put(&gems, "oil-1.0.gem", &Gem::new("oil", "1.0").payload(&vec![7; 300_000]).bytes());
    let published = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_460_000_000);
    std::fs::File::options().write(true).open(gems.join("oil-1.0.gem")).unwrap().set_modified(published).unwrap();
    let before = contents(&gems);
    let (gems, out) = (gems.to_str().unwrap(), out.to_str().unwrap());

    let first = json(&world, &["import", "gems", gems, "--into", FIRST]);
    assert_eq!((&first["uploaded"], &first["there"]), (&6.into(), &0.into()));
    let second = json(&world, &["import", "gems", gems, "--into", FIRST]);
    assert_eq!((&second["uploaded"], &second["there"]), (&0.into(), &6.into()));
    let info = world.anon().get(&format!("/repository/{FIRST}/info/lamp")).expect(200);
    let versions: Vec<&str> = info.text().lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(versions, ["1.0.rc1", "1.0", "1.0-java", "9.0", "10.0"], "the order in which they came to be");

    let exported = json(&world, &["export", FIRST, out]);
    assert_eq!((&exported["written"], &exported["there"]), (&6.into(), &0.into()));
    assert!(contents(Path::new(out)) == before, "other bytes, or other names");
    assert_eq!(Path::new(out).join("oil-1.0.gem").metadata().unwrap().modified().unwrap(), published);
    let again = json(&world, &["export", FIRST, out]);
    assert_eq!((&again["written"], &again["there"]), (&0.into(), &6.into()));
    assert!(run(&world, &["check", "--index"]).status.success());
}

#[test]
fn files_that_are_refused_are_named_with_the_reason_and_the_others_are_in() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.admin().push(FIRST, &Gem::new("lamp", "1.0")).expect(200);
    put(folder.path(), "lamp-1.0.gem", &Gem::new("lamp", "1.0").payload(b"other bytes").bytes());
    put(folder.path(), "sub/lamp-1.1.gem", &Gem::new("lamp", "1.1").bytes());
    put(folder.path(), "sub/broken-1.gem", b"this is no archive");
    let said = import(&world, folder.path());
    let text = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.status.code(), Some(1));
    assert!(text.contains("refused: ") && text.contains("sub/broken-1.gem: "), "{text}");
    assert!(text.contains("lamp-1.0.gem: Repushing of gem versions is not allowed"), "{text}");
    assert!(text.contains("uploaded 1 gems"), "{text}");
    let index = Index::read(&world.anon(), FIRST);
    assert_eq!(index.offered.len(), 2, "{index:?}");
    let nowhere = run(&world, &["import", "gems", folder.path().to_str().unwrap(), "--into", "nowhere"]);
    assert!(String::from_utf8(nowhere.stderr).unwrap().contains("hint: "));
}

#[test]
fn the_data_of_a_gemstash_comes_in_without_what_was_yanked_there() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    put(folder.path(), "metadata.yml", b"---\n:storage_version: 1\n:gemstash_version: 2.8.0\n");
    for (version, indexed) in [("1.0", true), ("1.1", false)] {
        let resource =
            format!("private/gems/l/a/m/lamp_{}-0cc175b9c0f1b6a831c399e269772661", version.replace('.', "_"));
        let properties = format!("---\n:gemstash_resource_version: 1\n:indexed: {indexed}\n");
        put(folder.path(), &format!("{resource}/gem"), &Gem::new("lamp", version).bytes());
        put(folder.path(), &format!("{resource}/properties.yaml"), properties.as_bytes());
    }
    let said = json(&world, &["import", "gems", folder.path().to_str().unwrap(), "--into", FIRST]);
    assert_eq!((&said["source"], &said["yanked"]), (&"the data of a Gemstash".into(), &1.into()));
    let offered: Vec<_> = Index::read(&world.anon(), FIRST).offered.into_keys().collect();
    assert_eq!(offered, [("lamp".to_owned(), "1.0".to_owned())]);
}

#[test]
fn an_import_that_is_killed_goes_on_where_it_was() {
    const GEMS: usize = 120;
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    for number in 0..GEMS {
        let gem = Gem::new(&format!("lamp{}", number % 12), &format!("1.{number}"));
        put(folder.path(), &gem.file(), &gem.bytes());
    }
    let mut first = daylight(&world, &["import", "gems", folder.path().to_str().unwrap(), "--into", FIRST]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lines = || world.anon().get(&format!("/repository/{FIRST}/versions")).expect(200).text().lines().count() - 2;
    while lines() < 10 {
        assert!(first.try_wait().unwrap().is_none_or(|status| status.success()), "it failed by itself");
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let there = lines();
    let said = json(&world, &["import", "gems", folder.path().to_str().unwrap(), "--into", FIRST]);
    let [uploaded, found] = ["uploaded", "there"].map(|key| said[key].as_u64().unwrap() as usize);
    // Files that the server had received when the importer was killed may be committed after the count.
    assert!(found >= there && found + uploaded == GEMS, "{there} were there, then {said}");
    let index = Index::read(&world.anon(), FIRST);
    assert_eq!(index.offered.len(), GEMS);
    index.download(&world.anon(), FIRST);
}

#[test]
fn a_private_repository_is_exported_by_who_may_read_it_and_other_files_are_left_alone() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.repository("vault", true);
    let gem = Gem::new("secret", "1.0");
    world.admin().push("vault", &gem).expect(200);
    let out = folder.path().to_str().unwrap();
    let stranger = daylight(&world, &["export", "vault", out]).env_remove("DAYLIGHT_TOKEN").output().unwrap();
    assert!(
        !stranger.status.success() && String::from_utf8(stranger.stderr).unwrap().contains("hint: set DAYLIGHT_TOKEN")
    );
    assert!(run(&world, &["export", "vault", out]).status.success());
    assert_eq!(contents(folder.path()), BTreeMap::from([(gem.file(), gem.bytes())]));

    write(&folder.path().join(gem.file()), "mine");
    assert_eq!(run(&world, &["export", "vault", out]).status.code(), Some(1));
    assert_eq!(contents(folder.path())[&gem.file()], b"mine");
}

#[test]
fn an_index_that_disagrees_with_itself_is_found() {
    let mut world = World::start();
    for version in ["1.0", "1.1"] {
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
        world.admin().push(FIRST, &Gem::new("oil", version)).expect(200);
    }
    let checked = json(&world, &["check", "--index", FIRST]);
    let checked = &checked["repositories"][0];
    assert_eq!((&checked["names"], &checked["versions"]), (&2.into(), &4.into()));

    // A line whose digest differs from that of `/info`, as if it had been rendered at the wrong moment.
    world.stop();
    let mut truth = Sqlite::writer(&world.data().join("truth.sqlite")).unwrap();
    let named = |(_, record): &(_, store::RepositoryRecord)| record.name == FIRST;
    let (id, _) = truth.repositories().unwrap().into_iter().find(named).unwrap();
    let unit = truth.unit(id, "lamp").unwrap();
    let mut entry = unit.entries[1].clone();
    entry.line = Some(format!("lamp -1.1,1.1 {}", "0".repeat(32)));
    let changes = vec![Change::Entry { repository: id, entry }];
    let (by, from, at) = ("test".into(), "cli".into(), truth.last_moment().unwrap().unwrap());
    truth.commit_batches(&[Batch { by, from, at, changes, ..Batch::default() }]).unwrap().remove(0).unwrap();
    drop(truth);
    world.resume();

    let said = run(&world, &["check", "--index", FIRST]);
    let text = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.status.code(), Some(1), "{text}");
    assert!(text.contains("the /info of `lamp` has the MD5") && !text.contains("`oil`"), "{text}");
}
