//! Damaged bytes of cached files are not served for long.

use super::{Scene, bytes};
use crate::world::{Says, hex, program};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Far more answers than one check of a file takes.
const TRIES: usize = 10_000;
/// A file of this size is checked after it was answered.
const LARGE: usize = 17 << 20;

fn path(name: &str) -> String {
    format!("org/example/{name}/1.0/{name}-1.0.jar")
}

/// Changes the bytes of a file on the disk, if they are there.
fn overwrite(scene: &Scene, bytes: &[u8], with: &[u8]) -> bool {
    let digest = Sha256::digest(bytes);
    let database = rusqlite::Connection::open(scene.world.data().join("cache.sqlite")).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    let sql = "UPDATE small SET bytes = ? WHERE sha256 = ?";
    if database.execute(sql, rusqlite::params![with, &digest[..]]).unwrap() == 1 {
        return true;
    }
    let name = hex(&digest);
    let found = scene.world.files().into_iter().find(|file| file.ends_with(&name));
    let open = |found| File::options().write(true).open(scene.world.data().join(found)).unwrap();
    found.map(open).is_some_and(|file| file.write_all_at(with, 0).is_ok())
}

/// Inverts a bit in the middle of a file.
fn flip(scene: &Scene, bytes: &[u8]) {
    let mut flipped = bytes.to_vec();
    flipped[bytes.len() / 2] ^= 1;
    assert!(overwrite(scene, bytes, &flipped));
}

/// Caches a file of this size.
fn keep(scene: &Scene, name: &str, len: usize) -> Vec<u8> {
    let whole = [name.as_bytes(), &bytes(len)].concat();
    scene.upstream.says(&format!("/{}", path(name)), Says::bytes(whole.clone()));
    assert!(scene.get(&path(name)).expect(200).body == whole);
    // Until the file is cached, answers come from the upstream.
    let kept = (0..TRIES).find(|_| scene.get(&path(name)).header("x-checksum-sha1").is_some());
    assert!(kept.is_some(), "{name} is never kept");
    // The answer does not wait until the file is in its place. An answer with figures does, for a moment.
    let settled = || scene.world.admin().get("/api/v1/repositories").expect(200);
    assert!((0..TRIES).any(|_| settled().status == 200 && overwrite(scene, &whole, &whole)), "{name} is never written");
    whole
}

#[test]
fn a_kept_file_whose_bytes_changed_on_the_disk_is_fetched_again_and_the_log_says_so() {
    let scene = Scene::at_any_time();
    scene.world.set_time("2026-11-01T12:00:00Z");
    let files =
        [("small", 10), ("medium", 300_000), ("large", LARGE)].map(|(name, len)| (name, keep(&scene, name, len)));
    let good = keep(&scene, "good", 300_000);
    files.iter().for_each(|(_, whole)| flip(&scene, whole));
    scene.world.set_time("2026-11-02T12:00:01Z");
    for (name, whole) in &files {
        // The large file is checked after its first answer.
        let tries = if *name == "large" { TRIES } else { 1 };
        assert!((0..tries).any(|_| scene.get(&path(name)).expect(200).body == *whole), "{name}");
        assert_eq!(scene.asked(&path(name)), 2, "{name}");
    }
    assert!(scene.get(&path("good")).expect(200).body == good);
    assert_eq!(scene.asked(&path("good")), 1);
    let log = scene.world.log();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("a cached file of an upstream is damaged")).collect();
    assert_eq!(lines.len(), 3, "{log}");
    for (name, whole) in &files {
        let line = lines.iter().find(|line| line.contains(&path(name))).unwrap();
        assert!(line.contains("repository=central") && line.contains(&hex(&Sha256::digest(whole))), "{line}");
    }
}

#[test]
fn check_reads_a_sample_of_what_is_kept_of_upstreams_and_all_of_it_if_asked() {
    let mut scene = Scene::new();
    let medium = keep(&scene, "medium", 300_000);
    let large = keep(&scene, "large", LARGE);
    scene.world.stop();
    let check = |flags: &[&str]| {
        let told = program(&["check"]).args(flags).arg("--data").arg(scene.world.data()).output().unwrap();
        (told.status.code(), String::from_utf8(told.stdout).unwrap() + &String::from_utf8(told.stderr).unwrap())
    };
    let (code, told) = check(&["--verify"]);
    assert!(code == Some(0) && told.contains("read 2 of 2 cached files of upstreams"), "{told}");
    flip(&scene, &large);
    let (code, told) = check(&[]);
    assert!(code == Some(0) && told.contains("read 1 of 2 cached files of upstreams"), "{told}");
    flip(&scene, &medium);
    for (flags, damaged) in
        [(&[][..], &[("medium", &medium)][..]), (&["--verify"], &[("medium", &medium), ("large", &large)])]
    {
        let (code, told) = check(flags);
        assert_eq!(code, Some(1), "{told}");
        for (name, whole) in damaged {
            let line = format!("the cached file `{}` of `{}`", hex(&Sha256::digest(whole)), path(name));
            assert!(told.contains(&line), "{told}");
        }
        assert!(told.contains("fetches a damaged cached file again"), "{told}");
    }
    // A start without knowledge checks the files that it opens.
    scene.world.resume();
    assert!(scene.get(&path("medium")).expect(200).body == medium);
    assert_eq!(scene.asked(&path("medium")), 2);
}
