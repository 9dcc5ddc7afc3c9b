//! The format of `/info` lines is a setting of a repository, and `/versions` matches it.

use crate::world::{FIRST, Gem, Index, World};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

#[test]
fn a_repository_of_the_older_form_tells_no_moments_its_sums_are_those_of_that_form_and_there_is_no_other() {
    let world = World::start();
    let admin = world.admin();
    let wanted = json!({ "name": "old", "format": "gem", "kind": "hosted", "info_format": "v1" });
    let made = admin.post_json("/api/v1/repositories", &wanted).expect(201).json();
    assert_eq!(made["info_format"], "v1");
    for repository in ["old", FIRST] {
        for gem in [Gem::new("lamp", "1.0.0"), Gem::new("lamp", "1.1.0"), Gem::new("oil", "1.0.0")] {
            admin.push(repository, &gem).expect(200);
        }
        admin.yank(repository, "lamp", "1.0.0").expect(200);
        Index::read(&world.anon(), repository).download(&world.anon(), repository);
    }
    let told = |repository: &str| {
        let info = world.anon().get(&format!("/repository/{repository}/info/lamp")).expect(200);
        info.text().contains("created_at:")
    };
    assert!(!told("old") && told(FIRST));
    let wanted = json!({ "name": "odd", "format": "gem", "kind": "hosted", "info_format": "v3" });
    let refused = admin.post_json("/api/v1/repositories", &wanted).expect(400).json();
    assert_eq!(refused["detail"], "there is no info format `v3`");
    assert_eq!(refused["hint"], "there are: v1, v2");
    admin.get("/api/v1/repositories/odd").expect(404);
}

/// A change depends on the settings, and is tried again if they have changed meanwhile.
#[test]
fn a_push_succeeds_however_often_the_settings_change_meanwhile() {
    let world = World::start();
    let (admin, done) = (world.admin(), AtomicBool::new(false));
    let path = format!("/api/v1/repositories/{FIRST}");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for on in [false, true].into_iter().cycle().take_while(|_| !done.load(SeqCst)) {
                admin.patch_json(&path, &json!({ "protocols": { "compact_index": on } })).expect(200);
            }
        });
        for number in 0..30 {
            let version = format!("1.0.{number}");
            admin.push(FIRST, &Gem::new("lamp", &version)).expect(200);
            admin.yank(FIRST, "lamp", &version).expect(200);
        }
        done.store(true, SeqCst);
    });
    world.change(FIRST, &json!({ "protocols": { "compact_index": true } }));
    Index::read(&world.anon(), FIRST);
}

/// No client may ever see an `/info` that does not match `/versions`.
#[test]
fn the_form_changes_while_gems_are_pushed_and_the_index_fits_before_and_after() {
    let mut world = World::start();
    let path = format!("/api/v1/repositories/{FIRST}");
    for gem in
        [Gem::new("lamp", "1.0.0"), Gem::new("lamp", "1.1.0"), Gem::new("oil", "1.0.0"), Gem::new("wick", "1.0.0")]
    {
        world.admin().push(FIRST, &gem).expect(200);
    }
    world.admin().yank(FIRST, "wick", "1.0.0").expect(200);
    let (admin, done) = (world.admin(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0..).take_while(|_| !done.load(SeqCst)) {
                admin.push(FIRST, &Gem::new("lamp", &format!("2.{number}"))).expect(200);
            }
            // A gem that was acknowledged after the last change of the format.
            admin.push(FIRST, &Gem::new("lamp", "3.0")).expect(200);
        });
        for form in ["v1", "v2", "v1"] {
            let changed = world.admin().patch_json(&path, &json!({ "info_format": form })).expect(200).json();
            assert_eq!(changed["info_format"], form);
            let oil = world.anon().get(&format!("/repository/{FIRST}/info/oil")).expect(200);
            assert_eq!(oil.text().contains("created_at:"), form == "v2");
        }
        done.store(true, SeqCst);
    });
    let before = Index::read(&world.anon(), FIRST);
    assert!(before.offered.contains_key(&("lamp".to_owned(), "3.0".to_owned())));
    let versions = format!("/repository/{FIRST}/versions");
    let bytes = world.anon().get(&versions).expect(200).body;
    world.stop();
    world.resume();
    assert_eq!(Index::read(&world.anon(), FIRST), before);
    assert_eq!(world.anon().get(&versions).expect(200).body, bytes);
    world.admin().patch_json(&path, &json!({ "info_format": "v3" })).expect(400);
}
