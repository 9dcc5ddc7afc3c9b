//! How fast a node takes in what another one has written to PostgreSQL, on one processor: at a start with an empty folder, and as one that
//! runs and was stopped for a while.

use crate::http::Connection;
use crate::pair::database::Database;
use crate::process::{Server, TOKEN, load_average, only_on};
use crate::publishes::{Publish, publish_all};
use crate::push;
use crate::spread::Spread;
use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;
/// Gems that are pushed in each round, and the connections.
const PUSHES: usize = 8_000;
const CONNECTIONS: usize = 32;
/// The changes a second that a node must take in.
const LEAST: f64 = 5_000.0;
/// How often the number of the last change is asked for. Each answer takes some of the one processor.
const STEP: Duration = Duration::from_millis(20);

/// What a node needed for its changes.
#[derive(Default)]
struct Figures {
    per_second: Spread,
    cpu_us: Spread,
}

impl Figures {
    fn add(&mut self, changes: f64, seconds: f64, cpu_seconds: f64) {
        self.per_second.add(changes / seconds);
        self.cpu_us.add(cpu_seconds * 1e6 / changes);
    }
}

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## A node takes in what another one wrote, on one processor");
    let folder = tempfile::tempdir()?;
    let processors = std::thread::available_parallelism()?.get();
    ensure!(processors > 1, "the database and the other node need a processor of their own");
    only_on(1..processors)?;
    let database = Database::start(folder.path())?;
    println!("version: {}", database.version()?);
    let settings = database.settings("followed")?;
    let writer = start(folder.path(), "writer", &settings)?;
    only_on(0..1)?;
    let follower = start(folder.path(), "follower", &settings)?;
    let (mut running, mut starting) = (Figures::default(), Figures::default());
    for round in 0..ROUNDS {
        let id = Pid::from_raw(i32::try_from(follower.id())?).context("the id of the node")?;
        kill_process(id, Signal::STOP)?;
        let before = last(&writer)?;
        let pushes: Vec<Publish> = (0..PUSHES).map(|count| push::gem(CONNECTIONS, round, count)).collect();
        only_on(1..processors)?;
        publish_all(&writer, &pushes, CONNECTIONS)?;
        let all = last(&writer)?;
        let (cpu, began) = (follower.cpu_seconds()?, Instant::now());
        kill_process(id, Signal::CONT)?;
        while last(&follower)? < all {
            std::thread::sleep(STEP);
        }
        running.add(all - before, began.elapsed().as_secs_f64(), follower.cpu_seconds()? - cpu);
        // A start with all changes, and the same start again without any.
        only_on(0..1)?;
        let name = format!("starter-{round}");
        let (seconds, cpu) = timed(folder.path(), &name, &settings)?;
        let (seconds_without, cpu_without) = timed(folder.path(), &name, &settings)?;
        starting.add(all, seconds - seconds_without, cpu - cpu_without);
    }
    println!(
        "\n{ROUNDS} rounds of {PUSHES} pushes, median (least to most)\n\n| a node that | changes/s | its CPU for each, us |"
    );
    println!("|---|---|---|");
    for (what, Figures { per_second, cpu_us }) in
        [("runs, and was stopped", running), ("starts with an empty folder", starting)]
    {
        println!("| {what} | {per_second} | {cpu_us} |");
    }
    println!("\nmust be: at least {LEAST} changes/s");
    println!("load average after it: {}", load_average()?);
    Ok(())
}

fn start(folder: &Path, name: &str, settings: &[(&'static str, String)]) -> Result<Server> {
    let own = folder.join(name);
    fs::create_dir_all(&own)?;
    let mut settings: Vec<_> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    settings.push(("DAYLIGHT_CLUSTER_NODE", name));
    Server::daylight(&own, &settings)
}

/// The seconds that a start takes until it answers, and the processor's.
fn timed(folder: &Path, name: &str, settings: &[(&'static str, String)]) -> Result<(f64, f64)> {
    let began = Instant::now();
    let server = start(folder, name, settings)?;
    Ok((began.elapsed().as_secs_f64(), server.cpu_seconds()?))
}

/// The number of the last change that a node knows.
fn last(server: &Server) -> Result<f64> {
    let headers = [("Authorization", TOKEN)];
    let reply = Connection::open(server.address.parse()?)?.call("GET", "/metrics", &headers, b"")?;
    let found = reply.text().lines().find_map(|line| line.strip_prefix("daylight_journal_seq ")?.parse().ok());
    found.with_context(|| format!("/metrics: {}", reply.status))
}
