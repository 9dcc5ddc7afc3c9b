//! The questions of README.md, typed after a real build through a group.

use super::{ask, daylight};
use crate::manual::page;
use crate::world::{Central, Release, World};
use serde_json::{Value, json};
use std::time::Instant;

/// The questions that README.md asks, in its order.
fn questions() -> Vec<String> {
    let blocks = page::blocks("README.md");
    let lines = blocks.iter().flat_map(|block| block.text.lines());
    let asked = lines.filter_map(|line| line.strip_prefix("daylight ask \"")?.strip_suffix('"'));
    asked.map(str::to_owned).collect()
}

#[test]
fn the_questions_of_the_readme_tell_what_a_build_with_maven_did() {
    let (central, world) = (Central::open(), World::start());
    let change = json!({ "remote": { "urls": [central.url()] } });
    world.change("maven-central", &change);
    let machine = central.machine(Release::Three8);
    machine.settings(&world.url("maven"), &[], "");
    machine.project("lantern", &[("version", "1.0.0"), ("build", "1")]).maven(&["package"]).good();

    let questions = questions();
    assert_eq!(questions.len(), 3, "{questions:?}");
    let answers = questions.iter().map(|question| {
        let began = Instant::now();
        let shown = daylight(&world, &["ask", question]);
        println!("{question}: {:?}\n{}", began.elapsed(), String::from_utf8_lossy(&shown.stdout));
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        ask(&world, json!(question))
    });
    let [repositories, packages, clients]: [Value; 3] = answers.collect::<Vec<_>>().try_into().unwrap();
    let row = |answer: &Value, column: &str, value: &str| {
        let rows = answer["rows"].as_array().unwrap();
        rows.iter().find(|row| row[column] == value).unwrap_or_else(|| panic!("{answer}")).clone()
    };
    let maven = row(&repositories, "repository", "maven");
    assert!(maven["count"].as_u64().unwrap() > 500 && maven["sum(bytes_out)"].as_u64().unwrap() > 1 << 20, "{maven}");
    let slowest = packages["rows"].as_array().unwrap();
    assert_eq!(slowest.len(), 5, "{packages}");
    assert!(slowest.iter().all(|row| row["package"].as_str().unwrap().contains(':')), "{packages}");
    let client = row(&clients, "client_product", "maven");
    assert!(client["client_version"].as_str().unwrap().starts_with("3.8"), "{clients}");
    assert_eq!(clients["exact"], true);
}
