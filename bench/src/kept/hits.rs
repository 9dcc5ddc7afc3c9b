//! The times of page hits: on a server that keeps no events, and on one that writes segments and answers questions meanwhile.

use super::KEEP_BYTES;
use super::questions::{answer, at};
use crate::caller::Caller;
use crate::hit::{PAGE, publish, read};
use crate::http::Connection;
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Turns of both servers.
const ROUNDS: usize = 5;
/// How long a turn is.
const TURN: Duration = Duration::from_secs(6);
/// Memory for rows: segments of some ten thousand rows are written all the time.
const MEMORY: &str = "4194304";
/// Every hit is stored.
const STORED: &str = "100000";

/// Measures both servers in turns, and prints the times.
pub(super) fn measure(data: &Path, folder: &Path) -> Result<()> {
    let other = folder.join("other");
    fs::create_dir(&other)?;
    let quiet = Server::daylight(&other, &[("DAYLIGHT_TELEMETRY_KEEP_BYTES", "0")])?;
    let settings = [
        ("DAYLIGHT_TELEMETRY_KEEP_BYTES", KEEP_BYTES),
        ("DAYLIGHT_TELEMETRY_KEEP_MEMORY_BYTES", MEMORY),
        ("DAYLIGHT_TELEMETRY_STORED_PER_SECOND", STORED),
    ];
    let busy = Server::daylight_on(data, folder, &settings)?;
    for server in [&quiet, &busy] {
        publish(server, "lamp", 4)?;
        (0..3).try_for_each(|_| read(server, PAGE).map(drop))?;
    }
    let events = data.join("events");
    let (before, mut asked) = (names(&events)?, 0);
    let mut p99 = [Spread::default(), Spread::default()];
    let mut p50 = [Spread::default(), Spread::default()];
    for _ in 0..ROUNDS {
        for (place, server) in [&quiet, &busy].into_iter().enumerate() {
            let over = AtomicBool::new(false);
            let mut times = std::thread::scope(|scope| {
                let asks = scope.spawn(|| if place == 1 { ask(server, &over) } else { Ok(0) });
                let times = hits(server);
                over.store(true, Relaxed);
                asked += asks.join().ok().context("a client panicked")??;
                times
            })?;
            p50[place].add(at(&mut times, 0.5));
            p99[place].add(at(&mut times, 0.99));
        }
    }
    let written = names(&events)?.difference(&before).count();
    ensure!(written > 0 && asked > 0, "{written} segments, {asked} questions");
    println!("\n| page hits, {ROUNDS} turns of {} s, median (least to most) | p50, us | p99, us |", TURN.as_secs());
    println!("|---|---|---|");
    for (place, name) in ["no events are kept", "segments are written and questions answered"].into_iter().enumerate() {
        println!("| {name} | {} | {} |", p50[place], p99[place]);
    }
    println!("\n{written} segments written, {asked} questions answered; load average {}", load_average()?);
    Ok(())
}

/// The times of hits on one connection, in microseconds.
fn hits(server: &Server) -> Result<Vec<f64>> {
    let request = format!("GET {PAGE} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let (mut caller, mut times, began) = (Caller::open(&server.address)?, Vec::new(), Instant::now());
    while began.elapsed() < TURN {
        let sent = Instant::now();
        ensure!(caller.call(request.as_bytes())?.status == 200, "a hit was not answered");
        times.push(sent.elapsed().as_secs_f64() * 1e6);
    }
    Ok(times)
}

/// Asks one question after the other. Returns how many.
fn ask(server: &Server, over: &AtomicBool) -> Result<usize> {
    let mut connection = Connection::open(server.address.parse()?)?;
    let question = json!({ "from": "-7d", "by": ["path"], "measures": ["sum(bytes_out)", "p95(duration_ms)"] });
    let mut asked = 0;
    while !over.load(Relaxed) {
        answer(&mut connection, &question)?;
        asked += 1;
    }
    Ok(asked)
}

/// The names of the files.
fn names(folder: &Path) -> Result<BTreeSet<String>> {
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.file_name().to_string_lossy().into_owned()));
    files.filter(|name: &Result<String>| name.as_ref().is_ok_and(|name| name.ends_with(".parquet"))).collect()
}
