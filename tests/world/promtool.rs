//! Prometheus' own checker of metrics and rules, which `scripts/setup test` fetches.

use super::central::cache;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program.
pub(crate) fn promtool_program() -> PathBuf {
    let fetched = cache().join("tools/bin/promtool");
    if fetched.exists() { fetched } else { "promtool".into() }
}

/// Runs promtool in a folder, with this text as its input.
pub(crate) fn promtool(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(promtool_program());
    command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().unwrap_or_else(|error| panic!("promtool, which `scripts/setup test` fetches: {error}"));
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A thread of its own: promtool may print before it has read everything.
        scope.spawn(move || drop(pipe.write_all(input.as_bytes())));
        child.wait_with_output().unwrap()
    })
}
