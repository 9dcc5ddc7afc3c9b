//! The cache of an upstream is bounded, and cached files are unchanged when they are read back.

use super::{Scene, at, bytes};
use crate::world::{Says, Upstream};
use serde_json::json;

fn path(name: &str) -> String {
    format!("org/example/{name}/1.0/{name}-1.0.jar")
}

#[test]
fn of_more_than_fits_what_was_used_longest_ago_goes_and_a_file_that_would_have_most_others_go_is_not_kept() {
    const MIB: usize = 1 << 20;
    for (files, asked) in [
        (
            [("a", 7 * MIB / 2), ("b", 7 * MIB / 2), ("c", 7 * MIB / 2), ("d", 7 * MIB / 2), ("e", 7 * MIB / 2)],
            [2, 1, 1, 1, 1],
        ),
        ([("a", 3 * MIB), ("b", 3 * MIB), ("c", MIB), ("d", MIB), ("large", 12 * MIB)], [1, 1, 1, 1, 2]),
    ] {
        let mut scene = Scene::with(&json!({"max_bytes": 16 * MIB}));
        for (name, size) in files {
            scene.upstream.file(&format!("/{}", path(name)), [name.as_bytes(), &bytes(size)].concat());
            assert_eq!(scene.get(&path(name)).expect(200).body.len(), size + name.len());
        }
        // A server that has a file open continues to serve it.
        scene.world.stop();
        scene.world.resume();
        // The youngest first: a file that is fetched again counts as new.
        for ((name, _), asked) in files.into_iter().zip(asked).rev() {
            scene.get(&path(name)).expect(200);
            assert_eq!(scene.asked(&path(name)), asked, "{name}");
        }
    }
}

#[test]
fn an_evicted_file_that_a_page_or_an_open_file_still_has_can_be_deleted() {
    const MIB: usize = 1 << 20;
    let scene = Scene::with(&json!({"max_bytes": 16 * MIB}));
    for (name, size) in [("small", 100), ("large", MIB)] {
        scene.upstream.file(&format!("/{}", path(name)), bytes(size));
        (0..2).for_each(|_| drop(scene.get(&path(name)).expect(200)));
    }
    for number in 0..6 {
        let name = format!("other{number}");
        scene.upstream.file(&format!("/{}", path(&name)), bytes(7 * MIB / 2));
        scene.get(&path(&name)).expect(200);
    }
    for name in ["small", "large"] {
        let contents = format!("/api/v1/repositories/central/contents/{}", path(name));
        assert!(scene.world.admin().ask("DELETE", &contents, &[], b"").expect(404).text().contains(&path(name)));
        scene.upstream.file(&format!("/{}", path(name)), "new");
        assert_eq!(scene.get(&path(name)).expect(200).text(), "new", "{name}");
    }
}

#[test]
fn a_repository_that_is_turned_to_another_upstream_answers_with_nothing_of_the_one_before() {
    let scene = Scene::new();
    let other = Upstream::start();
    let large = |with: &str| [with.as_bytes(), &bytes(300_000)].concat();
    scene.upstream.file(&format!("/{}", path("small")), "old");
    scene.upstream.file(&format!("/{}", path("large")), large("old"));
    scene.upstream.file(&format!("/{}", path("gone")), "old");
    other.file(&format!("/{}", path("small")), "new");
    other.file(&format!("/{}", path("large")), large("new"));
    other.file(&format!("/{}", path("missing")), "new");
    for _ in 0..3 {
        scene.get(&path("small")).expect(200);
        scene.get(&path("large")).expect(200);
        scene.get(&path("gone")).expect(200);
        scene.get(&path("missing")).expect(404);
    }
    let change = json!({"remote": {"urls": [other.url()]}, "keep_cached": false});
    scene.world.change("central", &change);
    for _ in 0..2 {
        assert_eq!(scene.get(&path("small")).expect(200).text(), "new");
        assert!(scene.get(&path("large")).expect(200).body == large("new"));
        assert_eq!(scene.get(&path("missing")).expect(200).text(), "new");
        scene.get(&path("gone")).expect(404);
    }
    assert_eq!(other.asked()[0].header("if-none-match"), None);
}

#[test]
fn what_arrives_from_a_former_upstream_is_given_to_nobody_who_asks_from_then_on() {
    let scene = Scene::new();
    let other = Upstream::start();
    other.file(&format!("/{}", path("a")), "new");
    scene.upstream.says(&format!("/{}", path("a")), Says::bytes("old").silent());
    std::thread::scope(|threads| {
        let client = scene.client();
        let waiting = threads.spawn(move || client.get(&at(&path("a"))));
        scene.upstream.await_count(&format!("/{}", path("a")), 1);
        let change = json!({"remote": {"urls": [other.url()]}});
        scene.world.change("central", &change);
        assert_eq!(scene.get(&path("a")).expect(200).text(), "new");
        scene.upstream.release(&format!("/{}", path("a")));
        assert_eq!(waiting.join().unwrap().expect(200).text(), "old");
    });
    assert_eq!(scene.get(&path("a")).expect(200).text(), "new");
    assert_eq!(other.count(&format!("/{}", path("a"))), 1);
}

#[test]
fn a_kept_file_is_given_in_parts_and_one_that_was_lost_or_cut_on_the_disk_is_fetched_again() {
    let mut scene = Scene::new();
    let whole = bytes(300_000);
    scene.upstream.file(&format!("/{}", path("a")), whole.clone());
    scene.get(&path("a")).expect(200);
    let part = scene.client().ask("GET", &at(&path("a")), &[("Range", "bytes=1000-1999")], b"").expect(206);
    assert!(part.body == whole[1000..2000]);
    let etag = part.header("etag").unwrap().to_owned();
    scene.client().ask("GET", &at(&path("a")), &[("If-None-Match", &etag)], b"").expect(304);
    for (length, asked) in [(Some(1000), 2), (None, 3)] {
        // A server that has the file open continues to serve it.
        scene.world.stop();
        let kept = files(&scene.world.data().join("cached"));
        assert_eq!(kept.len(), 1, "{kept:?}");
        match length {
            Some(length) => std::fs::File::options().write(true).open(&kept[0]).unwrap().set_len(length).unwrap(),
            None => std::fs::remove_file(&kept[0]).unwrap(),
        }
        scene.world.resume();
        assert!(scene.get(&path("a")).expect(200).body == whole);
        assert_eq!(scene.asked(&path("a")), asked);
    }
}

/// Every file below a folder.
fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
