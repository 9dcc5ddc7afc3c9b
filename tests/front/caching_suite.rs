//! The public suite of tests for HTTP caches, by its own count. `DAYLIGHT_CACHE_SUITE` is the folder of another release of it.

use super::program::Front;
use crate::world::{eventually, npm_package};
use serde_json::Value;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Required tests of release 0.4.5 that its later editions changed, because RFC 9111 says otherwise. They fail here.
const REVISED: &[(&str, &str)] = &[
    ("304-etag-update-response-Content-MD5", "a 304 updates every header that it has (RFC 9111, 3.2)"),
    ("age-parse-", "an `Age` that is no number is ignored, and of several the first one counts (RFC 9111, 5.1)"),
    ("stale-close-", "the reply to a broken backend is no stored one, but has no number of the suite's server either"),
    ("surrogate-", "`Surrogate-Control` was never specified; `CDN-Cache-Control` is (RFC 9213)"),
];

/// The server of the suite.
struct Suite(Child);

impl Suite {
    /// Starts it on a free port.
    fn start(folder: &Path, files: &Path) -> (Self, u16) {
        // The suite binds a port by its number.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut node = Command::new("node");
        node.arg(folder.join("server/server.mjs")).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
        node.env("npm_config_port", port.to_string()).env("npm_config_protocol", "http");
        let suite = Self(node.env("npm_config_pidfile", files.join("pid")).spawn().unwrap());
        eventually(|| TcpStream::connect(("127.0.0.1", port)).map_err(|error| format!("the suite's server: {error}")));
        (suite, port)
    }
}

impl Drop for Suite {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn no_required_test_of_the_public_caching_suite_fails() {
    let folder = std::env::var_os("DAYLIGHT_CACHE_SUITE")
        .map_or_else(|| npm_package("caching", "http-cache-tests"), PathBuf::from);
    let files = tempfile::tempdir().unwrap();
    let (_suite, port) = Suite::start(&folder, files.path());
    let front = Front::to(&[&format!("http://127.0.0.1:{port}")]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/caching/run.mjs");
    let target = format!("http://{}", front.address());
    let ran = Command::new("node").arg("--no-warnings").arg(script).arg(&folder).arg(target).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    println!("{told:#}");
    let newest = std::env::var_os("DAYLIGHT_CACHE_SUITE").is_some();
    let is_revised = |test: &str| !newest && REVISED.iter().any(|(revised, _)| test.starts_with(revised));
    let failed = told["failed"].as_object().unwrap().iter();
    let failed = failed.filter(|(test, why)| why.as_str().unwrap().starts_with("fail") && !is_revised(test));
    assert_eq!(failed.map(|(test, why)| format!("{test}: {why}")).collect::<Vec<_>>(), [""; 0]);
    let count = |kind: &str, word: &str| told["counts"][kind][word].as_u64().unwrap_or_default();
    assert!(count("required", "pass") >= 140 && count("optimal", "pass") >= 65, "{}", told["counts"]);
}
