//! Our server and others with the same bytes and the same load, one after the other in each round.

use crate::http::Connection;
use crate::load;
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::{Result, ensure};
use std::path::PathBuf;

const CONNECTIONS: usize = 32;
const SECONDS: u32 = 4;
const ROUNDS: usize = 7;

/// A server that answers with the bytes of the row, and the most that our processor time may be of its own.
pub(crate) struct Entrant<'a> {
    pub(crate) server: &'a Server,
    pub(crate) path: &'a str,
    pub(crate) must_be: Option<f64>,
}

/// What the requests have beside their path.
#[derive(Default)]
pub(crate) struct Asked {
    /// The value of `Accept-Encoding`.
    pub(crate) codings: Option<&'static str>,
    /// A script of wrk that makes the requests; it gets the path as its argument.
    pub(crate) script: Option<PathBuf>,
}

impl Asked {
    /// Requests without more headers, for one URL.
    pub(crate) fn plainly() -> Self {
        Self::default()
    }

    /// The body for one request.
    pub(crate) fn read(&self, entrant: &Entrant<'_>) -> Result<Vec<u8>> {
        let headers: Vec<_> = self.codings.map(|codings| ("Accept-Encoding", codings)).into_iter().collect();
        let reply = Connection::open(entrant.server.address.parse()?)?.call("GET", entrant.path, &headers, b"")?;
        ensure!(reply.status == 200, "{} of {}: {}", entrant.path, entrant.server.name, reply.text());
        Ok(reply.body)
    }

    fn arguments(&self, seconds: u32, entrant: &Entrant<'_>) -> Vec<String> {
        let mut arguments = Vec::new();
        if let Some(codings) = self.codings {
            arguments.extend(["-H".to_owned(), format!("Accept-Encoding: {codings}")]);
        }
        if let Some(script) = &self.script {
            arguments.extend(["-s".to_owned(), script.display().to_string()]);
        }
        let url = format!("http://{}{}", entrant.server.address, entrant.path);
        arguments.extend(load::arguments(CONNECTIONS, seconds, &url));
        arguments
    }

    /// Measures our server and all others, and prints the table.
    pub(crate) fn in_turns(&self, ours: &Entrant<'_>, others: &[Entrant<'_>]) -> Result<()> {
        let all: Vec<&Entrant<'_>> = [ours].into_iter().chain(others).collect();
        let body = self.read(ours)?;
        println!("\nbody: {} bytes, {}", body.len(), ours.path);
        for entrant in &all {
            println!("command: wrk {}", self.arguments(SECONDS, entrant).join(" "));
            ensure!(self.read(entrant)? == body, "{} has other bytes", entrant.server.name);
            load::wrk(&self.arguments(1, entrant))?;
        }
        let mut figures: Vec<[Spread; 3]> = all.iter().map(|_| Default::default()).collect();
        for _ in 0..ROUNDS {
            let mut first = f64::NAN;
            for (number, (entrant, [micros, per_second, ratio])) in all.iter().zip(&mut figures).enumerate() {
                let before = entrant.server.cpu_seconds()?;
                let load = load::wrk(&self.arguments(SECONDS, entrant))?;
                let spent = (entrant.server.cpu_seconds()? - before) * 1e6 / load.requests;
                first = if number == 0 { spent } else { first };
                micros.add(spent);
                per_second.add(load.per_second);
                ratio.add(first / spent);
            }
        }
        println!(
            "\n| {ROUNDS} rounds in turns, median (least to most) | server CPU per request, us | requests/s | our CPU to it | must be |"
        );
        println!("|---|---|---|---|---|");
        for (entrant, [micros, per_second, ratio]) in all.iter().zip(&figures) {
            let must_be = entrant.must_be.map_or_else(|| "-".to_owned(), |most| most.to_string());
            let ratio = if entrant.must_be.is_some() { ratio.to_string() } else { "-".to_owned() };
            println!("| {} | {micros} | {per_second} | {ratio} | {must_be} |", entrant.server.name);
        }
        println!("\nload average after it: {}", load_average()?);
        Ok(())
    }
}
