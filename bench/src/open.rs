//! An open-loop generator: requests at a constant rate, each with the moment at which it was to start, whether or not
//! those before it were answered. What a request waits because an earlier one was slow is part of its latency.

use crate::caller::{Caller, Reply};
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 64;
const SECONDS: f64 = 5.0;
const ROUNDS: usize = 3;

/// A stream of requests at a constant rate, spread over connections that take turns.
pub(crate) struct Stream {
    pub(crate) address: String,
    /// The bytes of the requests, sent in turns.
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) connections: usize,
    /// Over all connections.
    pub(crate) per_second: f64,
    pub(crate) seconds: f64,
}

/// What became of them.
#[derive(Default)]
pub(crate) struct Told {
    /// From the intended start to the last byte of a success, in microseconds; sorted.
    pub(crate) micros: Vec<u32>,
    /// Refused with 503 and `Retry-After`.
    pub(crate) shed: usize,
    /// Anything else that was no success.
    pub(crate) errors: usize,
    /// How long it took in all.
    pub(crate) seconds: f64,
    /// How much later than intended the generator itself sent, though a connection was free; sorted.
    pub(crate) late: Vec<u32>,
}

impl Told {
    /// The figure below which this part (0 to 1) of them are.
    pub(crate) fn quantile(sorted: &[u32], part: f64) -> f64 {
        let at = ((sorted.len() as f64 * part) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(f64::NAN, |micros| f64::from(*micros))
    }
}

impl Stream {
    /// For a page that anyone may read.
    pub(crate) fn get(server: &Server, path: &str, per_second: f64) -> Self {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes();
        let requests = vec![request];
        Self { address: server.address.clone(), requests, connections: CONNECTIONS, per_second, seconds: SECONDS }
    }

    /// Runs it to its end.
    pub(crate) fn run(&self) -> Result<Told> {
        let start = Instant::now() + Duration::from_millis(50);
        let mut told = Told::default();
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..self.connections).map(|number| scope.spawn(move || self.connection(number, start))).collect();
            for thread in threads {
                let one = thread.join().ok().context("a thread of the generator panicked")??;
                told.micros.extend(one.micros);
                told.late.extend(one.late);
                told.shed += one.shed;
                told.errors += one.errors;
            }
            told.micros.sort_unstable();
            told.late.sort_unstable();
            told.seconds = start.elapsed().as_secs_f64();
            anyhow::Ok(told)
        })
    }

    /// One connection's share of the timetable.
    fn connection(&self, number: usize, start: Instant) -> Result<Told> {
        be_punctual()?;
        let (mut told, mut caller) = (Told::default(), Caller::open(&self.address)?);
        for turn in 0.. {
            let count = turn * self.connections + number;
            let at = count as f64 / self.per_second;
            // Who is asked for more than can be done stops at its time too.
            if at >= self.seconds || start.elapsed().as_secs_f64() >= self.seconds {
                break;
            }
            let intended = start + Duration::from_secs_f64(at);
            if let Some(early) = intended.checked_duration_since(Instant::now()) {
                std::thread::sleep(early);
                told.late.push(micros(intended));
            }
            match caller.call(&self.requests[count % self.requests.len()]) {
                Ok(Reply { status: 200, .. }) => told.micros.push(micros(intended)),
                Ok(Reply { status: 503, retry: true, .. }) => told.shed += 1,
                Ok(_) => told.errors += 1,
                Err(_) => {
                    told.errors += 1;
                    caller = Caller::open(&self.address)?;
                }
            }
        }
        Ok(told)
    }
}

fn micros(since: Instant) -> u32 {
    u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX)
}

/// Lets this thread sleep to the microsecond, where Linux would round to 50 of them.
fn be_punctual() -> Result<()> {
    let this = fs::read_link("/proc/thread-self")?;
    let thread = this.file_name().context("/proc/thread-self")?;
    fs::write(fs::canonicalize("/proc")?.join(thread).join("timerslack_ns"), "1").context("setting the timer's slack")
}

/// Measures each server at each rate, in turns, and prints the table.
pub(crate) fn table(servers: &[(&Server, &str)], rates: &[f64]) -> Result<()> {
    println!(
        "\nopen loop, {CONNECTIONS} connections, {SECONDS} s each, {ROUNDS} rounds in turns: median (least to most)"
    );
    println!(
        "\n| server | requests/s | p50, us | p99, us | p99.9, us | most, us | generator late, p50, us | p99, us |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for rate in rates {
        let mut figures: Vec<[Spread; 6]> = servers.iter().map(|_| Default::default()).collect();
        for _ in 0..ROUNDS {
            for ((server, path), figures) in servers.iter().zip(&mut figures) {
                let told = Stream::get(server, path, *rate).run()?;
                ensure!(told.errors + told.shed == 0, "{} errors of {}", told.errors + told.shed, server.name);
                for (at, part) in [0.5, 0.99, 0.999, 1.0].into_iter().enumerate() {
                    figures[at].add(Told::quantile(&told.micros, part));
                }
                figures[4].add(Told::quantile(&told.late, 0.5));
                figures[5].add(Told::quantile(&told.late, 0.99));
            }
        }
        for ((server, _), figures) in servers.iter().zip(&figures) {
            let cells: Vec<String> = figures.iter().map(Spread::to_string).collect();
            println!("| {} | {rate:.0} | {} |", server.name, cells.join(" | "));
        }
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}
