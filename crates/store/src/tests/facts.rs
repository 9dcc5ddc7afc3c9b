//! The facts of a unit, its live entries only, and settings.

use crate::truth::suite::{R, entry, made, publish, refused, repository, setting, withdraw};
use crate::{Catalog, Change, Expect, Seq, State, UnitRows};
use serde_json::json;

pub(crate) fn facts_of_a_unit_are_a_change_of_it(mut catalog: impl Catalog) {
    let facts = |facts| Change::Unit { repository: R, unit: "rack".into(), facts };
    made(&mut catalog, vec![repository(0, "first", &[], false), publish("rack", 1), facts(json!({"owners": []}))]);
    let told = catalog.facts(R, "rack").unwrap();
    assert_eq!((told.seq, told.facts), (Seq(3), json!({"owners": []})));
    assert!(refused(&mut catalog, Expect::UnitAt { repository: R, unit: "rack".into(), seq: Seq(2) }));
    assert_eq!(catalog.units_with_facts(R, "ra", "", 9).unwrap(), [("rack".into(), json!({"owners": []}))]);
    assert!(
        catalog.units_with_facts(R, "", "rack", 9).unwrap().is_empty()
            && catalog.units_with_facts(R, "rad", "", 9).unwrap().is_empty()
    );
    assert_eq!(catalog.units(R, "", 9).unwrap(), ["rack"], "it still has a live entry");
    made(&mut catalog, vec![facts(json!(null))]);
    assert_eq!(catalog.facts(R, "rack").unwrap().facts, json!(null));
    assert!(catalog.units_with_facts(R, "", "", 9).unwrap().is_empty());
}

pub(crate) fn the_live_entries_of_a_unit_are_read_without_the_withdrawn_ones(mut catalog: impl Catalog) {
    made(&mut catalog, vec![publish("rack", 1), publish("rack", 2), publish("rake", 3)]);
    let last = made(&mut catalog, vec![withdraw("rack", 1)]);
    let live = catalog.live_unit(R, "rack").unwrap();
    assert_eq!((live.seq, live.entries), (last, vec![entry("rack", 2, State::Live)]));
    assert_eq!(catalog.live_unit(R, "nothing").unwrap(), UnitRows::default());
}

pub(crate) fn a_setting_of_null_is_back_to_its_default(mut catalog: impl Catalog) {
    made(&mut catalog, vec![setting("a", json!([1])), setting("a", json!({"b": 2}))]);
    assert_eq!(catalog.setting("a").unwrap(), Some(json!({"b": 2})));
    made(&mut catalog, vec![setting("a", json!(null))]);
    assert_eq!(catalog.setting("a").unwrap(), None);
}

pub(crate) fn settings_are_listed_by_the_beginning_of_their_keys(mut catalog: impl Catalog) {
    let keys = ["b/", "a", "b", "b/x_", "b/xé", "b/x%", "c"];
    made(&mut catalog, keys.map(|key| setting(key, json!(key))).to_vec());
    let found = |catalog: &mut dyn Catalog, prefix: &str, limit| -> Vec<String> {
        let found = catalog.settings_beginning(prefix, limit).unwrap();
        found.into_iter().map(|(key, value)| if json!(key) == value { key } else { panic!("{key}: {value}") }).collect()
    };
    assert_eq!(found(&mut catalog, "b/", 9), ["b/", "b/x%", "b/x_", "b/xé"]);
    assert_eq!(found(&mut catalog, "b/x_", 9), ["b/x_"]);
    assert_eq!(found(&mut catalog, "b/", 2), ["b/", "b/x%"]);
    assert!(found(&mut catalog, "d", 9).is_empty());
}
