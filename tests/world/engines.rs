//! Other readers, in Python, which `scripts/setup test` installs: of Parquet (PyArrow and DuckDB), and of files of Kubernetes and compose.

use super::central::cache;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a Python script that may import both, and returns what it printed as JSON.
pub(crate) fn engines(script: &Path, arguments: &[&str]) -> serde_json::Value {
    let ran = python("engines", script, arguments);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// Runs a Python script with the packages of a set, such as `engines` or `manifests`.
pub(crate) fn python(set: &str, script: &Path, arguments: &[&str]) -> Output {
    let python = cache().join(format!("tools/{set}/bin/python"));
    let ran = Command::new(python).arg(script).args(arguments).output();
    ran.unwrap_or_else(|error| panic!("the Python that `scripts/setup test` installs: {error}"))
}
