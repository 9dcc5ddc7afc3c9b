//! Load: many requests for one URL, by wrk.

use anyhow::{Context, Result, ensure};
use std::process::Command;

/// What wrk did.
pub(crate) struct Load {
    /// Requests answered.
    pub(crate) requests: f64,
    /// Of these, each second.
    pub(crate) per_second: f64,
}

/// The command, for the record.
pub(crate) fn arguments(seconds: u32, url: &str) -> Vec<String> {
    ["-t1", "-c32", &format!("-d{seconds}s"), url].map(str::to_owned).to_vec()
}

/// Runs it. Fails when a single reply was not a success.
pub(crate) fn run(seconds: u32, url: &str) -> Result<Load> {
    let output = Command::new("wrk").args(arguments(seconds, url)).output().context("running wrk")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success() && !text.contains("Non-2xx") && !text.contains("Socket errors"), "wrk: {text}");
    let before = |mark: &str| text.split(mark).next().and_then(|head| head.split_whitespace().last());
    let requests = before(" requests in").and_then(|number| number.parse().ok());
    let per_second = text.split("Requests/sec:").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    Ok(Load { requests: requests.context("requests")?, per_second: per_second.context("Requests/sec")? })
}
