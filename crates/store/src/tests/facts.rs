//! What is known of a unit beside its entries.

use crate::suite::{R, made, publish, refused, repository};
use crate::{Catalog, Change, Expect, Seq};
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
