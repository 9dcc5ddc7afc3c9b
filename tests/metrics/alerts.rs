//! The rules for Prometheus are valid, and each fires when it should.

use crate::world::promtool;
use tempfile::TempDir;

/// The rules for Prometheus.
pub(super) fn rules() -> &'static str {
    include_str!("../../docs/prometheus/daylight.rules.yml")
}

#[test]
fn the_rules_are_valid_and_each_fires_when_it_should() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("daylight.rules.yml", rules());
    let tests = [include_str!("alerts.yml"), include_str!("backups.yml")];
    write("alerts.yml", tests[0]);
    write("backups.yml", tests[1]);
    let checks: [&[&str]; 2] =
        [&["check", "rules", "daylight.rules.yml"], &["test", "rules", "alerts.yml", "backups.yml"]];
    for arguments in checks {
        let checked = promtool(folder.path(), arguments, "");
        assert!(
            checked.status.success(),
            "{}{}",
            String::from_utf8_lossy(&checked.stdout),
            String::from_utf8_lossy(&checked.stderr)
        );
    }
    let tests = tests.concat();
    for name in rules().lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let fires = |part: &str| part.lines().next() == Some(name) && part.contains("exp_alerts:\n          - ");
        assert!(tests.split("alertname: ").any(fires), "no test makes {name} fire");
    }
}

#[test]
fn the_rules_name_metrics_that_the_manual_describes() {
    let manual = include_str!("../../docs/metrics.md");
    let names = rules().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for name in names.filter(|name| name.starts_with("daylight_") || name.starts_with("process_")) {
        assert!(manual.contains(&format!("\n| `{name}` |")), "{name} is in an alert and not in the table");
    }
}
