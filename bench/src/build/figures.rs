//! The figures of each server: the figures of a round are set against those of the same round, of the floor, NORA, and the client on nginx.

use super::peers::Peer;
use crate::process::load_average;
use crate::spread::Spread;
use anyhow::{Context, Result};

/// Processor seconds and wall seconds.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
}

/// The figures of all servers.
pub(crate) struct Figures {
    rows: Vec<(Peer, Row)>,
    rounds: usize,
}

#[derive(Default)]
struct Row {
    cpu: Spread,
    wall: Spread,
    to_floor: Spread,
    to_nora: Spread,
    to_nginx: Spread,
    memory: u64,
}

impl Figures {
    /// No figures of these servers.
    pub(crate) fn new(peers: &[Peer]) -> Self {
        Self { rows: peers.iter().map(|peer| (*peer, Row::default())).collect(), rounds: 0 }
    }

    /// Adds a round, with the cost of each server.
    pub(crate) fn add(&mut self, costs: &[Cost]) -> Result<()> {
        let peers = self.rows.iter().map(|(peer, _)| *peer);
        let all: Vec<(Peer, Cost)> = peers.zip(costs.iter().copied()).collect();
        let of = |wanted: Peer| all.iter().find(|(peer, _)| *peer == wanted).map(|(_, cost)| *cost);
        let (nginx, floor) = (of(Peer::Nginx).context("nginx")?, of(Peer::Bare).context("the floor")?);
        for ((_, row), cost) in self.rows.iter_mut().zip(costs) {
            row.cpu.add(cost.cpu);
            row.wall.add(cost.wall);
            row.to_floor.add(cost.cpu / floor.cpu);
            row.to_nginx.add(cost.wall / nginx.wall);
            if let Some(nora) = of(Peer::Nora) {
                row.to_nora.add(cost.cpu / nora.cpu);
            }
        }
        self.rounds += 1;
        Ok(())
    }

    /// Adds the highest memory of a server so far, in bytes.
    pub(crate) fn memory(&mut self, wanted: Peer, bytes: u64) {
        for (_, row) in self.rows.iter_mut().filter(|(peer, _)| *peer == wanted) {
            row.memory = row.memory.max(bytes);
        }
    }

    /// Prints the table; `floor` names the programs of the floor.
    pub(crate) fn print(&self, floor: &str) -> Result<()> {
        println!(
            "\n| {} rounds in turns, median (least to most) | server CPU, s | wall, s | highest memory, MB | CPU to {floor} | CPU to NORA | wall to the client on nginx |",
            self.rounds
        );
        println!("|---|---|---|---|---|---|---|");
        for (peer, Row { cpu, wall, to_floor, to_nora, to_nginx, memory }) in &self.rows {
            let to_nora = if to_nora.count() > 0 { to_nora.to_string() } else { "-".to_owned() };
            let memory = memory.div_ceil(1_000_000);
            println!("| {} | {cpu} | {wall} | {memory} | {to_floor} | {to_nora} | {to_nginx} |", peer.name());
        }
        println!("\nload average after it: {}", load_average()?);
        Ok(())
    }
}
