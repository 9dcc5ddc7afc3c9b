//! The entries of one gem in each of the three files.

use super::*;
use crate::policy::rules::Rules;
use store::State;
use telemetry::Millis;

/// A row with the short form of the facts, and one of an earlier program without it.
fn row(number: &str, platform: &str, state: State) -> Outline {
    let facts = if platform == "ruby" {
        Facts::Brief(format!("{number} oil:>= 0"))
    } else {
        let facts = serde_json::json!({ "number": number, "platform": platform, "of no": "interest" });
        Facts::Whole(serde_json::value::to_raw_value(&facts).unwrap())
    };
    Outline { unit: "lamp".into(), state, published: Millis(0), changed: Millis(0), origin: None, facts }
}

fn said(versions: &[(&str, &str)]) -> ChunkPart {
    let mut part = ChunkPart::default();
    for (number, platform) in versions {
        specs::tuple(&mut part.bytes, "lamp", number, platform, part.count == 0);
        part.count += 1;
    }
    part
}

#[test]
fn each_file_has_its_versions_newest_first_and_none_that_was_withdrawn() {
    let versions = [
        ("1.9", "ruby", State::Live),
        ("1.10", "ruby", State::Live),
        ("1.10", "java", State::Live),
        ("2.0.rc1", "ruby", State::Live),
        ("3.0", "ruby", State::Withdrawn),
    ];
    let rows: Vec<Outline> =
        versions.into_iter().map(|(number, platform, state)| row(number, platform, state)).collect();
    let view = View { as_of: None, exceptions_by: None, now: Millis(1), rules: &Rules::default() };
    let [released, latest, young] = parts("lamp", &rows, view).unwrap();
    assert_eq!(released, said(&[("1.10", "ruby"), ("1.10", "java"), ("1.9", "ruby")]));
    assert_eq!(latest, said(&[("1.10", "ruby"), ("1.10", "java")]));
    assert_eq!(young, said(&[("2.0.rc1", "ruby")]));
    assert_eq!(parts("lamp", &rows[4..], view).unwrap(), [said(&[]), said(&[]), said(&[])]);
}
