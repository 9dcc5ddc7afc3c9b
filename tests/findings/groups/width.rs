//! A group has more members than it asks at once.

use super::{Scene, get, sentence};
use crate::world::{Says, Upstream, World, metadata};
use serde_json::json;
use std::time::Duration;

const MEMBERS: usize = 64;
const ID: &str = "group-too-narrow@group:wide";

/// Upstreams that each take this time to send the metadata of any package.
pub(crate) fn upstreams() -> Vec<Upstream> {
    (0..MEMBERS).map(|_| Upstream::start()).collect()
}

pub(crate) fn wide(world: &World, upstreams: &[Upstream]) {
    let names: Vec<String> = (0..upstreams.len()).map(|n| format!("far-{n}")).collect();
    names.iter().zip(upstreams).for_each(|(name, upstream)| world.remote(name, &upstream.url()));
    world.make(&json!({ "name": "wide", "format": "maven", "members": names }));
}

/// Has all upstreams send the metadata of these packages, each after this time, and returns their paths.
pub(crate) fn lists(upstreams: &[Upstream], count: usize, series: &str, after: Duration) -> Vec<String> {
    let paths: Vec<String> = (0..count).map(|n| format!("org/example/{series}{n}/maven-metadata.xml")).collect();
    for path in &paths {
        let text = metadata(&["1.0"]).replace("lamp", path.split('/').nth(2).unwrap());
        upstreams.iter().for_each(|one| one.says(&format!("/{path}"), Says::file(text.as_str()).after(after)));
    }
    paths
}

#[test]
fn a_group_that_asks_its_members_in_turns_is_named_with_the_width_for_all_of_them() {
    let upstreams = upstreams();
    let mut scene = Scene::new(&[], Duration::ZERO);
    wide(&scene.world, &upstreams);
    // 7 turns too many of this time each: 0.8, 1.6 and 10 times the 5 seconds.
    let turn = Duration::from_millis(285);
    let ask = |scene: &Scene, count, series| {
        get(&scene.world, &scene.world.admin(), "wide", &lists(&upstreams, count, series, turn), count, &[200]);
    };
    ask(&scene, 2, "a");
    scene.silent("group-too-narrow");
    ask(&scene, 2, "b");
    scene.first(ID);
    ask(&scene, 21, "c");
    let found = scene.first(ID);
    assert!(sentence(&found).starts_with("`wide` asks 64 members for one answer, 8 at a time"), "{}", sentence(&found));
    let change = &found["changes"][0];
    assert_eq!(
        (&change["setting"], &change["from"], &change["to"]),
        (&json!("upstream.max_concurrent"), &json!(8), &json!(64))
    );
}

#[test]
fn with_the_advised_width_no_request_waits_for_another_turn() {
    const WIDTHS: [&[(&str, &str)]; 5] = [
        &[("DAYLIGHT_UPSTREAM_MAX_CONCURRENT", "8")],
        &[("DAYLIGHT_UPSTREAM_MAX_CONCURRENT", "16")],
        &[("DAYLIGHT_UPSTREAM_MAX_CONCURRENT", "32")],
        &[("DAYLIGHT_UPSTREAM_MAX_CONCURRENT", "64")],
        &[("DAYLIGHT_UPSTREAM_MAX_CONCURRENT", "128")],
    ];
    let upstreams = upstreams();
    let widths = if std::env::var_os("DAYLIGHT_SWEEPS").is_some() { &WIDTHS[..] } else { &WIDTHS[3..4] };
    for settings in widths {
        let mut scene = Scene::new(settings, Duration::ZERO);
        wide(&scene.world, &upstreams);
        let paths = lists(&upstreams, 4, "a", Duration::from_millis(285));
        get(&scene.world, &scene.world.admin(), "wide", &paths, 4, &[200]);
        let found = scene.look().into_iter().find(|finding| finding["id"] == ID);
        let lost = found.as_ref().map_or(0.0, |finding| finding["lost_s_per_hour"].as_f64().unwrap() / 12.0);
        println!("{}: {lost:.1} s lost", settings[0].1);
        if matches!(settings[0].1, "64" | "128") {
            assert_eq!(lost, 0.0, "{found:?}");
        }
    }
}
