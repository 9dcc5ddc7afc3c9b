//! The report about a stretch of time in a real browser: a file, not a page of the server.

use super::browser;
use crate::report::{report, used};
use serde_json::json;

#[test]
fn a_report_is_accessible_in_each_appearance_and_asks_no_host() {
    let (world, _upstream) = used();
    let folder = tempfile::tempdir().unwrap();
    report(&world, &world.admin(), folder.path());
    let base = format!("file://{}", folder.path().display());
    let found = browser("appearance.js", json!({ "base": base, "pages": [{ "path": "/report.html", "status": 200 }] }));
    assert_eq!((&found["looks"], &found["wrong"]), (&json!(6), &json!([])));
}
