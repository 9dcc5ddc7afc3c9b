//! The real client of web pages: Debian's Chromium, driven by a script of `tests/browser` with the packages that `scripts/setup test`
//! installs.

use super::central::cache;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian has its browser.
const CHROMIUM: &str = "/usr/bin/chromium";

/// Runs a script of `tests/browser` with this input and the browser, and returns what it printed as JSON.
pub(crate) fn browser(script: &str, mut given: Value) -> Value {
    given["chromium"] = json!(CHROMIUM);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser").join(script);
    let mut command = Command::new("node");
    command.arg(script).arg(given.to_string()).env("NODE_PATH", npm_package("browser", ""));
    let ran = command.output().unwrap_or_else(|error| panic!("the node that `scripts/setup test` installs: {error}"));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// A file of the npm packages that `scripts/setup test` installs for `tests/SET`.
pub(crate) fn npm_package(set: &str, path: &str) -> PathBuf {
    cache().join("tools").join(set).join("node_modules").join(path)
}
