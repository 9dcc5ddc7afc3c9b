//! There is too little space for facts about upstreams, so members are asked again.

use super::{Scene, sentence};
use serde_json::json;
use std::time::Duration;

const ID: &str = "group-facts-too-small@bound:facts";
/// How long the member takes that lacks the files.
const SLOW: Duration = Duration::from_millis(30);
/// Folders of a build: more than fit into 64 KiB.
const FOLDERS: usize = 400;

/// A file of each of these folders, with this ending, which `central` has.
fn files(scene: &Scene, folders: std::ops::Range<usize>, ending: &str) -> Vec<String> {
    let paths: Vec<String> = folders.map(|n| format!("org/example/a{n}/1.0/a{n}-1.0{ending}")).collect();
    paths.iter().for_each(|path| scene.central.file(&format!("/{path}"), path.as_str()));
    paths
}

/// `partner` has something of its own, so it is a member for a reason.
fn scene(settings: &'static [(&'static str, &'static str)]) -> Scene {
    let scene = Scene::new(settings, SLOW);
    let own = "com/partner/oil/1.0/oil-1.0.jar".to_owned();
    scene.partner.file(&format!("/{own}"), "oil");
    scene.get(&[own], 1, 200);
    scene
}

#[test]
fn facts_that_do_not_fit_are_told_with_the_space_that_they_need() {
    let mut scene = scene(&[("DAYLIGHT_STORE_FACTS_BYTES", "65536")]);
    scene.get(&files(&scene, 0..FOLDERS, ".pom"), 16, 200);
    scene.get(&files(&scene, 0..FOLDERS / 8, ".jar"), 16, 200);
    scene.silent("group-facts-too-small");
    scene.get(&files(&scene, FOLDERS / 8..FOLDERS, ".jar"), 16, 200);
    assert!(scene.partner.total() > 3 * FOLDERS / 2, "it was asked again: {}", scene.partner.total());
    scene.slow(5 * SLOW);
    scene.get(&files(&scene, 0..FOLDERS, "-sources.jar"), 16, 200);
    let found = scene.first(ID);
    assert!(found["lost_s_per_hour"].as_f64().unwrap() >= 12.0 * 30.0, "{found:#}");
    assert!(
        sentence(&found).starts_with("facts about upstreams have 65536 bytes and use them up"),
        "{}",
        sentence(&found)
    );
    let change = &found["changes"][0];
    assert_eq!((&change["setting"], &change["from"]), (&json!("store.facts_bytes"), &json!(65_536)));
    assert_eq!(change["to"], 524_288, "{change}");
}

#[test]
fn with_the_advised_space_no_member_is_asked_twice() {
    const SPACES: [&[(&str, &str)]; 5] = [
        &[("DAYLIGHT_STORE_FACTS_BYTES", "65536")],
        &[("DAYLIGHT_STORE_FACTS_BYTES", "131072")],
        &[("DAYLIGHT_STORE_FACTS_BYTES", "262144")],
        &[("DAYLIGHT_STORE_FACTS_BYTES", "524288")],
        &[("DAYLIGHT_STORE_FACTS_BYTES", "4194304")],
    ];
    let spaces = if std::env::var_os("DAYLIGHT_SWEEPS").is_some() { &SPACES[..] } else { &SPACES[3..4] };
    for settings in spaces {
        let mut scene = scene(settings);
        scene.get(&files(&scene, 0..FOLDERS, ".pom"), 16, 200);
        let once = scene.partner.total();
        scene.get(&files(&scene, 0..FOLDERS, ".jar"), 16, 200);
        let again = scene.partner.total() - once;
        let found = scene.look().into_iter().find(|finding| finding["id"] == ID);
        let lost = found.map_or(0.0, |finding| finding["lost_s_per_hour"].as_f64().unwrap() / 12.0);
        println!("{} bytes: asked again {again} times, {lost:.1} s lost", settings[0].1);
        if settings[0].1 == "524288" {
            assert_eq!((again, lost), (0, 0.0));
        }
    }
}
