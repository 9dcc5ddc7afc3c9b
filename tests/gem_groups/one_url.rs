//! Private and public gems through one URL.

use super::{FIRST, GROUP, REMOTE, Scene};
use serde_json::json;

#[test]
fn a_group_answers_with_what_its_members_have() {
    let scene = Scene::new();
    let (lamp, oil) = (scene.publish("lamp", "1.0.0"), scene.push("oil", "2.0.0"));
    let versions = scene.get("versions").expect(200).text().to_owned();
    assert!(versions.contains("\nlamp 1.0.0 ") && versions.contains("\noil 2.0.0 "), "{versions}");
    let theirs = scene.world.anon().file(REMOTE, "info/lamp").expect(200).text().to_owned();
    let ours = scene.world.anon().file(FIRST, "info/oil").expect(200).text().to_owned();
    assert_eq!(scene.get("info/lamp").expect(200).text(), theirs);
    assert_eq!(scene.get("info/oil").expect(200).text(), ours);
    assert_eq!(scene.get("gems/lamp-1.0.0.gem").expect(200).body, lamp.bytes());
    assert_eq!(scene.get("gems/oil-2.0.0.gem").expect(200).body, oil.bytes());
    scene.get("info/wick").expect(404);
    scene.get("gems/wick-1.0.0.gem").expect(404);
    scene.get("quick/Marshal.4.8/lamp-1.0.0.gemspec.rz").expect(200);
    scene.get("quick/Marshal.4.8/oil-2.0.0.gemspec.rz").expect(200);
    let needs = scene.get("api/v1/dependencies.json?gems=lamp,oil,wick").expect(200).json();
    assert_eq!(needs.as_array().unwrap().len(), 2);
    for name in ["lamp", "oil"] {
        assert_eq!(scene.get(&format!("api/v1/gems/{name}.json")).expect(200).json()["name"], name);
    }
}

#[test]
fn a_name_of_a_hosted_member_is_never_that_of_an_upstream() {
    let scene = Scene::new();
    scene.push("oil", "2.0.0");
    let (theirs, lamp) = (scene.publish("oil", "9.0.0"), scene.publish("lamp", "1.0.0"));
    // The push made the server check the upstream's index.
    scene.at("2026-11-02T12:02:00Z");
    let versions = scene.get("versions").expect(200).text().to_owned();
    assert!(versions.contains("\noil 2.0.0 ") && !versions.contains("9.0.0"), "{versions}");
    assert!(!scene.get("info/oil").expect(200).text().contains("9.0.0"));
    scene.get(&format!("gems/{}", theirs.file())).expect(404);
    scene.get("quick/Marshal.4.8/oil-9.0.0.gemspec.rz").expect(404);
    assert_eq!(scene.get("gems/lamp-1.0.0.gem").expect(200).body, lamp.bytes());
    // After it is removed here, it does not become the upstream's.
    scene.world.admin().yank(FIRST, "oil", "2.0.0").expect(200);
    assert_eq!(scene.get("info/oil").expect(200).text(), "---\n");
    scene.get(&format!("gems/{}", theirs.file())).expect(404);
    let needs = scene.get("api/v1/dependencies.json?gems=oil").expect(200).json();
    assert_eq!(needs.as_array().unwrap().len(), 0, "{needs}");
    scene.get("api/v1/gems/oil.json").expect(404);
}

#[test]
fn a_name_of_a_member_that_was_taken_out_goes_on_having_an_info() {
    let mut scene = Scene::new();
    scene.push("lamp", "1.0");
    assert!(scene.get("versions").expect(200).text().contains("\nlamp 1.0 "));
    let members = json!({ "members": [REMOTE] });
    scene.world.admin().patch_json(&format!("/api/v1/repositories/{GROUP}"), &members).expect(200);
    // Bundler leaves the compact index for all gems if one name in it has no `/info`.
    assert!(scene.get("versions").expect(200).text().contains("\nlamp -1.0 "));
    assert_eq!(scene.get("info/lamp").expect(200).text(), "---\n");
    scene.get("info/oil").expect(404);
    scene.world.stop();
    scene.world.resume();
    assert_eq!(scene.get("info/lamp").expect(200).text(), "---\n");
}
