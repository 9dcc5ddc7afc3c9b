//! The screenshots of the manual. `scripts/screenshots` makes them again.

use super::{HIDDEN, base, content};
use crate::world::{World, browser};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;

/// Most bytes of one.
const BYTES_MAX: u64 = 150 << 10;

#[test]
fn the_screenshots_of_the_manual_can_be_made_again() {
    // The pages name no address of this machine.
    let world = World::start_with(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://packages.example.com")]);
    content::fill(&world);
    let pages = json!([
        { "name": "package", "path": "/packages/gems/lamp", "height": 760 },
        { "name": "explain", "path": HIDDEN, "height": 760 },
        { "name": "version-dark-narrow", "path": "/packages/gems/lamp/1.1.0", "width": 360, "height": 720, "dark": true },
    ]);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
    let (folder, wanted) = (TempDir::new().unwrap(), std::env::var_os("DAYLIGHT_SCREENSHOTS"));
    let into = if wanted.is_some() { kept.as_path() } else { folder.path() };
    std::fs::create_dir_all(into).unwrap();
    let sizes = browser("screenshots.js", json!({ "base": base(&world), "folder": into, "pages": pages }));
    let sizes = sizes.as_object().unwrap();
    assert!(sizes.values().all(|size| (1..=BYTES_MAX).contains(&size.as_u64().unwrap())), "{sizes:?}");
    let made: BTreeSet<String> = sizes.keys().map(|name| format!("{name}.png")).collect();
    let files = std::fs::read_dir(&kept).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(files.collect::<BTreeSet<_>>(), made, "docs/images");
}
