//! The pages and API calls about packages: they tell what clients get, and of all else why clients do not get it.

mod dependents;
mod gems;
mod hostile;
mod kept;
mod maven;
mod more;
mod private;
mod size;
mod truth;
mod usage;

use crate::world::{Answer, Person};
use serde_json::Value;

/// The call of the API about a package.
fn call(repository: &str, package: &str) -> String {
    format!("/api/v1/packages/{repository}/{package}")
}

/// The page about a package.
fn page(repository: &str, package: &str) -> String {
    format!("/packages/{repository}/{package}")
}

/// Noon of a day of November.
fn day(day: u32) -> String {
    format!("2026-11-{day:02}T12:00:00Z")
}

/// The versions of a package in this state, as the API tells them.
fn in_state<'a>(package: &'a Value, state: &str) -> Vec<&'a Value> {
    let versions = package["versions"].as_array().unwrap();
    versions.iter().filter(|version| version["state"] == state).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key}: {value}"))
}

/// The text as HTML shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&#38;").replace('<', "&#60;").replace('>', "&#62;").replace('"', "&#34;").replace('\'', "&#39;")
}

/// The package as the API tells it, after the page was compared with it: each version with its reason and dates.
fn told(person: &Person, repository: &str, package: &str) -> Option<Value> {
    let (api, html) = (person.get(&call(repository, package)), person.get(&page(repository, package)));
    assert_eq!(api.status, html.status, "{}\n{}", api.text(), html.text());
    if api.status != 200 {
        assert_eq!(api.status, 404, "{}", api.text());
        return None;
    }
    let value = api.json();
    let shown = html.text();
    let has = |text: &str| assert!(shown.contains(&escaped(text)), "the page lacks {text:?}:\n{shown}\n{value:#}");
    for version in value["versions"].as_array().unwrap() {
        has(text(version, "version"));
        assert!(!shown.contains("does not answer:"), "{shown}");
        for key in ["published", "by", "gone"] {
            version[key].as_str().into_iter().for_each(has);
        }
        for key in ["why", "until", "hint"] {
            version["hidden"][key].as_str().into_iter().for_each(has);
        }
    }
    for snippet in value["snippets"].as_array().unwrap() {
        has(text(snippet, "lines"));
    }
    Some(value)
}

/// Why clients do not get versions: the states and rules that a comparison met.
type Met = std::cell::RefCell<std::collections::BTreeSet<String>>;

/// Adds the states and rules of a package.
fn meet(met: &Met, package: &Value) {
    for version in package["versions"].as_array().unwrap() {
        met.borrow_mut().insert(text(version, "state").to_owned());
        met.borrow_mut().extend(version["hidden"]["rule"].as_str().map(str::to_owned));
    }
}

/// The status and the body of a file, for comparison with a reason.
fn refused(answer: &Answer, version: &Value) {
    let hidden = &version["hidden"];
    let said = answer.text();
    match text(hidden, "rule") {
        "cooldown" | "deny" | "allow" | "private" => {
            assert_eq!(answer.status, 403, "{version} {said}");
            assert!(said.contains(text(hidden, "why")), "{said}\n{version}");
            assert!(said.contains(text(hidden, "hint")), "{said}\n{version}");
            if let Some(command) = hidden["command"].as_str() {
                assert!(said.contains(command), "{said}\n{version}");
            }
        }
        "origin" | "as_of" => assert!([403, 404].contains(&answer.status), "{version} {said}"),
        rule => panic!("{rule}: {said}"),
    }
}
