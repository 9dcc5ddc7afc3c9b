//! Calls of the API that are gone, take less, need more or answer less than before.

use super::schema::{Direction, Schemas};
use serde_json::Value;

/// Compares two OpenAPI documents.
pub(super) fn narrowed(before: &Value, now: &Value) -> Vec<String> {
    let mut schemas = Schemas::of(before, now);
    for (path, calls) in before["paths"].as_object().unwrap() {
        for (method, was) in calls.as_object().unwrap() {
            let call = format!("{} {path}", method.to_uppercase());
            match now["paths"].get(path).and_then(|calls| calls.get(method)) {
                Some(is) => compare(&call, (was, is), (before, now), &mut schemas),
                None => schemas.found(format!("{call} is gone")),
            }
        }
    }
    schemas.narrowed()
}

fn compare(call: &str, of: (&Value, &Value), documents: (&Value, &Value), schemas: &mut Schemas<'_>) {
    let (was, is) = of;
    if was["operationId"] != is["operationId"] {
        schemas.found(format!("{call} has another name than {}", was["operationId"]));
    }
    let ways = |call: &Value, document: &Value| call.get("security").unwrap_or_else(|| &document["security"]).clone();
    let (ways_before, ways_now) = (ways(was, documents.0), ways(is, documents.1));
    for way in list(&ways_before) {
        // A token with the scope `admin`, which is the way of the whole document, may do everything.
        let is_admin = way.get("token").is_some_and(|scopes| list(scopes).is_empty());
        if !is_admin && !list(&ways_now).iter().any(|other| other == way || *other == serde_json::json!({})) {
            schemas.found(format!("{call} no longer answers with the access {way}"));
        }
    }
    parameters(call, was, is, schemas);
    body(call, was, is, schemas);
    answers(call, was, is, schemas);
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn parameters(call: &str, was: &Value, is: &Value, schemas: &mut Schemas<'_>) {
    let same = |one: &Value, other: &Value| one["name"] == other["name"] && one["in"] == other["in"];
    let name = |one: &Value| one["name"].as_str().unwrap_or_default().to_owned();
    for old in list(&was["parameters"]) {
        let at = format!("the parameter `{}` of {call}", name(old));
        let Some(new) = list(&is["parameters"]).iter().find(|new| same(old, new)) else {
            schemas.found(format!("{at} is gone"));
            continue;
        };
        if old["required"] != true && new["required"] == true {
            schemas.found(format!("{at} is required"));
        }
        if old["explode"] != new["explode"] {
            schemas.found(format!("{at} is written in another way"));
        }
        schemas.compare(&old["schema"], &new["schema"], Direction::Taken, &at);
    }
    for new in list(&is["parameters"]) {
        if new["required"] == true && !list(&was["parameters"]).iter().any(|old| same(old, new)) {
            schemas.found(format!("the parameter `{}` of {call} is required", name(new)));
        }
    }
}

fn body(call: &str, was: &Value, is: &Value, schemas: &mut Schemas<'_>) {
    let (old, new) = (&was["requestBody"], &is["requestBody"]);
    let at = format!("the body of {call}");
    if old["required"] != true && new["required"] == true {
        schemas.found(format!("{at} is required"));
    }
    content(&at, old, new, Direction::Taken, schemas);
}

fn answers(call: &str, was: &Value, is: &Value, schemas: &mut Schemas<'_>) {
    for (status, old) in was["responses"].as_object().unwrap() {
        let at = format!("the answer of {call}");
        match is["responses"].get(status) {
            Some(new) => content(&at, old, new, Direction::Given, schemas),
            None => schemas.found(format!("{at} has another status than {status}")),
        }
    }
}

fn content(at: &str, was: &Value, is: &Value, direction: Direction, schemas: &mut Schemas<'_>) {
    for (media, old) in was["content"].as_object().into_iter().flatten() {
        match is["content"].get(media) {
            Some(new) => schemas.compare(&old["schema"], &new["schema"], direction, at),
            None => schemas.found(format!("{at} is no longer {media}")),
        }
    }
}
