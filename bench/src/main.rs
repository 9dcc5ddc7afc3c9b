//! Daylight against its peers on one machine, in one run, in turns: `make bench`, or `make bench ARGS=hit`. Loopback only;
//! bounded in count and time; writes only to a temporary folder, which is removed at the end; ends only processes that it
//! started.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program that prints measurements, and needs sockets, files and time to make them"
)]

mod app_pages;
mod attack;
mod bare;
mod bodies;
mod build;
mod cacheabled;
mod caller;
mod cold;
mod contest;
mod corpus;
mod dependencies;
mod followed;
mod follower;
mod fronted;
mod group;
mod grouped;
mod hit;
mod idle;
mod index;
mod instructions;
mod judge;
mod kept;
mod load;
mod nexus;
mod nora;
mod open;
mod overload;
mod pages;
mod pair;
mod process;
mod publishes;
mod push;
mod queries;
mod recording;
mod scratch;
mod slow;
mod spread;
mod train;
mod trees;
mod turns;
mod written_pages;

#[path = "../../tests/world/gem.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "shared with the tests, which use more of it")]
mod gem;
#[path = "../../tests/world/http.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "shared with the tests, which use more of it")]
mod http;

#[path = "../../tests/world/release.rs"]
mod release;

#[path = "../../tests/world/super_pom.rs"]
#[expect(clippy::unwrap_used, reason = "shared with the tests")]
mod super_pom;

use anyhow::{Context, Result, bail};
use std::fs;

/// The program's allocator, because some rows measure its code in this process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A row: its name on the command line, and the function that measures it.
type Row = (&'static str, fn() -> Result<()>);

const ROWS: &[Row] = &[
    ("hit", hit::row),
    ("steady", hit::steady),
    ("http2", hit::framed),
    ("bodies", bodies::row),
    ("front", fronted::hits),
    ("front-miss", fronted::misses),
    ("app-pages", app_pages::row),
    ("cacheabled", cacheabled::row),
    ("pom", trees::pom),
    ("jar", trees::jar),
    ("unknown", trees::unknown),
    ("cold", cold::row),
    ("group", group::row),
    ("cold-build", build::cold),
    ("warm-build", build::warm),
    ("replay", build::replay),
    ("wakes", build::wakes),
    ("idle", idle::row),
    ("overload", overload::row),
    ("push", push::row),
    ("pair", pair::row),
    ("recording", recording::row),
    ("index", index::row),
    ("followed", followed::row),
    ("follower", follower::row),
    ("grouped", grouped::row),
    ("dependencies", dependencies::row),
    ("queries", queries::row),
    ("instructions", instructions::row),
    ("kept", kept::row),
    ("slow", slow::row),
    ("pages", pages::row),
    ("attack", attack::row),
];

fn main() -> Result<()> {
    let settings: Vec<String> = std::env::args().skip(1).collect();
    if let [first, arguments @ ..] = settings.as_slice() {
        match first.as_str() {
            "recording-loop" => return recording::run(arguments),
            "corpus" => return corpus::run(arguments),
            "bare-server" => return bare::run_server(arguments),
            "bare-fetcher" => return bare::run_fetcher(arguments),
            "train" => return train::run(),
            "judge" => return judge::run(arguments),
            _ => {}
        }
    }
    if let [first, arguments @ ..] = settings.as_slice()
        && first == "kept"
        && !arguments.is_empty()
    {
        let _scratch = scratch::open()?;
        machine()?;
        return kept::run(arguments);
    }
    if let Some(unknown) = settings.iter().find(|name| ROWS.iter().all(|(row, _)| row != name)) {
        let names: Vec<&str> = ROWS.iter().map(|(row, _)| *row).collect();
        bail!("no row `{unknown}`: there are {}", names.join(", "));
    }
    let _scratch = scratch::open()?;
    machine()?;
    for (name, row) in ROWS {
        if settings.is_empty() || settings.iter().any(|each| each == name) {
            row()?;
        }
    }
    Ok(())
}

/// Prints the machine of the measurement.
fn machine() -> Result<()> {
    let cpu = fs::read_to_string("/proc/cpuinfo").context("reading `/proc/cpuinfo`")?;
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown");
    let cores = std::thread::available_parallelism()?;
    println!("machine: {cores} cores of {model}, Linux {}", process::said("uname", &["-r"])?);
    for (program, flag) in [("nginx", "-v"), ("wrk", "-v"), ("valgrind", "--version"), ("rustc", "--version")] {
        println!("version: {}", process::said(program, &[flag])?);
    }
    Ok(())
}
