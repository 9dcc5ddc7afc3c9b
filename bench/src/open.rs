//! An open-loop generator: requests at a constant rate, each with its intended start, whether or not earlier requests were
//! answered. The time that a request waits for slow earlier requests is part of its latency.

use crate::caller::{Caller, Reply};
use crate::gem::Gem;
use crate::process::{Server, TOKEN, load_average};
use crate::push::{self, noise};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 64;
const SECONDS: f64 = 5.0;
const ROUNDS: usize = 3;

/// A stream of requests at a constant rate, distributed over connections in turns.
pub(crate) struct Stream {
    pub(crate) address: String,
    /// The bytes of the requests, sent in turns.
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) connections: usize,
    /// The rate over all connections.
    pub(crate) per_second: f64,
    pub(crate) seconds: f64,
}

/// The results of the requests.
#[derive(Default)]
pub(crate) struct LoadResult {
    /// From the intended start to the last byte of a success, in microseconds; sorted.
    pub(crate) micros: Vec<u32>,
    /// The number of replies with 503 and `Retry-After`.
    pub(crate) shed: usize,
    /// The number of other replies that were no success.
    pub(crate) errors: usize,
    /// The total time.
    pub(crate) seconds: f64,
    /// The delay of the generator itself although a connection was free; sorted.
    pub(crate) late: Vec<u32>,
}

impl LoadResult {
    /// The figure that this part (0 to 1) of the sorted figures does not exceed.
    pub(crate) fn quantile(sorted: &[u32], part: f64) -> f64 {
        let at = ((sorted.len() as f64 * part) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(f64::NAN, |micros| f64::from(*micros))
    }
}

impl Stream {
    /// A stream for a public page.
    pub(crate) fn get(server: &Server, path: &str, per_second: f64) -> Self {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes();
        let requests = vec![request];
        Self { address: server.address.clone(), requests, connections: CONNECTIONS, per_second, seconds: SECONDS }
    }

    /// A stream whose latency is measured while the server has other work.
    pub(crate) fn bystander(server: &Server, path: &str, per_second: f64, seconds: f64) -> Self {
        Self { connections: 8, seconds, ..Self::get(server, path, per_second) }
    }

    /// The same of pushes of a gem, each with a further version. `pushed`: how many there were.
    pub(crate) fn pushes(server: &Server, per_second: f64, seconds: f64, pushed: &mut usize) -> Self {
        let push = |number| {
            let gem = Gem::new("wick", &format!("1.{number}")).payload(&noise(number as u64, 10_000)).bytes();
            let head = format!(
                "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {TOKEN}\r\nContent-Length: {}\r\n\r\n",
                push::PATH,
                gem.len()
            );
            [head.into_bytes(), gem].concat()
        };
        let requests: Vec<_> = (0..(seconds * per_second) as usize + 1).map(|more| push(*pushed + more)).collect();
        *pushed += requests.len();
        Self { requests, ..Self::bystander(server, push::PATH, per_second, seconds) }
    }

    /// Runs several at the same time.
    pub(crate) fn at_once(streams: &[Self]) -> Result<Vec<LoadResult>> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = streams.iter().map(|stream| scope.spawn(|| stream.run())).collect();
            threads.into_iter().map(|thread| thread.join().ok().context("a generator panicked")?).collect()
        })
    }

    /// Runs until its end.
    pub(crate) fn run(&self) -> Result<LoadResult> {
        let start = Instant::now() + Duration::from_millis(50);
        let mut result = LoadResult::default();
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..self.connections).map(|number| scope.spawn(move || self.connection(number, start))).collect();
            for thread in threads {
                let one = thread.join().ok().context("a thread of the generator panicked")??;
                result.micros.extend(one.micros);
                result.late.extend(one.late);
                result.shed += one.shed;
                result.errors += one.errors;
            }
            result.micros.sort_unstable();
            result.late.sort_unstable();
            result.seconds = start.elapsed().as_secs_f64();
            anyhow::Ok(result)
        })
    }

    /// The schedule of one connection.
    fn connection(&self, number: usize, start: Instant) -> Result<LoadResult> {
        be_punctual()?;
        let (mut result, mut caller) = (LoadResult::default(), Caller::open(&self.address)?);
        for turn in 0.. {
            let count = turn * self.connections + number;
            let at = count as f64 / self.per_second;
            // An overloaded connection also stops at its time.
            if at >= self.seconds || start.elapsed().as_secs_f64() >= self.seconds {
                break;
            }
            let intended = start + Duration::from_secs_f64(at);
            if let Some(early) = intended.checked_duration_since(Instant::now()) {
                std::thread::sleep(early);
                result.late.push(micros(intended));
            }
            match caller.call(&self.requests[count % self.requests.len()]) {
                Ok(Reply { status: 200, .. }) => result.micros.push(micros(intended)),
                Ok(Reply { status: 503, retry: true, .. }) => result.shed += 1,
                Ok(_) => result.errors += 1,
                Err(_) => {
                    result.errors += 1;
                    caller = Caller::open(&self.address)?;
                }
            }
        }
        Ok(result)
    }
}

fn micros(since: Instant) -> u32 {
    u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX)
}

/// Lets this thread sleep with a precision of a microsecond, where Linux would round to 50.
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
                let result = Stream::get(server, path, *rate).run()?;
                ensure!(result.errors + result.shed == 0, "{} errors of {}", result.errors + result.shed, server.name);
                for (at, part) in [0.5, 0.99, 0.999, 1.0].into_iter().enumerate() {
                    figures[at].add(LoadResult::quantile(&result.micros, part));
                }
                figures[4].add(LoadResult::quantile(&result.late, 0.5));
                figures[5].add(LoadResult::quantile(&result.late, 0.99));
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
