//! A group as of a moment: the versions that its members had then, for the names that they own now.

use super::{FIRST, GROUP, Scene};
use serde_json::json;

fn then(scene: &Scene, moment: &str, path: &str) -> crate::world::Answer {
    scene.world.anon().file(&format!("{GROUP}@{moment}"), path)
}

#[test]
fn a_group_is_told_as_it_was_and_never_of_names_that_are_another_member_s_now() {
    let scene = Scene::new();
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
    let versions = then(&scene, moment, "versions").expect(200).text().to_owned();
    assert!(
        versions.contains("\nlamp 1.0.0 ") && versions.contains("\noil 9.0.0 ") && versions.contains("\ncan 1.0.0 ")
    );
    assert!(!versions.contains("1.1.0"), "{versions}");
    assert!(!then(&scene, moment, "info/lamp").expect(200).text().contains("1.1.0"));
    assert!(!then(&scene, moment, "info/can").expect(200).text().contains("1.1.0"));
    assert_eq!(then(&scene, moment, "gems/can-1.0.0.gem").expect(200).body, can.bytes());
    let needs = then(&scene, moment, "api/v1/dependencies.json?gems=lamp,can").expect(200).json();
    assert_eq!(needs.as_array().unwrap().len(), 2, "{needs:#}");
    assert_eq!(then(&scene, moment, "api/v1/gems/can.json").expect(200).json()["version"], "1.0.0");
    then(&scene, moment, "gems/can-1.1.0.gem").expect(404);
    then(&scene, moment, "api/v1/search.json?query=can").expect(501);
    scene.at("2026-11-04T14:00:00Z");
    // The hosted member owns the name now, so the earlier versions of the upstream are shown as of no moment.
    scene.world.admin().patch_json(&format!("/api/v1/repositories/{FIRST}"), &json!({ "claims": ["oil"] })).expect(200);
    for moment in [moment, "2026-11-04T13:00:00Z"] {
        assert!(!then(&scene, moment, "versions").expect(200).text().contains("oil 9.0.0"), "{moment}");
        assert!(!then(&scene, moment, "names").expect(200).text().contains("oil"), "{moment}");
        then(&scene, moment, &format!("gems/{}", oil.file())).expect(404);
        assert!(!then(&scene, moment, "info/oil").text().contains("9.0.0"), "{moment}");
        assert_eq!(then(&scene, moment, "api/v1/dependencies.json?gems=oil").expect(200).json(), json!([]));
    }
}
