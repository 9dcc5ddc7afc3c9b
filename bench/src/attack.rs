//! Latencies of bystanders during an attack and without one, in turns. An attack is a function that runs until it is
//! stopped.

mod fake_upstream;
mod ways;

use crate::hit::{PAGE, publish};
use crate::open::{LoadResult, Stream};
use crate::process::{Server, load_average, only_on};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use fake_upstream::FakeUpstream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{sleep, yield_now};
use std::time::Duration;

const ROUNDS: usize = 7;
const SECONDS: f64 = 3.0;
const FILE: &str = "/repository/gems-private/gems/lamp-1.0.0.gem";
/// Requests a second of the bystanders. The first has the limit [`HEALTH_MS`], the others the ratios of [`MOST`].
const BYSTANDERS: [(&str, f64); 4] =
    [("health", 50.0), ("page hits", 500.0), ("hosted downloads", 100.0), ("pushes", 5.0)];
/// The limit for health checks at the 99th percentile, in milliseconds.
const HEALTH_MS: f64 = 100.0;
/// The highest ratio of the others' latency with and without the attack: at the median, and at the 99th percentile.
const MOST: [f64; 2] = [1.2, 1.5];

/// The environment of an attack.
struct AttackContext<'a> {
    server: &'a Server,
    /// The number of the run, so that attacks never repeat a path.
    run: usize,
    /// Set by the attack once it has started.
    begun: AtomicBool,
    /// Set when the attack is to end.
    over: AtomicBool,
}

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Bystanders of attacks");
    let folder = tempfile::tempdir()?;
    let settings = [
        ("DAYLIGHT_SERVER_CORES", "2"),
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS", "6000"),
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "5000"),
        ("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600"),
    ];
    // The server has one processor, and the generators the others.
    let processors = std::thread::available_parallelism()?.get();
    ensure!(processors > 1, "the generators need a processor of their own");
    only_on(0..1)?;
    let server = Server::daylight(folder.path(), &settings)?;
    only_on(1..processors)?;
    let upstream = FakeUpstream::start()?;
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
            let without = Stream::at_once(&bystanders(&server, &mut pushed))?;
            let run = number * ROUNDS + round;
            let context =
                AttackContext { server: &server, run, begun: AtomicBool::new(false), over: AtomicBool::new(false) };
            let with = beside(&context, *attack, &bystanders(&server, &mut pushed))?;
            rows.iter_mut().zip(without.iter().zip(&with)).for_each(|(row, (without, with))| row.add(without, with));
        }
        rows.iter().for_each(|row| row.print(name));
    }
    only_on(0..processors)?;
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// The bystanders' figures while the attack runs.
fn beside(context: &AttackContext<'_>, attack: ways::Attack, streams: &[Stream]) -> Result<Vec<LoadResult>> {
    std::thread::scope(|scope| {
        let attacking = scope.spawn(|| attack(context));
        while !context.begun.load(Relaxed) && !attacking.is_finished() {
            yield_now();
        }
        let result = Stream::at_once(streams);
        context.over.store(true, Relaxed);
        attacking.join().ok().context("the attack panicked")??;
        // The rest of the attack ends before the next round.
        sleep(Duration::from_millis(500));
        result
    })
}

fn bystanders(server: &Server, pushed: &mut usize) -> Vec<Stream> {
    let [health, hits, downloads, pushes] = BYSTANDERS.map(|(_, per_second)| per_second);
    let stream = |path, per_second| Stream::bystander(server, path, per_second, SECONDS);
    vec![
        stream("/health/ready", health),
        stream(PAGE, hits),
        stream(FILE, downloads),
        Stream::pushes(server, pushes, SECONDS, pushed),
    ]
}

/// The figures of one kind of bystander, at the median and at the 99th percentile.
#[derive(Default)]
struct Row {
    name: &'static str,
    without: [Spread; 2],
    with: [Spread; 2],
    refused: usize,
}

impl Row {
    fn add(&mut self, without: &LoadResult, with: &LoadResult) {
        for (at, part) in [0.5, 0.99].into_iter().enumerate() {
            let own = |result: &LoadResult| {
                LoadResult::quantile(&result.micros, part) - LoadResult::quantile(&result.late, part)
            };
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
