//! What is kept of an upstream has bounds, and is found again as it was.

use super::{Scene, at, bytes};
use serde_json::json;

fn path(name: &str) -> String {
    format!("org/example/{name}/1.0/{name}-1.0.jar")
}

#[test]
fn of_more_than_fits_what_was_used_longest_ago_goes() {
    let mut scene = Scene::with(&json!({"max_bytes": 16 << 20}));
    for name in ["a", "b", "c"] {
        scene.upstream.file(&format!("/{}", path(name)), [name.as_bytes(), &bytes(7 << 20)].concat());
        scene.get(&path(name)).expect(200);
    }
    // A server that has one open goes on with it.
    scene.world.stop();
    scene.world.resume();
    for (name, asked) in [("c", 1), ("b", 1), ("a", 2)] {
        scene.get(&path(name)).expect(200);
        assert_eq!(scene.asked(&path(name)), asked, "{name}");
    }
}

#[test]
fn a_file_that_was_lost_or_cut_on_the_disk_is_fetched_again() {
    let mut scene = Scene::new();
    let whole = bytes(300_000);
    scene.upstream.file(&format!("/{}", path("a")), whole.clone());
    scene.get(&path("a")).expect(200);
    for (length, asked) in [(Some(1000), 2), (None, 3)] {
        // A server that has it open goes on with what it has.
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

#[test]
fn parts_of_what_is_kept_are_given_as_they_are_asked_for() {
    let scene = Scene::new();
    let whole = bytes(300_000);
    scene.upstream.file(&format!("/{}", path("a")), whole.clone());
    scene.get(&path("a")).expect(200);
    let part = scene.client().ask("GET", &at(&path("a")), &[("Range", "bytes=1000-1999")], b"").expect(206);
    assert!(part.body == whole[1000..2000]);
    let etag = part.header("etag").unwrap().to_owned();
    scene.client().ask("GET", &at(&path("a")), &[("If-None-Match", &etag)], b"").expect(304);
}

/// Every file below a folder.
fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
