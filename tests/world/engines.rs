//! Other readers of Parquet, PyArrow and DuckDB, which `scripts/setup test` installs.

use super::central::cache;
use std::path::Path;
use std::process::Command;

/// Runs a Python script that may import both, and returns what it printed as JSON.
pub(crate) fn engines(script: &Path, arguments: &[&str]) -> serde_json::Value {
    let python = cache().join("tools/engines/bin/python");
    let ran = Command::new(python).arg(script).args(arguments).output();
    let ran = ran.unwrap_or_else(|error| panic!("the Python that `scripts/setup test` installs: {error}"));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}
