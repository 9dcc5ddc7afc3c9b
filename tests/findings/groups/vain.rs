//! Members that are asked in vain: one that never has anything, a prefix that nobody has, and the same names again and again.

use super::{Scene, command, run, sentence};
use serde_json::json;
use std::time::Duration;

/// Long enough that a thousand of them are told.
const SHORT: Duration = Duration::from_millis(12);

#[test]
fn a_member_that_never_has_anything_is_named_with_the_command_that_takes_it_out() {
    let mut scene = Scene::new(&[], SHORT);
    // 0.8 and 1.5 times a thousand requests.
    scene.get(&scene.releases(800, "a"), 16, 200);
    scene.silent("member-never-decides");
    scene.get(&scene.releases(700, "b"), 16, 200);
    let found = scene.first("member-never-decides@member:company/partner");
    assert!(sentence(&found).contains("had none of the 1500 files"), "{}", sentence(&found));
    // Ten times the 5 seconds.
    scene.slow(20 * SHORT);
    scene.get(&scene.releases(200, "c"), 16, 200);
    let found = scene.first("member-never-decides@member:company/partner");
    assert!(found["lost_s_per_hour"].as_f64().unwrap() >= 12.0 * 50.0, "{found:#}");
    assert_eq!(command(&found), "daylight repo set company --member ours --member central --preview");
    let preview = run(&scene.world, &found, "--preview");
    assert!(preview.contains("nothing was changed") && !preview.contains("404"), "no answer changes: {preview}");
    run(&scene.world, &found, "");
    let asked = scene.partner.total();
    scene.get(&scene.releases(3, "d"), 3, 200);
    assert_eq!(scene.partner.total(), asked);
}

/// Folders of this series below `com.acme` that nobody has.
fn missing(count: usize, series: &str) -> Vec<String> {
    (0..count).map(|n| format!("com/acme/{series}{n}/1.0/{series}{n}-1.0.pom")).collect()
}

#[test]
fn a_prefix_that_no_upstream_has_is_named_with_the_rule_that_asks_nobody() {
    let mut scene = Scene::new(&[], SHORT);
    // Both have something.
    scene.partner.file("/com/partner/oil/1.0/oil-1.0.jar", "oil");
    scene.get(&["com/partner/oil/1.0/oil-1.0.jar".to_owned()], 1, 200);
    scene.get(&scene.releases(1, "x"), 1, 200);
    scene.get(&missing(800, "a"), 16, 404);
    scene.silent("facts-at-wrong-level");
    scene.get(&missing(700, "b"), 16, 404);
    let found = scene.first("facts-at-wrong-level@group:company");
    scene.slow(20 * SHORT);
    scene.get(&missing(200, "c"), 16, 404);
    let ten = scene.first("facts-at-wrong-level@group:company");
    assert!(ten["lost_s_per_hour"].as_f64() > found["lost_s_per_hour"].as_f64(), "{ten:#}");
    assert_eq!(command(&ten), "daylight repo set company --private-prefix com.acme --preview");
    run(&scene.world, &ten, "");
    let asked = scene.partner.total() + scene.central.total();
    scene.get(&missing(5, "d"), 5, 403);
    assert_eq!(scene.partner.total() + scene.central.total(), asked, "nobody is asked");
}

#[test]
fn names_that_nobody_has_and_that_are_asked_for_again_and_again_are_named_with_the_ttl() {
    let mut scene = Scene::new(&[], 3 * SHORT);
    for name in ["partner", "central"] {
        let urls = [if name == "partner" { scene.partner.url() } else { scene.central.url() }];
        scene.world.change(name, &json!({ "remote": { "urls": urls, "missing_s": 0 } }));
    }
    let again = |rounds: usize| (0..rounds).flat_map(|_| missing(10, "a")).collect::<Vec<_>>();
    scene.get(&again(9), 4, 404);
    scene.silent("names-asked-in-vain");
    scene.get(&again(11), 4, 404);
    let found = scene.first("names-asked-in-vain@member:company/partner");
    scene.slow(30 * SHORT);
    scene.get(&again(14), 10, 404);
    let ten = scene.first("names-asked-in-vain@member:company/partner");
    assert!(ten["lost_s_per_hour"].as_f64() > found["lost_s_per_hour"].as_f64(), "{ten:#}");
    assert_eq!(command(&ten), "daylight repo set partner --missing 5m");
    run(&scene.world, &ten, "");
    scene.get(&again(1), 10, 404);
    let asked = scene.partner.total();
    scene.get(&again(2), 10, 404);
    assert_eq!(scene.partner.total(), asked, "its answers are cached");
}
