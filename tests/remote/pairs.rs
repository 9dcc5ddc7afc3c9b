//! Files of an upstream that are good only together: a search index and its properties.

use super::Scene;
use serde_json::json;

const PROPERTIES: &str = ".index/nexus-maven-repository-index.properties";
const INDEX: &str = ".index/nexus-maven-repository-index.gz";
const INCREMENT: &str = ".index/nexus-maven-repository-index.7.gz";

/// The upstream publishes an index.
fn publishes(scene: &Scene, moment: &str) {
    for path in [PROPERTIES, INDEX, INCREMENT] {
        scene.upstream.file(&format!("/{path}"), format!("{path} of {moment}"));
    }
}

/// Reads files as a client does, which takes the properties first. Each must be of this moment.
fn is_of(scene: &Scene, moment: &str) {
    for path in [PROPERTIES, INDEX, INCREMENT] {
        assert_eq!(scene.get(path).expect(200).text(), format!("{path} of {moment}"));
    }
}

fn set(scene: &Scene, fresh_s: u64) {
    let change = json!({ "remote": { "fresh_s": fresh_s } });
    scene.world.change("central", &change);
}

#[test]
fn an_index_and_its_properties_are_of_one_moment() {
    let scene = Scene::new();
    publishes(&scene, "monday");
    assert_eq!(scene.get(PROPERTIES).expect(200).text(), format!("{PROPERTIES} of monday"));
    publishes(&scene, "tuesday");
    // The index comes for the first time, so the properties that are in memory are of another moment.
    scene.get(INDEX).expect(200);
    is_of(&scene, "tuesday");
    publishes(&scene, "wednesday");
    is_of(&scene, "tuesday");
    // Someone needs the properties after their TTL has ended.
    set(&scene, 0);
    scene.get(PROPERTIES).expect(200);
    set(&scene, 900);
    is_of(&scene, "wednesday");
    is_of(&scene, "wednesday");
    let asked = scene.upstream.total();
    is_of(&scene, "wednesday");
    assert_eq!(scene.upstream.total(), asked, "a pair needs no request");
}

#[test]
fn an_index_of_an_earlier_moment_is_no_answer_while_the_upstream_fails() {
    let scene = Scene::new();
    publishes(&scene, "monday");
    is_of(&scene, "monday");
    is_of(&scene, "monday");
    publishes(&scene, "tuesday");
    set(&scene, 0);
    scene.get(PROPERTIES).expect(200);
    set(&scene, 900);
    scene.upstream.unplug();
    scene.get(INDEX).expect(502);
    assert_eq!(scene.get(PROPERTIES).expect(200).text(), format!("{PROPERTIES} of tuesday"));
    scene.upstream.plug();
    is_of(&scene, "tuesday");
}
