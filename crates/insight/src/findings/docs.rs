//! docs/findings.md has the checks as the code has them.

use super::catalogue::{CheckAbout, check_list};
use std::time::Duration;

/// The rows of the table of checks, as the page must have them: by key.
fn rows() -> Vec<String> {
    let mut checks: Vec<CheckAbout> = check_list().collect();
    checks.sort_by_key(|check| check.key);
    let row = |check: &CheckAbout| {
        let CheckAbout { key, kind, about, when, unless, after, .. } = check;
        let [about, when, unless] = [about, when, unless].map(|text| text.trim_end_matches('.'));
        format!("| `{key}` | {} | {about} | {when} | {unless} | {} |", kind.as_str(), span(*after))
    };
    checks.iter().map(row).collect()
}

fn span(after: Duration) -> String {
    match after.as_secs() {
        0 => "at once".to_owned(),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

#[test]
fn the_page_about_findings_has_each_check_and_no_other() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md")).unwrap();
    let (_, checks) = page.split_once("\n## Checks\n").unwrap();
    let checks = checks.split("\n## ").next().unwrap();
    let told: Vec<&str> = checks.lines().filter(|line| line.starts_with("| `")).collect();
    let rows = rows();
    assert_eq!(told, rows, "docs/findings.md must have these rows:\n{}", rows.join("\n"));
}

#[test]
fn each_check_has_a_name_of_its_own_and_words_that_a_table_can_hold() {
    let mut checks: Vec<CheckAbout> = check_list().collect();
    checks.sort_by_key(|check| check.key);
    assert!(checks.windows(2).all(|two| two[0].key != two[1].key), "two checks have one name");
    for CheckAbout { key, about, when, unless, .. } in checks {
        let texts = [about, when, unless];
        assert!(!about.is_empty() && !when.is_empty(), "{key} is not described");
        assert!(texts.iter().all(|text| !text.contains(['|', '\n'])), "{key}: {texts:?}");
    }
}
