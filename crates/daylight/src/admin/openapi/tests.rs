//! The document describes exactly what the code accepts and returns.

use super::schemas::schemas;
use super::*;
use crate::settings_patch::SettingsPatch;
use repository::Scope;
use repository::{ExceptionRecord, PolicyRecord, RemoteRecord, Retention};
use std::collections::BTreeSet;
use telemetry::Millis;

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn properties(schema: &str) -> BTreeSet<String> {
    keys(&schemas()[schema]["properties"])
}

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

#[test]
fn the_document_has_the_settings_that_are_read() {
    let text = || Some("a".to_owned());
    let remote = RemoteRecord {
        urls: vec!["a".to_owned()],
        credentials: text(),
        proxy: text(),
        proxy_credentials: text(),
        no_proxy: Some(vec!["a".to_owned()]),
        trust: text(),
        certificate: text(),
        checksums: text(),
        fresh_s: Some(1),
        missing_s: Some(1),
        max_bytes: Some(1),
        prefixes: Some(true),
        query: text(),
    };
    assert_eq!(keys(&serde_json::to_value(remote).unwrap()), properties("Remote"));
    let retention = Retention { builds: Some(1), days: Some(1), released_days: Some(1) };
    assert_eq!(keys(&serde_json::to_value(retention).unwrap()), properties("Retention"));
    let policy = PolicyRecord {
        allow: vec!["a".to_owned()],
        deny: vec!["a".to_owned()],
        cooldown_s: Some(1),
        exceptions: vec![ExceptionRecord {
            package: "a".into(),
            why: "a".into(),
            who: "a".into(),
            made: Millis(0),
            since: None,
            until: Some(Millis(1)),
        }],
        private_prefixes: vec!["a".to_owned()],
        shared: vec!["a".to_owned()],
    };
    let policy = serde_json::to_value(policy).unwrap();
    assert_eq!(keys(&policy), properties("Policy"));
    assert_eq!(keys(&policy["exceptions"][0]), properties("Exception"));
    // The error for an unknown name lists the known ones.
    let unknown = serde_json::from_value::<SettingsPatch>(json!({ "nothing": 1 })).unwrap_err().to_string();
    let known: BTreeSet<String> = unknown.split('`').skip(3).step_by(2).map(str::to_owned).collect();
    assert_eq!(known, properties("Settings"));
    let scopes: Vec<Value> = Scope::ALL.iter().map(|scope| scope.as_str().into()).collect();
    assert_eq!(schemas()["Scopes"]["items"]["enum"], Value::from(scopes));
}
