//! Daylight against its peers on one machine, in one run, in turns: `make bench`, or `make bench ARGS=hit`.
//! Loopback only; bounded in count and time; writes nothing but to a temporary folder; ends only what it started.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that prints measurements, and needs sockets, files and time to make them"
)]

mod hit;
mod load;
mod process;
mod push;
mod spread;

#[path = "../../tests/world/gem.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "shared with the tests, which use more of it")]
mod gem;
#[path = "../../tests/world/http.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "shared with the tests, which use more of it")]
mod http;

use anyhow::{Context, Result, bail};
use std::fs;

fn main() -> Result<()> {
    let rows: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = rows.iter().find(|row| !["hit", "push"].contains(&row.as_str())) {
        bail!("no row `{unknown}`: there are `hit` and `push`");
    }
    let wanted = |row: &str| rows.is_empty() || rows.iter().any(|each| each == row);
    machine()?;
    if wanted("hit") {
        hit::row()?;
    }
    if wanted("push") {
        push::row()?;
    }
    Ok(())
}

/// What was measured on.
fn machine() -> Result<()> {
    let cpu = fs::read_to_string("/proc/cpuinfo").context("reading `/proc/cpuinfo`")?;
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown");
    let cores = std::thread::available_parallelism()?;
    println!("machine: {cores} cores of {model}, Linux {}", process::said("uname", &["-r"])?);
    for (program, flag) in [("nginx", "-v"), ("wrk", "-v"), ("rustc", "--version")] {
        println!("version: {}", process::said(program, &[flag])?);
    }
    Ok(())
}
