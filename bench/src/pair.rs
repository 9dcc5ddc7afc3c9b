//! Publishes acknowledged on PostgreSQL and object storage, beside publishes on the disk alone, in turns; and what each of them costs the
//! database and the storage.

pub(crate) mod database;
mod storage;
mod taken;

use crate::process::{Server, load_average, only_on, said};
use crate::publishes::{Publish, Upload, publish_all};
use crate::push::{self, PAYLOAD, noise};
use crate::spread::Spread;
use crate::train::RELEASES;
use anyhow::{Result, ensure};
use database::Database;
use std::fs;
use std::path::Path;
use std::time::Instant;
use storage::Storage;
use taken::{Counters, Taken};

const ROUNDS: usize = 5;
/// Connections, and publishes over all of them in a round.
const LOADS: [(usize, usize); 2] = [(1, 100), (32, 400)];
/// The least part of the disk's publishes a second over 32 connections.
const PART_LEAST: f64 = 0.7;
/// The name of the server that is on both.
const NAME: &str = "pair";

/// Makes a publish: for so many connections, of a round, with a number in it.
type Make = fn(usize, usize, usize) -> Publish;

const KINDS: [(&str, Make); 2] = [("push of a gem", push::gem), ("deploy of a jar and its POM", artifact)];

/// What all entrants do in turns.
struct Load {
    name: String,
    connections: usize,
    publishes: usize,
    make: Make,
}

/// A database and a storage.
pub(crate) struct Both {
    database: Database,
    storage: Storage,
}

impl Both {
    /// Starts both, empty.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        Ok(Self { database: Database::start(folder)?, storage: Storage::start(folder)? })
    }

    /// The settings of a server on both, with a name of its own in each.
    pub(crate) fn settings(&self, name: &str) -> Result<Vec<(&'static str, String)>> {
        Ok([self.database.settings(name)?, self.storage.settings(name)].concat())
    }
}

/// A server that is measured.
struct Entrant {
    /// Where it keeps its content.
    on: &'static str,
    server: Server,
}

/// The figures of an entrant under one load.
#[derive(Default)]
struct Figures {
    per_second: Spread,
    /// Of those of the first entrant in the same round.
    part: Spread,
    cpu_us: Spread,
    ms: Spread,
}

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Publish acknowledged, on PostgreSQL and object storage");
    let folder = tempfile::tempdir()?;
    // Usually each has a machine of its own: here a server of packages has a processor, and all the others share the rest.
    let processors = std::thread::available_parallelism()?.get();
    ensure!(processors > 1, "the database, the storage and the clients need a processor of their own");
    only_on(1..processors)?;
    let both = Both::start(folder.path())?;
    println!(
        "version: {}\nversion: {}",
        both.database.version()?,
        said(&storage::weed()?.to_string_lossy(), &["version"])?
    );
    only_on(0..1)?;
    let entrants = [
        start(folder.path(), "the disk", Vec::new())?,
        start(folder.path(), "PostgreSQL", both.database.settings("alone")?)?,
        start(folder.path(), "object storage", both.storage.settings("alone"))?,
        start(folder.path(), "both", both.settings(NAME)?)?,
    ];
    println!(
        "\n{ROUNDS} rounds in turns, median (least to most); {PAYLOAD} bytes that cannot be compressed in each gem and jar"
    );
    println!("\n| publish | kept on | publishes/s | part of the disk's | server CPU of each, us | ms of each, p50 |");
    println!("|---|---|---|---|---|---|");
    let mut taken = Vec::new();
    for (what, make) in KINDS {
        for (connections, publishes) in LOADS {
            let load = Load { name: format!("{what}, {connections} connections"), connections, publishes, make };
            taken.push((load.name.clone(), measure(&both, &entrants, &load)?));
        }
    }
    only_on(0..processors)?;
    taken::print(&taken);
    println!("\nmust be: at least {PART_LEAST} of the disk's publishes a second over 32 connections");
    println!("load average after it: {}", load_average()?);
    Ok(())
}

fn start(folder: &Path, on: &'static str, settings: Vec<(&'static str, String)>) -> Result<Entrant> {
    let own = folder.join(on.replace(' ', "-"));
    fs::create_dir(&own)?;
    let settings: Vec<_> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    Ok(Entrant { on, server: Server::daylight(&own, &settings)? })
}

/// All entrants in turns under one load. Prints their figures, and returns what the last of them took.
fn measure(both: &Both, entrants: &[Entrant], load: &Load) -> Result<Taken> {
    let mut figures: Vec<Figures> = entrants.iter().map(|_| Figures::default()).collect();
    let mut taken = Taken::default();
    for round in 0..ROUNDS {
        let all: Vec<Publish> = (0..load.publishes).map(|count| (load.make)(load.connections, round, count)).collect();
        let (many, mut first) = (all.len() as f64, f64::NAN);
        for (number, (Entrant { server, .. }, figures)) in entrants.iter().zip(&mut figures).enumerate() {
            let counted = number + 1 == entrants.len();
            let before = counted.then(|| Counters::read(both, server)).transpose()?;
            let (cpu, began) = (server.cpu_seconds()?, Instant::now());
            let times = publish_all(server, &all, load.connections)?;
            let per_second = many / began.elapsed().as_secs_f64();
            figures.cpu_us.add((server.cpu_seconds()? - cpu) * 1e6 / many);
            first = if number == 0 { per_second } else { first };
            figures.per_second.add(per_second);
            figures.part.add(per_second / first);
            figures.ms.add(times.median());
            if let Some(before) = before {
                taken.add(&before, &Counters::read(both, server)?, all.len());
            }
        }
    }
    for (Entrant { on, .. }, Figures { per_second, part, cpu_us, ms }) in entrants.iter().zip(&figures) {
        println!("| {} | {on} | {per_second} | {part} | {cpu_us} | {ms} |", load.name);
    }
    Ok(taken)
}

/// The deploy of a jar and of its POM.
fn artifact(connections: usize, round: usize, count: usize) -> Publish {
    let (name, version) = (format!("lamp{connections}x{}", count % 20), format!("{connections}.{round}.{count}"));
    // Twice, since an even seed gives the bytes of the odd one after it.
    let seed = 2 * (connections * 1_000_000 + round * 10_000 + count) as u64;
    let pom = format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>{name}</artifactId>\
         <version>{version}</version></project>"
    );
    let upload = |ending: &str, bytes: Vec<u8>| {
        let path = format!("{RELEASES}/{name}/{version}/{name}-{version}.{ending}");
        Upload { method: "PUT", path, bytes }
    };
    Publish(vec![upload("jar", noise(seed, PAYLOAD)), upload("pom", pom.into_bytes())])
}
