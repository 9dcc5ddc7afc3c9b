//! A build on each server in turns: cold, where a server has nothing cached, and warm.

use super::figures::{Cost, Figures};
use super::peers::{Opened, Peer, Peers};
use super::recorded::{Client, Recorded, Upstream, is_artifact};
use super::replay;
use super::replies::Replies;
use crate::bare;
use anyhow::{Context, Result, ensure};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The rounds after one that is not counted, unless `ROUNDS` sets another number.
const ROUNDS: usize = 10;
/// How long a server that was started, or has answered a cold build, may work on: the start is no part of a build, and all that a
/// server writes after its last answer is.
pub(super) const AFTERWARDS: Duration = Duration::from_secs(1);

/// The requests of a build.
pub(crate) struct Work<'a> {
    /// The client that builds; without one the requests are replayed.
    client: Option<&'a Client>,
    requests: Vec<String>,
    recorded: &'a Recorded,
}

impl<'a> Work<'a> {
    /// The requests of all builds, each path once, without a client.
    pub(crate) fn replay(recorded: &'a Recorded) -> Self {
        Self { client: None, requests: recorded.requests(), recorded }
    }

    /// The build of each client, and the replay.
    pub(crate) fn all(recorded: &'a Recorded) -> Vec<Self> {
        let build = |client: &'a Client| Self { client: Some(client), requests: client.requests.clone(), recorded };
        recorded.clients.iter().map(build).chain([Self::replay(recorded)]).collect()
    }

    /// Its name in tables.
    fn name(&self) -> String {
        self.client.map_or_else(|| format!("Replay of {}", self.recorded.format), |client| client.name.clone())
    }

    /// The end of the name of its repositories: those of Nexus stay, so each client has its own.
    fn repository(&self) -> String {
        let name = self.name().to_ascii_lowercase();
        let words = name.split(|each: char| !each.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    }

    /// Servers with nothing cached.
    pub(crate) fn cold(&self, peers: &Peers) -> Result<()> {
        let artifacts = self.requests.iter().filter(|path| is_artifact(path)).count();
        let (silent, counted) = (self.recorded.upstream(false)?, self.recorded.upstream(true)?);
        let (all, mut asked) = (peers.all(), Vec::new());
        let mut figures = Figures::new(&all);
        for round in 0..=rounds()? {
            // nginx writes no log in the rounds that are measured.
            let upstream = if round == 0 { &counted } else { &silent };
            let mut costs = Vec::new();
            for peer in &all {
                let name = format!("cold-{}-{round}", self.repository());
                let server = peers.open(*peer, &name, self.recorded, &upstream.url())?;
                let before = counted.count()?;
                costs.push(self.run_cold(*peer, &server, upstream)?);
                if round == 0 {
                    asked.push((counted.count()? - before) as f64 / artifacts as f64);
                }
                figures.memory(*peer, server.highest()?);
            }
            if round > 0 {
                figures.add(&costs)?;
            }
        }
        println!("\n### {}, cold: {artifacts} files, {} requests", self.name(), self.requests.len());
        figures.print("bare server and fetcher")?;
        println!("\n| server | requests to the upstream for each file |\n|---|---|");
        for (peer, asked) in all.iter().zip(&asked).filter(|(peer, _)| **peer != Peer::Nginx) {
            println!("| {} | {asked:.3} |", peer.name());
        }
        Ok(())
    }

    /// Servers that had one build before.
    pub(crate) fn warm(&self, peers: &Peers) -> Result<()> {
        let (upstream, all) = (self.recorded.upstream(false)?, peers.all());
        let name = format!("warm-{}", self.repository());
        let open = |peer: &Peer| peers.open(*peer, &name, self.recorded, &upstream.url());
        let servers = all.iter().map(open).collect::<Result<Vec<_>>>()?;
        for server in &servers {
            self.run(server)?;
        }
        sleep(AFTERWARDS);
        let mut figures = Figures::new(&all);
        for round in 0..=rounds()? {
            let costs = servers.iter().map(|server| self.run(server)).collect::<Result<Vec<_>>>()?;
            if round > 0 {
                figures.add(&costs)?;
            }
        }
        println!("\n### {}, warm: {} requests", self.name(), self.requests.len());
        for (peer, server) in all.iter().zip(&servers) {
            figures.memory(*peer, server.highest()?);
            if *peer == Peer::Daylight {
                let before = Replies::of(server)?;
                self.run(server)?;
                let after = Replies::of(server)?;
                let (replies, pages) = (after.all - before.all, after.pages - before.pages);
                println!("\nreplies of Daylight to a build: {replies}, of these pages: {pages}");
            }
        }
        figures.print("bare server")
    }

    /// A cold build. That of the floor has the cost of a download as well.
    fn run_cold(&self, peer: Peer, server: &Opened<'_>, upstream: &Upstream) -> Result<Cost> {
        sleep(AFTERWARDS);
        let before = server.cpu_seconds()?;
        let wall = self.run(server)?.wall;
        if peer != Peer::Bare {
            sleep(AFTERWARDS);
            return Ok(Cost { cpu: server.cpu_seconds()? - before, wall });
        }
        let (cpu, scratch) = (server.cpu_seconds()? - before, tempfile::tempdir()?);
        let fetched = bare::fetch(&upstream.server.address, &self.requests, scratch.path())?;
        Ok(Cost { cpu: cpu + fetched, wall })
    }

    /// One build.
    fn run(&self, server: &Opened<'_>) -> Result<Cost> {
        let before = server.cpu_seconds()?;
        let wall = match self.client {
            Some(client) => client.build(&server.url())?,
            None => {
                let began = Instant::now();
                let bytes = replay::run(server, &server.base, &self.requests)?;
                let (took, expected) = (began.elapsed(), self.recorded.size(&self.requests)?);
                ensure!(bytes == expected, "{bytes} bytes of {} instead of {expected}", server.name);
                took
            }
        };
        Ok(Cost { cpu: server.cpu_seconds()? - before, wall: wall.as_secs_f64() })
    }
}

/// The number of rounds.
fn rounds() -> Result<usize> {
    std::env::var("ROUNDS").map_or(Ok(ROUNDS), |rounds| rounds.parse().context("ROUNDS"))
}
