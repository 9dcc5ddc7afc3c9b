//! A member fails.

use super::{Scene, sentence};
use crate::world::Says;
use serde_json::Value;
use std::time::Duration;

const ID: &str = "member-fails@member:company/partner";

#[test]
fn a_member_that_fails_is_told_with_what_clients_got() {
    let mut scene = Scene::new(&[], Duration::ZERO);
    scene.partner.says_otherwise(Says::status(500));
    scene.get(&scene.releases(8, "a"), 1, 200);
    scene.silent("member-fails");
    scene.get(&scene.releases(7, "b"), 1, 200);
    // Its upstream is the cause, if it fails often enough: then the failure of the member is one of its symptoms.
    let told = |scene: &mut Scene| {
        let is_told = |finding: &Value| {
            finding["id"] == ID || finding["folds"].as_array().unwrap().iter().any(|symptom| symptom == ID)
        };
        let found = scene.look();
        let told = found.iter().find(|finding| is_told(finding)).unwrap_or_else(|| panic!("{found:#?}")).clone();
        assert_eq!(told["state"], "open", "{told:#}");
        told
    };
    let found = told(&mut scene);
    if found["id"] == ID {
        assert!(sentence(&found).contains("failed 15 of the 15 times"), "{}", sentence(&found));
    }
    let missing: Vec<String> = (0..85).map(|n| format!("org/example/none{n}/1.0/none{n}-1.0.pom")).collect();
    // Once the circuit of its host is open, the status is 503.
    super::get(&scene.world, &scene.world.anon(), "company", &missing, 4, &[502, 503]);
    let found = told(&mut scene);
    if found["id"] == ID {
        assert!(sentence(&found).contains("85 answers were errors"), "{}", sentence(&found));
    }
    super::proven(&scene.world, &found);
}
