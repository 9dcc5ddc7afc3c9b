//! What everybody else waits while somebody attacks, and without that, in turns. An attack is a function that goes on until it is told
//! that it is over.

mod standing;
mod ways;

use crate::gem::Gem;
use crate::hit::{PAGE, publish};
use crate::open::{Stream, Told};
use crate::process::{Server, TOKEN, load_average, only_on};
use crate::push::{self, noise};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use standing::StandIn;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{sleep, yield_now};
use std::time::Duration;

const ROUNDS: usize = 7;
const SECONDS: f64 = 3.0;
const FILE: &str = "/repository/gems-private/gems/lamp-1.0.0.gem";
/// A second, of each of those who must not notice. The first must come within [`HEALTH_MS`], the others within the ratios.
const BYSTANDERS: [(&str, f64); 4] =
    [("health", 50.0), ("page hits", 500.0), ("hosted downloads", 100.0), ("pushes", 5.0)];
/// Milliseconds within which a probe is answered, at the 99th percentile.
const HEALTH_MS: f64 = 100.0;
/// How much longer others may take beside an attack: at the median, and at the 99th percentile.
const MOST: [f64; 2] = [1.2, 1.5];

/// What an attack is given.
struct Field<'a> {
    server: &'a Server,
    /// Of each run another, so that nothing is asked for twice.
    run: usize,
    /// Set by the attack once it is under way.
    begun: AtomicBool,
    /// Set when it is to end.
    over: AtomicBool,
}

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Beside attacks");
    let folder = tempfile::tempdir()?;
    let settings = [
        ("DAYLIGHT_SERVER_CORES", "2"),
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS", "6000"),
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "5000"),
        ("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600"),
    ];
    // The server has one processor to itself, and the generators the others.
    let processors = std::thread::available_parallelism()?.get();
    ensure!(processors > 1, "the generators need a processor of their own");
    only_on(0..1)?;
    let server = Server::daylight(folder.path(), &settings)?;
    only_on(1..processors)?;
    let upstream = StandIn::start()?;
    publish(&server, "lamp", 4)?;
    ways::prepare(&server, &upstream)?;
    println!(
        "\n{ROUNDS} rounds of {SECONDS} s without and with, in turns; the generator's lateness is subtracted; median (least to most)"
    );
    println!(
        "\n| attack | what | p50 without, us | p50 with, us | ratio | p99 without, us | p99 with, us | ratio | refused | holds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut pushed = 0;
    for (number, (name, attack)) in ways::ATTACKS.iter().enumerate() {
        let mut rows: Vec<Row> = BYSTANDERS.iter().map(|(name, _)| Row { name, ..Row::default() }).collect();
        for round in 0..ROUNDS {
            let without = at_once(&bystanders(&server, &mut pushed))?;
            let run = number * ROUNDS + round;
            let field = Field { server: &server, run, begun: AtomicBool::new(false), over: AtomicBool::new(false) };
            let with = beside(&field, *attack, &bystanders(&server, &mut pushed))?;
            rows.iter_mut().zip(without.iter().zip(&with)).for_each(|(row, (without, with))| row.add(without, with));
        }
        rows.iter().for_each(|row| row.print(name));
    }
    only_on(0..processors)?;
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// What these are told while the attack goes on.
fn beside(field: &Field<'_>, attack: ways::Attack, streams: &[Stream]) -> Result<Vec<Told>> {
    std::thread::scope(|scope| {
        let attacking = scope.spawn(|| attack(field));
        while !field.begun.load(Relaxed) && !attacking.is_finished() {
            yield_now();
        }
        let told = at_once(streams);
        field.over.store(true, Relaxed);
        attacking.join().ok().context("the attack panicked")??;
        // What is left of it is no part of the next round.
        sleep(Duration::from_millis(500));
        told
    })
}

fn bystanders(server: &Server, pushed: &mut usize) -> Vec<Stream> {
    let [health, hits, downloads, pushes] = BYSTANDERS.map(|(_, per_second)| per_second);
    let push = |number| {
        let gem = Gem::new("wick", &format!("1.{number}")).payload(&noise(number as u64, 10_000)).bytes();
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {TOKEN}\r\nContent-Length: {}\r\n\r\n",
            push::PATH,
            gem.len()
        );
        [head.into_bytes(), gem].concat()
    };
    let requests: Vec<_> = (0..(SECONDS * pushes) as usize + 1).map(|more| push(*pushed + more)).collect();
    *pushed += requests.len();
    let stream =
        |path, per_second| Stream { connections: 8, seconds: SECONDS, ..Stream::get(server, path, per_second) };
    vec![
        stream("/health/ready", health),
        stream(PAGE, hits),
        stream(FILE, downloads),
        Stream { requests, ..stream(push::PATH, pushes) },
    ]
}

fn at_once(streams: &[Stream]) -> Result<Vec<Told>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = streams.iter().map(|stream| scope.spawn(|| stream.run())).collect();
        threads.into_iter().map(|thread| thread.join().ok().context("a generator panicked")?).collect()
    })
}

/// One kind of bystander, at the median and at the 99th percentile.
#[derive(Default)]
struct Row {
    name: &'static str,
    without: [Spread; 2],
    with: [Spread; 2],
    refused: usize,
}

impl Row {
    fn add(&mut self, without: &Told, with: &Told) {
        for (at, part) in [0.5, 0.99].into_iter().enumerate() {
            let own = |told: &Told| Told::quantile(&told.micros, part) - Told::quantile(&told.late, part);
            self.without[at].add(own(without).max(1.0));
            self.with[at].add(own(with).max(1.0));
        }
        self.refused += with.errors + with.shed;
    }

    fn print(&self, attack: &str) {
        let Self { name, without, with, refused } = self;
        let ratio = |at: usize| with[at].median() / without[at].median();
        let in_time = match *name {
            "health" => with[1].median() < HEALTH_MS * 1e3,
            _ => ratio(0) <= MOST[0] && ratio(1) <= MOST[1],
        };
        let holds = if in_time && *refused == 0 { "yes" } else { "NO" };
        println!(
            "| {attack} | {name} | {} | {} | {:.2} | {} | {} | {:.2} | {refused} | {holds} |",
            without[0],
            with[0],
            ratio(0),
            without[1],
            with[1],
            ratio(1)
        );
    }
}
