//! What scripts add to pages. `scripts/web` builds them.

use super::{base, content, walk};
use crate::world::{World, npm_package};
use serde_json::json;
use std::path::Path;
use std::process::Command;

#[test]
fn pages_have_the_scripts_that_were_built() {
    let world = World::start();
    let html = world.anon().ask("GET", "/", &[("Accept", "text/html")], b"").expect(200).text().to_owned();
    let script = html.split("<script src=\"").nth(1).expect("no scripts are built: run `scripts/web`, and build again");
    let asset = world.anon().get(script.split('"').next().unwrap()).expect(200);
    assert_eq!(asset.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(asset.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert!(asset.body.len() <= 100 << 10, "{} bytes", asset.body.len());
}

#[test]
fn the_scripts_have_no_type_errors() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/tsconfig.json");
    let mut check = Command::new("node");
    check.arg(npm_package("browser", "typescript/bin/tsc")).arg("--project").arg(project);
    let ran = check.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

#[test]
fn lines_are_copied_and_pages_reached_with_single_keys() {
    let world = content::world();
    let url = world.url("gems");
    walk(
        &world,
        &json!([
            { "task": "copy lines", "steps": [
                ["open", "/repository/gems/"], ["tab", ["button", "Copy"]], ["press", "Enter"],
                ["clipboard", format!("source \"{url}\"")], ["reads", "Copied"],
            ] },
            { "task": "filter the versions, and move in them", "steps": [
                ["open", "/packages/gems/wick"], ["tab", ["input", "Filter the versions"]], ["type", "0.2"],
                ["reads", "6 of 25"], ["reads_not", "0.19.0"], ["tab", ["a", "/packages/gems/wick/0.24.0"]],
                ["press", "ArrowDown"], ["press", "ArrowDown"], ["press", "ArrowUp"], ["follow", "Enter"],
                ["at", "/packages/gems/wick/0.23.0"],
            ] },
            { "task": "go to the search", "steps": [
                ["open", "/repository/gems/"], ["press", "/"], ["focused", "input"], ["type", "/?g"], ["focused", "input"],
            ] },
            { "task": "go to the first page", "steps": [
                ["stop_time", "2024-11-02T09:00:00Z"], ["open", "/repository/gems/"],
                // The letter came too late: the page before the first page is still this one.
                ["press", "g"], ["pass_ms", 2000], ["press", "s"], ["at", "/repository/gems/"],
                ["press", "g"], ["pass_ms", 1900], ["follow", "h"], ["at", "/"], ["back", 1], ["at", "/repository/gems/"],
            ] },
            { "task": "read which keys there are, and switch them off", "steps": [
                ["open", "/repository/gems/"], ["press", "?"], ["reads", "Use single keys"],
                ["focused", "input"], ["press", "Space"], ["press", "Escape"],
                ["reads_not", "Use single keys"], ["press", "/"], ["focused", "body"],
                ["open", "/"], ["press", "/"], ["focused", "body"], ["press", "?"], ["reads", "Use single keys"],
            ] },
        ]),
    );
    assert!(url.starts_with(&base(&world)));
}
