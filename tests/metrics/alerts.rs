//! The alerts of the manual are valid rules, and fire when they should.

use crate::world::promtool;
use tempfile::TempDir;

/// The rules of the manual: its block of YAML that begins with groups.
pub(super) fn rules() -> &'static str {
    let manual = include_str!("../../docs/monitoring.md");
    let blocks = manual.split("```yaml\n").skip(1).map(|block| block.split_once("```").unwrap().0);
    blocks.into_iter().find(|block| block.starts_with("groups:")).unwrap()
}

#[test]
fn the_alerts_of_the_manual_are_valid_and_fire_when_they_should() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("daylight.rules.yml", rules());
    write("alerts.yml", include_str!("alerts.yml"));
    for arguments in [["check", "rules", "daylight.rules.yml"], ["test", "rules", "alerts.yml"]] {
        let checked = promtool(folder.path(), &arguments, "");
        assert!(
            checked.status.success(),
            "{}{}",
            String::from_utf8_lossy(&checked.stdout),
            String::from_utf8_lossy(&checked.stderr)
        );
    }
}

#[test]
fn the_alerts_of_the_manual_name_metrics_that_it_describes() {
    let manual = include_str!("../../docs/metrics.md");
    let names = rules().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for name in names.filter(|name| name.starts_with("daylight_") || name.starts_with("process_")) {
        assert!(manual.contains(&format!("\n| `{name}` |")), "{name} is in an alert and not in the table");
    }
}
