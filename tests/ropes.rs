//! Large indexes: a change costs its own size, they are saved and read back, they can be compacted, and they never
//! differ from the acknowledged state.

use crate::world::{Answer, FIRST, Gem, Index, Person, Ruby, World, hex};
use flate2::read::GzDecoder;
use md5::{Digest, Md5};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::io::Read;
use std::path::{Path, PathBuf};

const GZIP: (&str, &str) = ("Accept-Encoding", "gzip;q=1.0,deflate;q=0.6,identity;q=0.3");
/// Number of gems whose lines exceed one piece of `/versions`.
const GEMS: usize = 300;
const FILES: [&str; 5] = ["versions", "names", "specs.4.8.gz", "latest_specs.4.8.gz", "prerelease_specs.4.8.gz"];

fn path(what: &str) -> String {
    format!("/repository/{FIRST}/{what}")
}

/// A long name, so that a few lines have many bytes.
fn name(at: usize) -> String {
    format!("{}-{at}", "lamp".repeat(50))
}

pub(crate) fn grown() -> World {
    let world = World::start();
    let admin = world.admin();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let admin = &admin;
            scope.spawn(move || {
                let connection = &mut admin.connect().unwrap();
                for at in (part..GEMS).step_by(4) {
                    admin.push_on(connection, FIRST, &Gem::new(&name(at), "1.0.0").bytes()).unwrap().expect(200);
                }
            });
        }
    });
    world
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut whole).unwrap();
    whole
}

fn tag(body: &[u8]) -> String {
    format!("\"{}\"", hex(&Md5::digest(body)))
}

/// The content of all large indexes.
fn said(person: &Person) -> Vec<(&'static str, Vec<u8>)> {
    let one = |what: &'static str| {
        let body = person.get(&path(what)).expect(200).body;
        (what, if what.ends_with(".gz") { unpacked(&body) } else { body })
    };
    FILES.map(one).into()
}

fn compact(world: &World) -> Answer {
    world.admin().ask("POST", &format!("/api/v1/repositories/{FIRST}/compact"), &[], b"")
}

fn index_files(world: &World) -> Vec<PathBuf> {
    world.files().into_iter().filter(|path| path.iter().any(|part| part == "indexes")).collect()
}

#[test]
fn a_large_index_comes_in_every_form_and_a_push_costs_whoever_has_the_rest_a_line() {
    let world = grown();
    let (admin, anon) = (world.admin(), world.anon());
    let versions = path("versions");
    let plain = anon.get(&versions).expect(200);
    assert!(plain.body.len() > 64 << 10, "{}", plain.body.len());
    assert_eq!(plain.header("etag"), Some(&*tag(&plain.body)));
    let packed = anon.ask("GET", &versions, &[GZIP], b"").expect(200);
    assert_eq!((packed.header("content-encoding"), packed.header("vary")), (Some("gzip"), Some("accept-encoding")));
    assert!(packed.body.len() < plain.body.len() && unpacked(&packed.body) == plain.body);
    assert_eq!(packed.header("etag"), Some(&*format!("W/{}", tag(&plain.body))));
    assert_eq!(packed.header("repr-digest"), plain.header("repr-digest"));
    for (headers, answer) in [(&[][..], &plain), (&[GZIP], &packed)] {
        let head = anon.ask("HEAD", &versions, headers, b"").expect(200);
        assert_eq!(head.header("content-length"), Some(&*answer.body.len().to_string()));
    }
    let held = tag(&plain.body);
    anon.ask("GET", &versions, &[GZIP, ("If-None-Match", &held)], b"").expect(304);

    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    let now = anon.get(&versions).expect(200);
    for overlap in 0..2 {
        let range = format!("bytes={}-", plain.body.len() - overlap);
        let tail = anon.ask("GET", &versions, &[("Range", &range), ("If-None-Match", &held)], b"").expect(206);
        assert!(tail.body.len() <= 1024, "{} bytes for a push", tail.body.len());
        assert!([&plain.body[..plain.body.len() - overlap], &tail.body].concat() == now.body);
        assert_eq!(tail.header("etag"), Some(&*tag(&now.body)));
        assert_eq!(tail.header("repr-digest"), now.header("repr-digest"));
    }
    // Another file of that length, and one that is longer than ours.
    for (from, held) in [(plain.body.len() - 1, tag(b"another")), (now.body.len() + 5, held)] {
        let range = format!("bytes={from}-");
        let whole = anon.ask("GET", &versions, &[("Range", &range), ("If-None-Match", &held)], b"").expect(200);
        assert!(whole.body == now.body);
    }
    assert_eq!(Index::read(&anon, FIRST).offered.len(), GEMS + 1);
}

#[test]
fn large_indexes_come_back_from_their_files_and_none_that_is_wrong_is_believed() {
    let mut world = grown();
    let before = said(&world.anon());
    world.stop();
    let files = index_files(&world);
    let names: Vec<_> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["names", "specs", "versions"]);
    world.resume();
    assert!(said(&world.anon()) == before, "after a stop");

    // Changes after the last save are in no file.
    let admin = world.admin();
    admin.push(FIRST, &Gem::new("oil", "1.0.0.pre")).expect(200);
    admin.push(FIRST, &Gem::new(&name(7), "0.9.0")).expect(200);
    admin.yank(FIRST, &name(8), "1.0.0").expect(200);
    let after = said(&world.anon());
    assert!(after.iter().zip(&before).all(|(after, before)| after != before));
    world.kill();
    world.resume();
    assert!(said(&world.anon()) == after, "after a kill");

    for damage in [|bytes: &mut Vec<u8>| bytes.truncate(100), |bytes: &mut Vec<u8>| *bytes.last_mut().unwrap() ^= 1] {
        world.stop();
        for file in index_files(&world) {
            let mut bytes = std::fs::read(&file).unwrap();
            damage(&mut bytes);
            std::fs::write(&file, bytes).unwrap();
        }
        world.resume();
        assert!(said(&world.anon()) == after, "after damage");
    }
    Index::read(&world.anon(), FIRST);
}

#[test]
fn files_of_a_history_that_was_taken_back_are_not_believed() {
    let mut world = grown();
    said(&world.anon());
    world.stop();
    let (data, backup) = (world.data(), world.data().with_extension("backup"));
    copy(&data, &backup);
    world.resume();
    world.admin().push(FIRST, &Gem::new("lost", "1.0.0")).expect(200);
    said(&world.anon());
    world.stop();
    let files = index_files(&world);
    let later: Vec<_> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();

    std::fs::remove_dir_all(&data).unwrap();
    copy(&backup, &data);
    files.iter().zip(later).for_each(|(file, bytes)| std::fs::write(file, bytes).unwrap());
    world.resume();
    // The same number of changes, but other ones.
    world.admin().push(FIRST, &Gem::new("found", "1.0.0")).expect(200);
    let index = Index::read(&world.anon(), FIRST);
    assert!(index.names.contains("found") && !index.names.contains("lost"));
    let specs = said(&world.anon()).remove(2).1;
    let tells = |name: &[u8]| specs.windows(name.len()).any(|part| part == name);
    assert!(tells(b"found") && !tells(b"lost"));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to) } else { assert!(std::fs::copy(entry.path(), to).is_ok()) }
    }
}

#[test]
fn a_list_that_is_begun_anew_has_a_line_for_each_gem_and_stays_so_for_ever() {
    let mut world = World::start();
    let admin = world.admin();
    for (name, version) in
        [("oil", "1.0.0"), ("lamp", "1.0.0"), ("lamp", "1.10.0"), ("wick", "1.0.0"), ("lamp", "1.2.0")]
    {
        admin.push(FIRST, &Gem::new(name, version)).expect(200);
    }
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    admin.yank(FIRST, "oil", "1.0.0").expect(200);
    let offered = Index::read(&admin, FIRST).offered;
    let old = admin.get(&path("versions")).expect(200);
    world.anon().ask("POST", &format!("/api/v1/repositories/{FIRST}/compact"), &[], b"").expect(401);
    compact(&world).expect(200);

    let new = admin.get(&path("versions")).expect(200);
    let lines: Vec<_> = new.text().lines().skip(2).map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect();
    assert_eq!(lines, ["lamp 1.10.0,1.2.0", "wick 1.0.0"]);
    assert_eq!(Index::read(&admin, FIRST).offered, offered);
    assert_eq!(admin.get(&path("info/oil")).expect(200).text(), "---\n");
    let range = format!("bytes={}-", old.body.len() - 1);
    let asked = [("Range", &*range), ("If-None-Match", old.header("etag").unwrap())];
    assert_eq!(admin.ask("GET", &path("versions"), &asked, b"").expect(200).body, new.body);

    admin.push(FIRST, &Gem::new("oil", "1.0.1")).expect(200);
    let grown = admin.get(&path("versions")).expect(200);
    assert!(grown.body.starts_with(&new.body) && grown.text().ends_with('\n'));
    assert_eq!(grown.text().lines().count(), 5);
    world.kill();
    world.resume();
    assert_eq!(world.admin().get(&path("versions")).expect(200).body, grown.body, "after a kill");
    world.stop();
    assert!(world.run("rebuild").status.success());
    index_files(&world).iter().for_each(|file| std::fs::remove_file(file).unwrap());
    world.resume();
    assert_eq!(world.admin().get(&path("versions")).expect(200).body, grown.body, "after a rebuild");
    compact(&world).expect(200);
    assert_eq!(Index::read(&world.admin(), FIRST).offered.len(), offered.len() + 1);
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Push(usize, u8),
    Yank(usize, u8),
    Look,
    Compact,
    Restart,
    Kill,
    Damage,
}

/// The content of the three files as Ruby reads them: the first and the last together have all versions, and the second
/// is a part of the first.
const OFFERED: &str = "
    all, latest, young = File.binread(ARGV[0]).split('|||').map { |file| Marshal.load([file].pack('H*')) }
    abort 'latest' unless latest == all.group_by { |name, _, platform| [name, platform] }.map { |_, of| of.max_by { |v| v[1] } }.sort
    (all + young).map { |name, version, _| puts \"#{name} #{version}\" }";

#[test]
fn whatever_happens_every_index_says_what_was_acknowledged() {
    let (name, version) = (0..6_usize, 0..5_u8);
    let step = prop_oneof![
        12 => (name.clone(), version.clone()).prop_map(|(name, version)| Step::Push(name, version)),
        5 => (name, version).prop_map(|(name, version)| Step::Yank(name, version)),
        4 => Just(Step::Look),
        2 => Just(Step::Compact),
        1 => Just(Step::Restart),
        1 => Just(Step::Kill),
        1 => Just(Step::Damage),
    ];
    let config = Config { cases: 5, failure_persistence: None, ..Config::default() };
    let (ruby, version) =
        (Ruby::new(), |version: u8| if version == 4 { "2.0.rc1".into() } else { format!("1.{version}") });
    let trial = |steps: Vec<Step>| {
        let mut world = World::start();
        for step in steps {
            let admin = world.admin();
            match step {
                // Refused by its state, present or missing.
                Step::Push(at, number) => drop(admin.push(FIRST, &Gem::new(&format!("gem{at}"), &version(number)))),
                Step::Yank(at, number) => drop(admin.yank(FIRST, &format!("gem{at}"), &version(number))),
                Step::Look => drop(said(&admin)),
                Step::Compact => drop(compact(&world).expect(200)),
                Step::Restart => {
                    world.stop();
                    world.resume();
                }
                Step::Kill => {
                    world.kill();
                    world.resume();
                }
                Step::Damage => {
                    world.stop();
                    for file in index_files(&world) {
                        let mut bytes = std::fs::read(&file).unwrap();
                        bytes.reverse();
                        std::fs::write(&file, bytes).unwrap();
                    }
                    world.resume();
                }
            }
        }
        let admin = world.admin();
        let index = Index::read(&admin, FIRST);
        let specs: Vec<String> = said(&admin)[2..].iter().map(|(_, bytes)| hex(bytes)).collect();
        let read = ruby.judge(specs.join("|||").as_bytes(), OFFERED);
        let mut read: Vec<&str> = read.lines().collect();
        read.sort_unstable();
        let offered: Vec<String> = index.offered.keys().map(|(name, version)| format!("{name} {version}")).collect();
        prop_assert_eq!(read, offered);
        // And all of it again from an empty folder.
        let before = said(&admin);
        world.stop();
        index_files(&world).iter().for_each(|file| std::fs::remove_file(file).unwrap());
        world.resume();
        prop_assert!(said(&world.admin()) == before);
        Ok(())
    };
    TestRunner::new(config).run(&prop::collection::vec(step, 1..40), trial).unwrap();
}
