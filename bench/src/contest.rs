//! Daylight and a peer with the same bytes and the same load, in turns.

use crate::load::Generator;
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::Result;

/// The least rounds in which a peer warms up.
const WARM_UP_LEAST: usize = 5;
const WARM_UP_MOST: usize = 20;

/// A request that both servers answer.
pub(crate) struct Contest<'a> {
    pub(crate) daylight: &'a Server,
    pub(crate) peer: &'a Server,
    /// The path of the bytes on each server.
    pub(crate) paths: [&'a str; 2],
    /// The size of the body in bytes.
    pub(crate) size: usize,
    pub(crate) generator: Generator,
    pub(crate) connections: usize,
    /// The length of one round in seconds.
    pub(crate) seconds: u32,
    pub(crate) rounds: usize,
}

#[derive(Default)]
struct Figures {
    micros: Spread,
    per_second: Spread,
    gigabytes: Spread,
}

impl Figures {
    /// One round. A round may cut off large bodies, so processor time is measured per byte and reported for one body.
    fn measure(&mut self, contest: &Contest<'_>, server: &Server, url: &str) -> Result<f64> {
        let before = server.cpu_seconds()?;
        let load = contest.generator.run(contest.connections, contest.seconds, url)?;
        let spent = server.cpu_seconds()? - before;
        let bodies = if contest.size < 100_000 { load.requests } else { load.bytes / contest.size as f64 };
        let micros = spent * 1e6 / bodies;
        self.micros.add(micros);
        self.per_second.add(load.per_second);
        self.gigabytes.add(load.bytes_per_second / 1e9);
        Ok(micros)
    }
}

impl Contest<'_> {
    /// Requests from the peer until a round costs hardly less than the previous one: some peers compile their code at run
    /// time.
    pub(crate) fn warm_up(&self) -> Result<()> {
        let url = format!("http://{}{}", self.peer.address, self.paths[1]);
        let mut figures = Figures::default();
        let mut before = f64::MAX;
        for round in 1..=WARM_UP_MOST {
            let micros = figures.measure(self, self.peer, &url)?;
            println!("{} warms up, round {round}: {micros:.0} us", self.peer.name);
            if round >= WARM_UP_LEAST && micros > 0.95 * before {
                break;
            }
            before = micros;
        }
        Ok(())
    }

    /// Measures and prints the table.
    pub(crate) fn run(&self) -> Result<()> {
        let servers = [self.daylight, self.peer];
        let addresses = servers.map(|server| match self.generator {
            Generator::Wrk | Generator::Missing => &server.address,
            Generator::H2load => &server.framed,
        });
        let urls = [0, 1].map(|one| format!("http://{}{}", addresses[one], self.paths[one]));
        println!("\nbody: {} bytes, {}", self.size, self.paths[0]);
        for url in &urls {
            println!("command: {}", self.generator.command(self.connections, self.seconds, url));
            self.generator.run(self.connections, 1, url)?;
        }
        let (mut ours, mut theirs, mut ratio) = (Figures::default(), Figures::default(), Spread::default());
        for _ in 0..self.rounds {
            let our_micros = ours.measure(self, self.daylight, &urls[0])?;
            ratio.add(our_micros / theirs.measure(self, self.peer, &urls[1])?);
        }
        let rounds = self.rounds;
        println!(
            "\n| {rounds} rounds in turns, median (least to most) | server CPU per body, us | requests/s | GB/s |"
        );
        println!("|---|---|---|---|");
        println!("| Daylight | {} | {} | {} |", ours.micros, ours.per_second, ours.gigabytes);
        let peer = self.peer.name;
        println!("| {peer} | {} | {} | {} |", theirs.micros, theirs.per_second, theirs.gigabytes);
        let faster = ours.per_second.median() / theirs.per_second.median();
        println!("| ratio | {ratio} | {faster:.2} | |");
        println!("\nload average after it: {}", load_average()?);
        Ok(())
    }
}
