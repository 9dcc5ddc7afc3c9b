//! The index lines of every accepted gem have the same meaning as its facts, and its URL belongs to no other gem.

use super::made;
use crate::fuzzed::targets;
use crate::world::{FIRST, Index, World};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;

/// Texts of characters that are special in an index line, a path, a version or a platform.
const ODD: &str =
    "[a-bA-B0-2.,_:|& \n\r\t\u{e4}-]{0,6}|[a-bA-B][a-bA-B0-2._-]{0,5}|[0-2](\\.[0-2a-b]){0,3}|ruby|java|>= 1";

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn no_gemspec_that_is_accepted_forges_a_line(
        (name, number, platform) in (ODD, ODD, ODD),
        needs in prop::collection::vec((ODD, "=|!=|>|<|>=|<=|~>|[>=~,& ]{0,3}", ODD), 0..4),
        ruby in (ODD, ODD),
    ) {
        let requirement = |op: &str, number: &str| format!(
            "!ruby/object:Gem::Requirement {{requirements: [[{op:?}, !ruby/object:Gem::Version {{version: {number:?}}}]]}}"
        );
        let needs: Vec<String> = needs
            .iter()
            .map(|(name, op, number)| format!(
                "!ruby/object:Gem::Dependency {{name: {name:?}, requirement: {}}}", requirement(op, number)
            ))
            .collect();
        let spec = made::spec(&format!(
            "name: {name:?}\nversion: {number:?}\nplatform: {platform:?}\ndependencies: [{}]\nrequired_ruby_version: {}",
            needs.join(", "),
            requirement(&ruby.0, &ruby.1),
        ));
        let (_, target) = targets::ALL.iter().find(|(name, _)| *name == "gemspec").unwrap();
        target(spec.as_bytes());
    }
}

#[test]
fn no_two_gems_have_one_url() {
    let world = World::start();
    let admin = world.admin();
    // Dashes and numbers move between the three parts, and letters change their case.
    let part = |pattern: &str| proptest::string::string_regex(pattern).unwrap();
    let gem = (part("[aA](-[1aA]){0,2}"), part("1(\\.[0aA]){0,2}"), part("[1aA](-[1aA])?|ruby"));
    let gems = proptest::collection::vec(gem, 160).new_tree(&mut TestRunner::deterministic()).unwrap().current();
    let connection = &mut admin.connect().unwrap();
    let mut published = BTreeMap::new();
    for (name, number, platform) in gems {
        let bytes = made::gem(&format!("name: {name:?}\nversion: {number:?}\nplatform: {platform:?}"));
        let full_name = format::gem::full_name(&name, &number, &platform);
        let answer = admin.push_on(connection, FIRST, &bytes).unwrap();
        match answer.status {
            200 if answer.text().starts_with("Gem was already pushed") => assert_eq!(published[&full_name], bytes),
            200 => assert_eq!(published.insert(full_name, bytes), None),
            status => assert_eq!(status, 409, "{full_name}: {}", answer.text()),
        }
    }
    assert!(published.len() > 20, "{} of them", published.len());
    let mut folded: Vec<String> = published.keys().map(|full_name| full_name.to_ascii_lowercase()).collect();
    folded.sort();
    assert!(folded.windows(2).all(|pair| pair[0] != pair[1]), "{folded:?}");
    for (full_name, bytes) in &published {
        let served = admin.get(&format!("/repository/{FIRST}/gems/{full_name}.gem")).expect(200);
        assert!(served.body == *bytes, "{full_name} is another gem");
    }
    assert_eq!(Index::read(&admin, FIRST).offered.len(), published.len());
}
