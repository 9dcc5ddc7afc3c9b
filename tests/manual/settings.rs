//! The pages of settings have each setting that the program knows, with its text, and no other.

use super::page::root;
use crate::world::program;
use std::collections::BTreeSet;
use std::fs;
use telemetry::PageOutcome;

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
        // Keys of tables have another form.
        .filter(|name| !name.starts_with("finding.") && !name.starts_with("alerts.to."))
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

/// The names in backticks with which the rows of a table begin.
fn rows<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
    let (_, table) = page.split_once(head).unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with("| `"));
    rows.map(|row| row[3..].split('`').next().unwrap()).collect()
}

#[test]
fn the_page_about_pages_of_applications_has_all_their_settings_outcomes_and_kinds_of_keys() {
    let page = fs::read_to_string(root().join("docs/app-pages.md")).unwrap();
    let of_apps = fs::read_to_string(root().join("crates/daylight/src/config/app_table.rs")).unwrap();
    let known: Vec<&str> = of_apps.split("\"app.pages.").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(rows(&page, "| setting | default | |\n"), known);
    let outcomes: Vec<&str> = PageOutcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
    assert_eq!(rows(&page, "| `app_page` | |\n"), outcomes);
    let rules = fs::read_to_string(root().join("crates/format/src/page/key/mod.rs")).unwrap();
    for kind in rows(&page, "| key | of |\n") {
        assert!(rules.contains(&format!("=> \"{kind}\",")), "no key is of the kind {kind}");
    }
}
