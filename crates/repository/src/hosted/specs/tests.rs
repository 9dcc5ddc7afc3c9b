//! What one gem says in each of the three files.

use super::*;
use crate::Rules;
use format::gem;
use store::{Digest, Hashes, State};

fn entry((number, platform, state): (&str, &str, State)) -> Entry {
    let (sha512, sha1, md5) = (String::new(), String::new(), String::new());
    Entry {
        unit: "lamp".into(),
        key: gem::full_name("lamp", number, platform),
        state,
        published: Millis(0),
        changed: Millis(0),
        hashes: Hashes { sha256: Digest([0; 32]), sha512, sha1, md5, size_bytes: 0 },
        facts: serde_json::json!({ "number": number, "platform": platform, "of no": "interest" }),
        line: None,
    }
}

fn said(versions: &[(&str, &str)]) -> Part {
    let mut part = Part::default();
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
    let entries: Vec<Entry> = versions.into_iter().map(entry).collect();
    let view = View { as_of: None, now: Millis(1), rules: &Rules::default() };
    let [released, latest, young] = parts(&entries, view).unwrap();
    assert_eq!(released, said(&[("1.10", "ruby"), ("1.10", "java"), ("1.9", "ruby")]));
    assert_eq!(latest, said(&[("1.10", "ruby"), ("1.10", "java")]));
    assert_eq!(young, said(&[("2.0.rc1", "ruby")]));
    assert_eq!(parts(&entries[4..], view).unwrap(), [said(&[]), said(&[]), said(&[])]);
}
