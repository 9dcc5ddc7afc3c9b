//! Backups of a running server. A backup that is killed at any moment leaves the one before or a new one, and a
//! restored folder answers every URL with the same bytes. `DAYLIGHT_BACKUPS` sets how many are killed; the default is
//! 6.

use crate::rebuild::{everything, filled};
use crate::world::{FIRST, Gem, Person, World, program};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// A folder beside the data folder, so that its blobs are hard links.
fn target(world: &World) -> PathBuf {
    world.data().with_file_name("backup")
}

fn command(arguments: &[&str], target: &Path, data: &Path) -> Command {
    let mut command = program(arguments);
    command.arg(target).arg("--data").arg(data);
    command
}

fn run(arguments: &[&str], target: &Path, data: &Path) -> Output {
    command(arguments, target, data).output().unwrap()
}

#[track_caller]
fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn check(folder: &Path) {
    said(&program(&["check", "--verify", "--data"]).arg(folder).output().unwrap());
}

/// Replaces the data folder of a stopped server by the backup.
fn replace_by_backup(world: &World) -> String {
    std::fs::rename(world.data(), world.data().with_file_name("before")).unwrap();
    said(&run(&["restore"], &target(world), &world.data()))
}

#[test]
fn a_folder_restored_from_a_backup_answers_every_url_with_the_same_bytes() {
    let mut world = filled();
    let (target, before) = (target(&world), everything(&world));
    let first = said(&run(&["backup"], &target, &world.data()));
    let figures: Vec<u64> = first.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    let [seq, blobs, bytes, new] = figures[..] else { panic!("{first}") };
    let expected = format!("backed up through change {seq}: {blobs} blobs, {bytes} bytes, {new} new\n");
    assert_eq!((first, bytes), (expected, new));
    check(&target);
    world.stop();
    let json = run(&["backup", "--json"], &target, &world.data());
    let second: serde_json::Value = serde_json::from_str(&said(&json)).unwrap();
    assert_eq!((&second["seq"], &second["blobs"], &second["new_bytes"]), (&seq.into(), &blobs.into(), &0.into()));
    let restored = replace_by_backup(&world);
    assert!(restored.starts_with(&format!("restored through change {seq} of 2")), "{restored}");
    check(&world.data());
    world.resume();
    assert_eq!(everything(&world), before);
    // The backup has a copy of the journal, so the restored folder is the same even without the database.
    world.kill();
    for file in world.files() {
        if file.file_name().unwrap().to_str().unwrap().starts_with("truth") {
            std::fs::remove_file(file).unwrap();
        }
    }
    assert!(world.run("rebuild").status.success());
    world.resume();
    assert_eq!(everything(&world), before);
    assert!(!run(&["restore"], &target, &world.data()).status.success(), "the folder is not empty");
}

#[test]
fn a_restore_that_verifies_names_what_is_damaged_in_the_backup_and_the_next_backup_mends_that() {
    let mut world = filled();
    let (target, data) = (target(&world), world.data());
    said(&run(&["backup"], &target, &data));
    world.stop();
    let digest = Path::new("blobs/sha256");
    let first = |folder: &Path| std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let blob = first(&first(&first(&target.join(digest))));
    let mut bytes = std::fs::read(&blob).unwrap();
    bytes[0] ^= 1;
    // A new file replaces the link; the old file also belongs to the data folder.
    std::fs::remove_file(&blob).unwrap();
    std::fs::write(&blob, bytes).unwrap();
    let again = data.with_file_name("again");
    // The bytes are compared without the flag, too.
    assert_eq!(run(&["restore"], &target, &again).status.code(), Some(1));
    std::fs::remove_dir_all(&again).unwrap();
    let refused = run(&["restore", "--verify"], &target, &again);
    let name = blob.file_name().unwrap().to_str().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let [out, err] = [&refused.stdout, &refused.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(out.contains(name) && err.contains("hint: delete the damaged files in the backup"), "{out}{err}");
    std::fs::remove_dir_all(&again).unwrap();
    std::fs::remove_file(&blob).unwrap();
    said(&run(&["backup"], &target, &data));
    assert!(said(&run(&["restore", "--verify"], &target, &again)).contains("every byte matches its digest"));
}

/// Pushes one gem after the other until `over`. Every push is answered.
fn load(person: &Person, over: &AtomicBool, pushed: &AtomicU32) {
    let mut connection = person.connect().unwrap();
    for number in 0.. {
        if over.load(SeqCst) {
            return;
        }
        let gem = Gem::new("lamp", &format!("1.0.{number}")).payload(&vec![number as u8; 10_000]);
        person.push_on(&mut connection, FIRST, &gem.bytes()).unwrap().expect(200);
        pushed.store(number + 1, SeqCst);
    }
}

#[test]
fn a_backup_that_is_killed_at_any_moment_leaves_the_one_before_or_a_new_one() {
    let kills = std::env::var("DAYLIGHT_BACKUPS").map_or(6, |count| count.parse().unwrap());
    let mut world = World::start();
    let (target, data) = (target(&world), world.data());
    let (over, pushed) = (&AtomicBool::new(false), &AtomicU32::new(0));
    let person = world.admin();
    let mut kept = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| load(&person, over, pushed));
        let mut whole = Duration::from_millis(50);
        for round in 0..kills {
            let part = RandomState::new().hash_one(round) % 1000;
            let mut backup = command(&["backup"], &target, &data).stdout(Stdio::null()).spawn().unwrap();
            let end = Instant::now() + whole * u32::try_from(part).unwrap() / 800;
            while Instant::now() < end && backup.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            backup.kill().unwrap();
            backup.wait().unwrap();
            if target.join("truth.sqlite").exists() {
                check(&target);
                kept += 1;
            }
            if round % 5 == 1 {
                let began = Instant::now();
                said(&run(&["backup"], &target, &data));
                whole = began.elapsed();
                check(&target);
            }
        }
        over.store(true, SeqCst);
    });
    assert!(pushed.load(SeqCst) > 0 && kept > 0);
    said(&run(&["backup"], &target, &data));
    let paths: Vec<_> =
        (0..pushed.load(SeqCst)).map(|n| format!("/repository/{FIRST}/gems/lamp-1.0.{n}.gem")).collect();
    let seen = |world: &World| paths.iter().map(|path| world.anon().get(path).expect(200).body).collect::<Vec<_>>();
    let before = seen(&world);
    world.stop();
    replace_by_backup(&world);
    check(&world.data());
    world.resume();
    assert!(seen(&world) == before);
    println!("{kills} backups killed beside {} pushes", paths.len());
}

#[test]
fn an_upgrade_is_rehearsed_beside_a_server_and_an_interrupted_rehearsal_leaves_nothing() {
    let world = filled();
    let data = world.data();
    let upgrade = |flags: &[&str]| {
        let mut upgrade = program(&["upgrade"]);
        upgrade.args(flags).arg("--data").arg(&data);
        upgrade
    };
    let rehearsed: serde_json::Value =
        serde_json::from_str(&said(&upgrade(&["--rehearse", "--json"]).output().unwrap())).unwrap();
    assert_eq!(
        (&rehearsed["form_after"], &rehearsed["differing"]),
        (&rehearsed["form_before"], &serde_json::json!([]))
    );
    assert!(!data.join("rehearsal").exists());
    let refused = upgrade(&[]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8(refused.stderr).unwrap().contains("hint: try it with `daylight upgrade --rehearse`"));
    let mut interrupted = upgrade(&["--rehearse"]).stdout(Stdio::null()).spawn().unwrap();
    while !data.join("rehearsal").exists() && interrupted.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(&interrupted), rustix::process::Signal::INT);
    interrupted.wait().unwrap();
    assert!(!data.join("rehearsal").exists());
}

#[test]
fn a_restore_takes_regular_files_of_the_named_bytes_only_and_reads_nothing_outside_the_backup() {
    let mut world = filled();
    let (target, data) = (target(&world), world.data());
    said(&run(&["backup"], &target, &data));
    world.stop();
    let (outside, again) = (data.with_file_name("outside"), data.with_file_name("again"));
    std::fs::create_dir(&outside).unwrap();
    let mut blobs: Vec<_> = files_below(&target.join("blobs/sha256"));
    blobs.sort();
    let [linked, piped, longer, other, ..] = &blobs[..] else { panic!("{blobs:?}") };
    let bytes = std::fs::read(linked).unwrap();
    // The link leads to the right bytes, which are nevertheless not in the backup.
    std::fs::write(outside.join("secret"), &bytes).unwrap();
    for blob in [linked, piped, longer, other] {
        std::fs::remove_file(blob).unwrap();
    }
    std::os::unix::fs::symlink(outside.join("secret"), linked).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, piped, mode).unwrap();
    // A file of the size of a disk, of which no byte is read.
    std::fs::File::create(longer).unwrap().set_len(1 << 40).unwrap();
    std::fs::write(other, &bytes).unwrap();
    let segment = files_below(&target.join("segments")).pop().unwrap();
    std::fs::rename(&segment, outside.join("segment")).unwrap();
    std::os::unix::fs::symlink(outside.join("segment"), &segment).unwrap();
    let refused = run(&["restore"], &target, &again);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let text = String::from_utf8_lossy(&refused.stdout).into_owned();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let irregular = "it is not a regular file, or a symbolic link is on the way to it";
    for (file, why) in [
        (linked, irregular),
        (piped, irregular),
        (longer, "it has 1099511627776 bytes in place of"),
        (other, "it"),
        (&segment, irregular),
    ] {
        let line = text.lines().find(|line| line.contains(&name(file))).unwrap_or_else(|| panic!("{text}"));
        assert!(line.contains(why), "{line}");
        let restored = again.join(file.strip_prefix(&target).unwrap());
        assert!(std::fs::symlink_metadata(&restored).is_err(), "{}", restored.display());
    }
    let checked = program(&["check", "--verify", "--data"]).arg(&target).output();
    assert_eq!(checked.unwrap().status.code(), Some(1));
    std::fs::remove_dir_all(&again).unwrap();

    // A folder on the way, the database, and the lock.
    for part in ["blobs", "truth.sqlite", "daylight.lock"] {
        let (inside, elsewhere) = (target.join(part), outside.join(part));
        std::fs::rename(&inside, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &inside).unwrap();
        let refused = run(&["restore"], &target, &again);
        assert_eq!(refused.status.code(), Some(1), "{part}: {refused:?}");
        assert!(files_below(&again.join("blobs")).is_empty(), "{part}");
        let _ = std::fs::remove_dir_all(&again);
        std::fs::remove_file(&inside).unwrap();
        std::fs::rename(&elsewhere, &inside).unwrap();
    }
}

/// The files in a folder and in those below it.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(names) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = names.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
