//! No page of a group outlives the data that it was made from.

use super::{FIRST, GROUP, REMOTE, Scene, scene};
use serde_json::json;

/// Requests a path often enough for it to become a page, if it may be one.
fn again(scene: &Scene, path: &str) -> u16 {
    (0..3).map(|_| scene.get(path).status).fold(0, |_, status| status)
}

#[test]
fn a_name_that_an_upstream_begins_to_list_is_found_seconds_after_it_was_missing() {
    let scene = scene();
    scene.publish("lamp", "1.0.0");
    let missing = ["info/wick", "gems/wick-1.0.0.gem", "quick/Marshal.4.8/wick-1.0.0.gemspec.rz"];
    for path in missing {
        assert_eq!(again(&scene, path), 404, "{path}");
        scene.world.anon().file(REMOTE, path).expect(404);
        scene.world.anon().file(REMOTE, path).expect(404);
    }
    scene.publish("wick", "1.0.0");
    scene.at("2026-11-02T12:00:04Z");
    for path in missing {
        scene.get(path).expect(200);
        scene.world.anon().file(REMOTE, path).expect(200);
    }
}

#[test]
fn an_answer_follows_each_change_of_what_it_is_made_of() {
    let scene = scene();
    scene.publish("lamp", "1.0.0");
    scene.push("oil", "2.0.0");
    let info = |name: &str| {
        let path = format!("info/{name}");
        again(&scene, &path);
        scene.get(&path).expect(200).text().to_owned()
    };
    let names = |path: &str| {
        again(&scene, path);
        scene.get(path).expect(200).text().to_owned()
    };
    assert!(info("lamp").contains("1.0.0") && info("oil").contains("2.0.0"));
    assert!(names("versions").contains("\noil 2.0.0 "));
    scene.push("oil", "2.1.0");
    assert!(info("oil").contains("2.1.0") && names("versions").contains("oil 2.1.0"));
    scene.world.admin().yank(FIRST, "oil", "2.0.0").expect(200);
    assert!(!info("oil").contains("2.0.0") && names("versions").contains("oil -2.0.0"));
    assert_eq!(again(&scene, "gems/oil-2.0.0.gem"), 404);
    scene.publish("lamp", "1.1.0");
    scene.at("2026-11-02T12:01:01Z");
    assert!(info("lamp").contains("1.1.0"), "{}", info("lamp"));
    assert_eq!(again(&scene, "gems/lamp-1.1.0.gem"), 200);
    let set = |repository: &str, settings| drop(scene.world.change(repository, &settings));
    let specs = || {
        again(&scene, "specs.4.8.gz");
        scene.get("specs.4.8.gz").expect(200).body
    };
    let all = specs();
    for repository in [REMOTE, GROUP] {
        set(repository, json!({ "include_hosted": true, "policy": { "deny": ["lamp:1.1.0"] } }));
        assert!(!info("lamp").contains("1.1.0"), "{repository}");
        assert!(matches!(again(&scene, "gems/lamp-1.1.0.gem"), 403 | 404) && specs() != all, "{repository}");
        set(repository, json!({ "include_hosted": true, "policy": { "deny": ["lamp"] } }));
        assert_eq!(names("names"), "---\noil\n", "{repository}");
        set(repository, json!({ "include_hosted": true, "policy": { "deny": null } }));
        assert!(info("lamp").contains("1.1.0") && specs() == all, "{repository}");
    }
    set(GROUP, json!({ "include_hosted": true, "policy": { "cooldown_s": 86_400 } }));
    assert_eq!(info("lamp"), "---\n");
    scene.at("2026-11-03T12:02:00Z");
    assert!(info("lamp").contains("1.1.0") && names("names").contains("lamp"));
    set(FIRST, json!({ "claims": ["lamp"] }));
    assert_eq!((info("lamp"), names("names")), ("---\n".to_owned(), "---\noil\n".to_owned()));
    assert_eq!(again(&scene, "gems/lamp-1.1.0.gem"), 404);
    set(FIRST, json!({ "claims": [] }));
    assert!(info("lamp").contains("1.1.0") && names("names").contains("lamp"));
    set(GROUP, json!({ "members": [FIRST] }));
    assert_eq!((again(&scene, "info/lamp"), names("names")), (200, "---\noil\n".to_owned()));
}
