//! The page of settings has each setting that the program knows, with its text, and no other.

use super::page::root;
use crate::world::program;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn the_page_of_settings_has_them_all() {
    let shown = program(&["config", "show", "--json"]).output().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let known: BTreeSet<&str> =
        shown["keys"].as_array().unwrap().iter().map(|key| key["key"].as_str().unwrap()).collect();
    let page = fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    let told: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next().filter(|name| !name.contains(' ')))
        .collect();
    let missing: Vec<_> = known.difference(&told).collect();
    let gone: Vec<_> = told.difference(&known).collect();
    assert!(missing.is_empty() && gone.is_empty(), "docs/configuration.md lacks {missing:?} and has {gone:?}");
    let text =
        |key: &str| shown["keys"].as_array().unwrap().iter().find(|one| one["key"] == key).unwrap()["doc"].clone();
    for key in &known {
        let row = format!("| `{key}` | {} |", text(key).as_str().unwrap());
        assert!(page.lines().any(|line| line == row), "docs/configuration.md has another text than\n{row}");
    }
}
