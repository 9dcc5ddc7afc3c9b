//! The rules, the dashboard and the table of alerts in the manual are what the code gives.
//!
//! `DAYLIGHT_WRITE=1 cargo test --locked --test suite monitoring::written` writes them again.

use super::{dashboard, rules};
use std::path::{Path, PathBuf};

pub(super) const RULES: &str = "docs/prometheus/daylight.rules.yml";
pub(super) const DASHBOARD: &str = "docs/grafana/daylight.json";
const MANUAL: &str = "docs/monitoring.md";
/// What the table of alerts begins with.
const HEADING: &str = "| alert | severity | it means |\n|---|---|---|\n";

/// A file of the tree.
pub(super) fn path(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join(of)
}

/// Compares a file with what it must be, or writes it.
#[track_caller]
fn is(of: &str, wanted: &str) {
    if std::env::var_os("DAYLIGHT_WRITE").is_some() {
        return crate::world::write(&path(of), wanted);
    }
    let found = std::fs::read_to_string(path(of)).unwrap_or_default();
    let differs = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "{of} is not what the code gives, for example {differs:?}: run\nDAYLIGHT_WRITE=1 cargo test --locked --test suite monitoring::written"
    );
}

#[test]
fn the_rules_for_prometheus_are_those_of_the_code() {
    is(RULES, &rules::yaml());
}

#[test]
fn the_dashboard_is_that_of_the_code() {
    is(DASHBOARD, &dashboard::text());
}

#[test]
fn the_manual_says_what_each_alert_means() {
    let manual = std::fs::read_to_string(path(MANUAL)).unwrap();
    let (before, after) = manual.split_once(HEADING).unwrap();
    let rest: Vec<&str> = after.lines().skip_while(|line| line.starts_with('|')).collect();
    let rows = rules::table().join("\n");
    is(MANUAL, &format!("{before}{HEADING}{rows}\n{}\n", rest.join("\n")));
}
