//! Private and public gems through one URL.

use super::{FIRST, GROUP, REMOTE, scene};
use serde_json::json;

#[test]
fn a_group_answers_with_what_its_members_have_and_keeps_the_names_of_a_member_that_was_taken_out() {
    let mut scene = scene();
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
    // A name of a member that was taken out goes on having an `/info`. Bundler leaves the compact index for all gems if
    // one name in it has none.
    scene.world.change(GROUP, &json!({ "members": [REMOTE] }));
    assert!(scene.get("versions").expect(200).text().contains("\noil -2.0.0 "));
    assert_eq!(scene.get("info/oil").expect(200).text(), "---\n");
    scene.get("info/wick").expect(404);
    scene.world.stop();
    scene.world.resume();
    assert_eq!(scene.get("info/oil").expect(200).text(), "---\n");
}
