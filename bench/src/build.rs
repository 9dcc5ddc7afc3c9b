//! A real build with Maven 3.8 on a new machine: its cost on a server that must download all files, and on one that has
//! cached them, compared with Nexus. Both use the same upstream, which is a process of its own.

mod central;
mod maven;

use crate::http::Connection;
use crate::nexus::Nexus;
use crate::process::{Server, TOKEN, load_average};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use central::Central;
use maven::Machine;
use serde_json::{Value, json};
use std::time::Instant;

/// The number of rounds, after one that is not counted: Nexus is slow until its code is compiled.
const ROUNDS: usize = 3;

#[derive(Default)]
struct Figures {
    cpu: Spread,
    seconds: Spread,
}

/// A server without and with cached files.
#[derive(Default)]
struct Peer {
    cold: Figures,
    warm: Figures,
}

/// The counts of Daylight's replies.
#[derive(Debug, Clone, Copy, Default)]
struct Replies {
    all: f64,
    pages: f64,
}

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## A real build with Maven 3.8");
    let folder = tempfile::tempdir()?;
    let central = Central::open()?;
    let daylight = Server::daylight(folder.path(), &[])?;
    let nexus = Nexus::start()?;
    let (mut ours, mut theirs, mut files) = (Peer::default(), Peer::default(), 0);
    for round in 0..=ROUNDS {
        let name = format!("build-{round}");
        make(&daylight, &name, &json!({ "urls": [central.url()] }))?;
        nexus.stand_for(&name, &central.url())?;
        for (server, peer) in [(&daylight, &mut ours), (&nexus.server, &mut theirs)] {
            let url = format!("http://{}/repository/{name}/", server.address);
            for figures in [&mut peer.cold, &mut peer.warm] {
                let (before, began) = (server.cpu_seconds()?, Instant::now());
                files = Machine::new(maven::DEBIAN)?.build(&url)?;
                let (seconds, cpu) = (began.elapsed().as_secs_f64(), server.cpu_seconds()? - before);
                println!("{} of {name}: {cpu:.2} s of CPU, {seconds:.1} s", server.name);
                if round > 0 {
                    figures.cpu.add(cpu);
                    figures.seconds.add(seconds);
                }
            }
        }
    }
    println!("\nfiles that a build downloads, without the checksums beside them: {files}");
    println!(
        "| {ROUNDS} rounds in turns, median (least to most) | server CPU cold, s | warm, s | build cold, s | warm, s | highest memory, MB |"
    );
    println!("|---|---|---|---|---|---|");
    for (server, Peer { cold, warm }) in [(&daylight, &ours), (&nexus.server, &theirs)] {
        let (name, memory) = (server.name, server.highest()? >> 20);
        println!("| {name} | {} | {} | {} | {} | {memory} |", cold.cpu, warm.cpu, cold.seconds, warm.seconds);
    }
    println!(
        "\n| Maven | requests of a warm build | of these, answered by pages | requests to Nexus |\n|---|---|---|---|"
    );
    let repository = format!("build-{ROUNDS}");
    let url = |server: &Server| format!("http://{}/repository/{repository}/", server.address);
    for (name, home) in central.clients()? {
        // Files that only this Maven needs are downloaded before.
        Machine::new(&home)?.build(&url(&daylight))?;
        Machine::new(&home)?.build(&url(&nexus.server))?;
        let before = (replies(&daylight)?, nexus.requests(&repository)?);
        Machine::new(&home)?.build(&url(&daylight))?;
        Machine::new(&home)?.build(&url(&nexus.server))?;
        let (after, theirs) = (replies(&daylight)?, nexus.requests(&repository)? - before.1);
        println!("| {name} | {} | {} | {theirs} |", after.all - before.0.all, after.pages - before.0.pages);
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// Creates a remote repository for an upstream.
fn make(daylight: &Server, name: &str, upstream: &Value) -> Result<()> {
    let settings = json!({ "name": name, "format": "maven", "kind": "remote", "remote": upstream });
    let headers = [("Authorization", TOKEN), ("Content-Type", "application/json")];
    let mut connection = Connection::open(daylight.address.parse()?)?;
    let made = connection.call("POST", "/api/v1/repositories", &headers, settings.to_string().as_bytes())?;
    ensure!(made.status == 201, "making a repository: {}", made.text());
    Ok(())
}

/// The replies so far, without those to this function.
fn replies(daylight: &Server) -> Result<Replies> {
    let metrics = Connection::open(daylight.address.parse()?)?.call("GET", "/metrics", &[], b"")?;
    let mut replies = Replies::default();
    for line in metrics.text().lines().filter(|line| line.starts_with("daylight_requests_total{")) {
        let count: f64 = line.rsplit(' ').next().and_then(|count| count.parse().ok()).context("a count")?;
        if !line.contains("layer=\"none\"") {
            replies.all += count;
        }
        if line.contains("layer=\"page\"") {
            replies.pages += count;
        }
    }
    Ok(replies)
}
