//! What a release promised, later versions keep: the API, the settings, the command line, and the names in metrics, events and answers.
//!
//! `tests/releases/VERSION` has the documents of a release. `DAYLIGHT_WRITE=1 cargo test --locked --test suite releases::` writes those of the
//! version in Cargo.toml, at its release. From then on they are never changed. docs/stability.md has the rules.

mod api;
mod commands;
mod documents;
mod forms;
mod names;
mod proof;
mod schema;
mod settings;

use crate::world::write;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The documents of a program, by the names of their files.
type Documents = BTreeMap<String, Value>;
/// Compares a document of a release with that of this program. Each text tells one thing that was removed or narrowed.
type Comparison = fn(&Value, &Value) -> Vec<String>;

/// The documents, each with its comparison.
const COMPARED: [(&str, Comparison); 5] = [
    ("openapi.json", api::narrowed),
    ("settings.json", settings::narrowed),
    ("commands.json", commands::narrowed),
    ("names.json", names::narrowed),
    ("forms.json", forms::narrowed),
];

/// Everything that was removed or narrowed since the documents `before`.
fn narrowed(before: &Documents, now: &Documents) -> Vec<String> {
    let of = |(name, compare): &(&str, Comparison)| match (before.get(*name), now.get(*name)) {
        (Some(before), Some(now)) => compare(before, now),
        // Later versions may have further documents.
        (None, _) => Vec::new(),
        (_, None) => vec![format!("the document {name} is gone")],
    };
    COMPARED.iter().flat_map(of).collect()
}

/// A version as three numbers. A part behind a hyphen does not count.
fn numbers(version: &str) -> [u64; 3] {
    let plain = version.split(['-', '+']).next().unwrap();
    let numbers: Vec<u64> = plain.split('.').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// Whether a version may remove what an earlier one had: another major version, or before 1.0 another minor one (SemVer 2.0.0, 4 and 8).
fn may_remove(since: &str, version: &str) -> bool {
    let ([major, minor, _], [since_major, since_minor, _]) = (numbers(version), numbers(since));
    major > since_major || (major == 0 && minor > since_minor)
}

/// The part of the changelog about a version.
fn changes<'a>(changelog: &'a str, version: &str) -> &'a str {
    let section = changelog.split("\n## ").skip(1).find(|section| section.split_whitespace().next() == Some(version));
    section.unwrap_or_default()
}

/// What was removed or narrowed against the rules: anything between versions that are compatible, and otherwise what the changelog of the
/// new version does not name word for word below `### Removed`.
fn against_the_rules(since: &str, version: &str, narrowed: Vec<String>, changelog: &str) -> Vec<String> {
    let removed = changes(changelog, version).split_once("\n### Removed\n").map_or("", |(_, rest)| rest);
    let removed = removed.split("\n### ").next().unwrap_or_default();
    let told = |one: &String| may_remove(since, version) && removed.lines().any(|line| line == format!("- {one}"));
    narrowed.into_iter().filter(|one| !told(one)).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("tests/releases")
}

/// The versions that were released.
fn released() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut versions: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    versions.sort_by_key(|version| numbers(version));
    versions
}

/// The documents of a release.
fn of_release(version: &str) -> Documents {
    let read = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), serde_json::from_str(&text).unwrap())
    };
    std::fs::read_dir(folder().join(version)).unwrap().map(|entry| read(entry.unwrap())).collect()
}

#[test]
fn no_version_removes_or_narrows_what_a_release_has_against_the_rules() {
    let now = documents::of_this_program();
    if std::env::var_os("DAYLIGHT_WRITE").is_some() {
        for (name, document) in &now {
            write(&folder().join(VERSION).join(name), &documents::text(document));
        }
    }
    let changelog = std::fs::read_to_string(folder().join("../../CHANGELOG.md")).unwrap();
    assert!(!changes(&changelog, VERSION).is_empty(), "CHANGELOG.md has no `## {VERSION}`");
    let releases = released();
    assert!(releases.iter().any(|version| version == "0.1.0"), "{releases:?}");
    for version in &releases {
        let wrong = against_the_rules(version, VERSION, narrowed(&of_release(version), &now), &changelog);
        assert!(
            wrong.is_empty(),
            "since {version} this was removed or narrowed (docs/stability.md):\n{}",
            wrong.join("\n")
        );
    }
}

#[test]
fn only_a_version_that_may_remove_does_and_its_changelog_names_each_thing() {
    assert!(may_remove("0.1.0", "0.2.0") && may_remove("0.9.3", "1.0.0") && may_remove("1.4.0", "2.0.0-rc.1"));
    for (since, version) in [("0.1.0", "0.1.0"), ("0.1.0", "0.1.7"), ("1.0.0", "1.9.0"), ("2.0.0", "1.0.0")] {
        assert!(!may_remove(since, version), "{since} {version}");
    }
    let gone = || vec!["the setting `server.a` is gone".to_owned(), "the setting `server.b` is gone".to_owned()];
    let told =
        |texts: &[&str]| format!("# Changelog\n\n## 0.2.0\n\n### Removed\n\n{}\n\n### More\n\n- x\n", texts.join("\n"));
    let (a, b) = ("- the setting `server.a` is gone", "- the setting `server.b` is gone");
    assert!(against_the_rules("0.1.0", "0.2.0", gone(), &told(&[a, b])).is_empty());
    assert_eq!(against_the_rules("0.1.0", "0.2.0", gone(), &told(&[b])), gone()[..1]);
    assert_eq!(against_the_rules("0.1.0", "0.2.0", gone(), &told(&["- x"])).len(), 2);
    // Between compatible versions it does not matter what the changelog says.
    assert_eq!(against_the_rules("0.1.0", "0.1.1", gone(), &told(&[a, b]).replace("0.2.0", "0.1.1")).len(), 2);
    // Nor does the part about another version.
    assert_eq!(against_the_rules("0.1.0", "0.3.0", gone(), &told(&[a, b])).len(), 2);
}
