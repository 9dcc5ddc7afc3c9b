//! A closed-loop load: as many requests for one URL as the server can answer, by wrk, or on HTTP/2 by h2load.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// The figures of wrk.
pub(crate) struct Load {
    /// Requests that were answered.
    pub(crate) requests: f64,
    /// Requests per second.
    pub(crate) per_second: f64,
    /// Bytes received, including those of replies that were cut off at the end.
    pub(crate) bytes: f64,
    /// Bytes per second.
    pub(crate) bytes_per_second: f64,
}

/// The program that sends the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generator {
    /// HTTP/1.1: one request at a time on each connection.
    Wrk,
    /// HTTP/2: twenty requests at a time.
    H2load,
    /// HTTP/1.1, for missing names below the URL that were never requested before.
    Missing,
}

/// Makes wrk request another name each time.
const EACH_ANOTHER: &str = "local run, asked = tostring({}):gsub('%W', '') .. os.time(), 0\n\
    request = function() asked = asked + 1; return wrk.format('GET', wrk.path .. run .. '-' .. asked .. '.jar') end\n";

impl Generator {
    /// The command, for display.
    pub(crate) fn command(self, connections: usize, seconds: u32, url: &str) -> String {
        match self {
            Generator::Wrk => format!("wrk {}", arguments(connections, seconds, url).join(" ")),
            Generator::H2load => format!("h2load {}", framed(connections, seconds, url).join(" ")),
            Generator::Missing => format!("wrk -s SCRIPT {}", arguments(connections, seconds, url).join(" ")),
        }
    }

    /// Runs it. Fails if a single reply was not the expected one: a success, or for missing names a 404.
    pub(crate) fn run(self, connections: usize, seconds: u32, url: &str) -> Result<Load> {
        match self {
            Generator::Wrk => run(connections, seconds, url),
            Generator::H2load => run_framed(connections, seconds, url),
            Generator::Missing => run_missing(connections, seconds, url),
        }
    }
}

fn framed(connections: usize, seconds: u32, url: &str) -> Vec<String> {
    ["-t1", "-m20", &format!("-c{connections}"), &format!("-D{seconds}"), url].map(str::to_owned).to_vec()
}

fn run_framed(connections: usize, seconds: u32, url: &str) -> Result<Load> {
    let output = Command::new("h2load").args(framed(connections, seconds, url)).output().context("running h2load")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |mark: &str| text.lines().find_map(|line| line.strip_prefix(mark)).with_context(|| text.to_string());
    let first = |line: &str, after: &str| -> Result<f64> {
        let number = line.split(after).next().and_then(|head| head.split_whitespace().last());
        number.and_then(|number| number.parse().ok()).with_context(|| line.to_owned())
    };
    let (requests, codes) = (line("requests: ")?, line("status codes: ")?);
    let done = first(requests, " done")?;
    // A reply that is cut off at the end counts only among the statuses.
    let bad = [(codes, " 3xx"), (codes, " 4xx"), (codes, " 5xx"), (requests, " failed"), (requests, " errored")];
    for (line, what) in bad {
        ensure!(first(line, what)? == 0.0, "h2load: {text}");
    }
    let bytes = line("traffic: ")?.split(['(', ')']).nth(1).and_then(|bytes| bytes.parse::<f64>().ok());
    let bytes = bytes.context("bytes of traffic")?;
    let seconds = f64::from(seconds);
    Ok(Load { requests: done, per_second: done / seconds, bytes, bytes_per_second: bytes / seconds })
}

/// The command, for display.
pub(crate) fn arguments(connections: usize, seconds: u32, url: &str) -> Vec<String> {
    ["-t1", "--timeout", "30s", &format!("-c{connections}"), &format!("-d{seconds}s"), url].map(str::to_owned).to_vec()
}

/// Runs it. Fails when a single reply was not a success.
pub(crate) fn run(connections: usize, seconds: u32, url: &str) -> Result<Load> {
    wrk(&arguments(connections, seconds, url))
}

/// Runs it with a script in Lua that makes the requests.
pub(crate) fn scripted(connections: usize, seconds: u32, url: &str, script: &Path) -> Result<Load> {
    let script = ["-s".to_owned(), script.display().to_string()];
    wrk(&[script.to_vec(), arguments(connections, seconds, url)].concat())
}

fn run_missing(connections: usize, seconds: u32, url: &str) -> Result<Load> {
    let script = tempfile::NamedTempFile::new()?;
    std::fs::write(script.path(), EACH_ANOTHER)?;
    let script = ["-s".to_owned(), script.path().display().to_string()];
    let text = said(&[script.to_vec(), arguments(connections, seconds, url)].concat())?;
    let load = read(&text)?;
    let refused = text.split("Non-2xx or 3xx responses:").nth(1).and_then(|rest| rest.split_whitespace().next());
    let refused: f64 = refused.and_then(|number| number.parse().ok()).unwrap_or_default();
    ensure!(refused == load.requests, "of {} names {refused} are missing: {text}", load.requests);
    Ok(load)
}

/// Runs wrk with these arguments. Fails when a single reply was not a success.
pub(crate) fn wrk(arguments: &[String]) -> Result<Load> {
    let text = said(arguments)?;
    ensure!(!text.contains("Non-2xx"), "wrk: {text}");
    read(&text)
}

fn said(arguments: &[String]) -> Result<String> {
    let output = Command::new("wrk").args(arguments).output().context("running wrk")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success() && !text.contains("Socket errors"), "wrk: {text}");
    Ok(text)
}

/// Parses its output.
fn read(text: &str) -> Result<Load> {
    let before = |mark: &str| text.split(mark).next().and_then(|head| head.split_whitespace().last());
    let after = |mark: &str| text.split(mark).nth(1).and_then(|rest| rest.split_whitespace().next());
    let requests = before(" requests in").and_then(|number| number.parse().ok());
    let per_second = after("Requests/sec:").and_then(|number| number.parse().ok());
    Ok(Load {
        requests: requests.context("requests")?,
        per_second: per_second.context("Requests/sec")?,
        bytes: before(" read").and_then(bytes).context("bytes read")?,
        bytes_per_second: after("Transfer/sec:").and_then(bytes).context("Transfer/sec")?,
    })
}

/// `1.25GB` in bytes.
fn bytes(text: &str) -> Option<f64> {
    let units = [("KB", 10), ("MB", 20), ("GB", 30), ("TB", 40), ("B", 0)];
    let (number, power) = units.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, power)))?;
    Some(number.parse::<f64>().ok()? * f64::from(1 << (power % 30)) * f64::from(1 << (power - power % 30)))
}
