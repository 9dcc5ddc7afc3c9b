//! A group as of a moment: the versions that its members had then, for the names that they own now.

use super::{FIRST, GROUP, scene};
use serde_json::json;

/// What a group tells of gems.
const PATHS: [&str; 16] = [
    "versions",
    "names",
    "specs.4.8.gz",
    "latest_specs.4.8.gz",
    "prerelease_specs.4.8.gz",
    "info/can",
    "info/lamp",
    "info/vase",
    "api/v1/dependencies?gems=can,lamp,vase",
    "api/v1/dependencies.json?gems=can,lamp,vase",
    "api/v1/gems/can.json",
    "api/v1/versions/can.json",
    "quick/Marshal.4.8/can-1.0.0.gemspec.rz",
    "gems/can-1.0.0.gem",
    "gems/lamp-1.0.0.gem",
    "gems/vase-1.0.0.gem",
];

#[test]
fn a_group_is_told_as_it_was_and_never_of_names_that_are_another_member_s_now() {
    let scene = scene();
    scene.publish("lamp", "1.0.0");
    let oil = scene.publish("oil", "9.0.0");
    let can = scene.push("can", "1.0.0");
    scene.get("versions").expect(200);
    for path in ["info/lamp", "info/oil", "gems/oil-9.0.0.gem", "info/can"] {
        scene.get(path).expect(200);
    }
    scene.publish("lamp", "1.1.0");
    scene.at("2026-11-04T12:00:00Z");
    scene.get("versions").expect(200);
    scene.push("can", "1.1.0");
    let moment = "2026-11-03T12:00:00Z";
    let versions = scene.then(moment, "versions").expect(200).text().to_owned();
    assert!(
        versions.contains("\nlamp 1.0.0 ") && versions.contains("\noil 9.0.0 ") && versions.contains("\ncan 1.0.0 ")
    );
    assert!(!versions.contains("1.1.0"), "{versions}");
    assert!(!scene.then(moment, "info/lamp").expect(200).text().contains("1.1.0"));
    assert!(!scene.then(moment, "info/can").expect(200).text().contains("1.1.0"));
    assert_eq!(scene.then(moment, "gems/can-1.0.0.gem").expect(200).body, can.bytes());
    let needs = scene.then(moment, "api/v1/dependencies.json?gems=lamp,can").expect(200).json();
    assert_eq!(needs.as_array().unwrap().len(), 2, "{needs:#}");
    assert_eq!(scene.then(moment, "api/v1/gems/can.json").expect(200).json()["version"], "1.0.0");
    scene.then(moment, "gems/can-1.1.0.gem").expect(404);
    scene.then(moment, "api/v1/search.json?query=can").expect(501);
    scene.at("2026-11-04T14:00:00Z");
    // The hosted member owns the name now, so the earlier versions of the upstream are shown as of no moment.
    scene.world.change(FIRST, &json!({ "claims": ["oil"] }));
    for moment in [moment, "2026-11-04T13:00:00Z"] {
        assert!(!scene.then(moment, "versions").expect(200).text().contains("oil 9.0.0"), "{moment}");
        assert!(!scene.then(moment, "names").expect(200).text().contains("oil"), "{moment}");
        scene.then(moment, &format!("gems/{}", oil.file())).expect(404);
        assert!(!scene.then(moment, "info/oil").text().contains("9.0.0"), "{moment}");
        assert_eq!(scene.then(moment, "api/v1/dependencies.json?gems=oil").expect(200).json(), json!([]));
    }
}

#[test]
fn a_group_of_a_moment_stays_the_same_whatever_is_pushed_yanked_and_listed_later() {
    let scene = scene();
    scene.publish("lamp", "1.0.0");
    scene.push("can", "1.0.0");
    for path in PATHS {
        let early = "1970-01-02";
        let hosted = scene.world.anon().file(&format!("{FIRST}@{early}"), path).expect(404);
        let group = scene.then(early, path).expect(404);
        assert_eq!(group.text(), hosted.text().replace(FIRST, GROUP), "before its first member was made: {path}");
    }
    for path in ["versions", "info/lamp", "gems/lamp-1.0.0.gem"] {
        scene.get(path).expect(200);
    }
    scene.at("2026-11-04T12:00:00Z");
    let told = || {
        PATHS.map(|path| {
            let answer = scene.then("2026-11-03T12:00:00Z", path);
            (path, answer.status, answer.body)
        })
    };
    let before = told();
    assert!(before.iter().all(|(path, status, _)| (*status == 200) != path.contains("/vase")), "{before:?}");
    scene.push("can", "1.1.0");
    scene.push("vase", "1.0.0");
    scene.world.admin().yank(FIRST, "can", "1.0.0").expect(200);
    scene.publish("lamp", "1.1.0");
    scene.publish("wick", "1.0.0");
    scene.at("2026-11-05T12:00:00Z");
    assert!(scene.get("versions").expect(200).text().contains("wick 1.0.0"));
    for (was, is) in before.into_iter().zip(told()) {
        assert_eq!(was, is);
    }
}
