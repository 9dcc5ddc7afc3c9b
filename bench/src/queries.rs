//! A million generated queries: their cost compared with the same page without a query, and whether popular pages stay
//! cached.

use crate::hit::publish;
use crate::http::Connection;
use crate::load;
use crate::process::{Server, TOKEN, load_average};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use std::fs;

const ROUNDS: usize = 5;
const QUERIES: f64 = 1e6;
/// The number of popular pages.
const HOT: usize = 20;
/// Each request has a unique query, also across rounds.
const SCRIPT: &str = "local n = os.time() * 10000000\n\
    request = function() n = n + 1; return wrk.format(\"GET\", wrk.path .. \"?q=\" .. n) end\n";

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Generated queries");
    let folder = tempfile::tempdir()?;
    let server = Server::daylight(folder.path(), &[])?;
    let script = folder.path().join("queries.lua");
    fs::write(&script, SCRIPT)?;
    println!("script:\n{SCRIPT}");
    (0..HOT).try_for_each(|number| publish(&server, &format!("lamp{number}"), 4))?;
    for _ in 0..3 {
        hot(&server)?;
    }
    let url = format!("http://{}/repository/gems-private/info/lamp0", server.address);
    let (mut plain, mut made_up, mut ratio) = (Spread::default(), Spread::default(), Spread::default());
    let mut queries = 0.0;
    let mut rounds = 0;
    while rounds < ROUNDS || queries < QUERIES {
        let (without, _) = measure(&server, || load::run(32, 4, &url))?;
        let (with, requests) = measure(&server, || load::scripted(32, 4, &url, &script))?;
        plain.add(without);
        made_up.add(with);
        ratio.add(with / without);
        queries += requests;
        rounds += 1;
    }
    println!("\n{rounds} rounds in turns, median (least to most); {queries:.0} different queries in all");
    println!("\n| | server CPU per request, us |");
    println!("|---|---|");
    println!("| the page | {plain} |");
    println!("| with a query that no code reads, each time another | {made_up} |");
    println!("| ratio, must be at most 1.02 | {ratio} |");
    println!("\npages that stayed cached: {} of {HOT}", hot(&server)?);
    println!("load average after it: {}", load_average()?);
    Ok(())
}

/// Microseconds of the server for each request, and the number of requests.
fn measure(server: &Server, load: impl FnOnce() -> Result<load::Load>) -> Result<(f64, f64)> {
    let before = server.cpu_seconds()?;
    let requests = load()?.requests;
    Ok(((server.cpu_seconds()? - before) * 1e6 / requests, requests))
}

/// Reads each popular page once. Returns how many were answered from memory.
fn hot(server: &Server) -> Result<usize> {
    let before = from_memory(server)?;
    let mut connection = Connection::open(server.address.parse()?)?;
    for number in 0..HOT {
        let path = format!("/repository/gems-private/info/lamp{number}");
        let reply = connection.call("GET", &path, &[], b"")?;
        ensure!(reply.status == 200, "{path}: {}", reply.status);
    }
    Ok(from_memory(server)? - before)
}

/// The number of replies from pages, by the server's own count.
fn from_memory(server: &Server) -> Result<usize> {
    let path = "/metrics";
    let reply = Connection::open(server.address.parse()?)?.call("GET", path, &[("Authorization", TOKEN)], b"")?;
    let text = reply.text();
    let is_page = |line: &&str| {
        line.starts_with("daylight_requests_total{") && line.contains("layer=\"page\"") && line.contains("status=\"2")
    };
    let mut pages = 0;
    for line in text.lines().filter(is_page) {
        pages += line.rsplit(' ').next().context("a count in /metrics")?.parse::<usize>()?;
    }
    Ok(pages)
}
