//! The document describes exactly what the code accepts and returns.

use super::schemas::schemas;
use super::*;
use std::collections::BTreeSet;

/// Every value of `$ref` in a document.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_schema_that_is_referenced_exists_and_no_other() {
    let mut found = BTreeSet::new();
    references(&document("http://a"), &mut found);
    let named = schemas().keys().map(|name| format!("#/components/schemas/{name}")).collect();
    assert_eq!(found, named);
}
