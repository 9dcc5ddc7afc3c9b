//! What wakes whom: how often the threads of Daylight wait, and so are woken, for each file of a build.

use super::measured::AFTERWARDS;
use super::peers::{Peer, Peers};
use super::recorded::{Recorded, is_artifact};
use super::replay;
use crate::process::Server;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;

/// Threads that wait less often for each file are in the sum alone.
const SHOWN: f64 = 0.02;

/// The waits of each kind of thread so far, by its name.
type Waits = BTreeMap<String, u64>;

/// Replays the requests of all Maven builds, cold and then warm, and prints the waits of each kind of thread.
pub(crate) fn row() -> Result<()> {
    println!("\n## What wakes whom in a build");
    let (recorded, peers) = (Recorded::maven()?, Peers::default());
    let (requests, upstream) = (recorded.requests(), recorded.upstream(false)?);
    let files = requests.iter().filter(|path| is_artifact(path)).count() as f64;
    let daylight = peers.open(Peer::Daylight, "wakes", &recorded, &upstream.url())?;
    sleep(AFTERWARDS);
    let build = || -> Result<Waits> {
        let before = waits(&daylight)?;
        replay::run(&daylight, &daylight.base, &requests)?;
        sleep(AFTERWARDS);
        let after = waits(&daylight)?;
        Ok(after.into_iter().map(|(name, count)| (name.clone(), count - before.get(&name).unwrap_or(&0))).collect())
    };
    let (cold, warm) = (build()?, build()?);
    println!("\n{files} files in {} requests, five at a time, until a second after the last answer", requests.len());
    println!("\n| thread | cold, waits for each file | warm |\n|---|---|---|");
    let each = |waits: &Waits, name: &String| *waits.get(name).unwrap_or(&0) as f64 / files;
    let mut names: Vec<&String> = cold.keys().collect();
    names.sort_by(|one, other| each(&cold, other).total_cmp(&each(&cold, one)));
    for name in names.into_iter().filter(|name| each(&cold, name).max(each(&warm, name)) >= SHOWN) {
        println!("| {name} | {:.2} | {:.2} |", each(&cold, name), each(&warm, name));
    }
    let all = |waits: &Waits| waits.values().sum::<u64>() as f64 / files;
    println!("| all | {:.2} | {:.2} |", all(&cold), all(&warm));
    Ok(())
}

/// The voluntary switches of a server's threads, which are its waits (proc(5)). Those of threads that have ended are not in them.
fn waits(server: &Server) -> Result<Waits> {
    let mut waits = Waits::new();
    for thread in fs::read_dir(format!("/proc/{}/task", server.id()))? {
        let folder = thread?.path();
        // A thread may end meanwhile.
        let [Ok(name), Ok(status)] = ["comm", "status"].map(|file| fs::read_to_string(folder.join(file))) else {
            continue;
        };
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).context("proc(5)")?;
        // Threads of one kind differ in a number.
        let kind = name.trim().trim_end_matches(|each: char| each.is_ascii_digit() || each == '-');
        *waits.entry(kind.to_owned()).or_default() += count.trim().parse::<u64>()?;
    }
    Ok(waits)
}
