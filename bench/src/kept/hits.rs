//! The times of page hits: on a server that keeps events and writes no segment, on one that writes segments all the time, and on the same one
//! while it answers questions about the stored events as well.

use super::KEEP_BYTES;
use super::filled::Filled;
use super::questions::{answer, at};
use crate::caller::Caller;
use crate::hit::{PAGE, publish, read};
use crate::http::Connection;
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Turns of each state.
const ROUNDS: usize = 7;
/// How long a turn is.
const TURN: Duration = Duration::from_secs(4);
/// Memory for rows: segments of some ten thousand rows are written all the time.
const MEMORY: &str = "4194304";
/// Every hit is stored.
const STORED: &str = "100000";

/// What a server does beside answering hits, by the names of rows.
const STATES: [&str; 3] = ["events are kept", "segments are written", "segments are written, questions answered"];

/// Measures the states in turns, and prints the times.
pub(super) fn measure(data: &Path, folder: &Path, filled: &Filled) -> Result<()> {
    let other = folder.join("other");
    fs::create_dir(&other)?;
    // As it is delivered, it stores a sample of so many hits.
    let quiet = Server::daylight(&other, &[])?;
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
    let question = json!({
        "from": filled.from()?, "to": filled.before(0), "by": ["path"], "measures": ["sum(bytes_out)", "p95(duration_ms)"],
    });
    let (events, of_quiet) = (data.join("events"), other.join("data/events"));
    let (mut written, mut asked) = ([0; STATES.len()], 0);
    let [mut p50, mut p99, mut slower]: [[Spread; STATES.len()]; 3] = Default::default();
    for _ in 0..ROUNDS {
        let mut first = f64::NAN;
        for state in 0..STATES.len() {
            let (server, files) = if state == 0 { (&quiet, &of_quiet) } else { (&busy, &events) };
            let (before, over) = (names(files)?, AtomicBool::new(false));
            let mut times = std::thread::scope(|scope| {
                let asks = scope.spawn(|| if state == 2 { ask(server, &question, &over) } else { Ok(0) });
                let times = hits(server);
                over.store(true, Relaxed);
                asked += asks.join().ok().context("a client panicked")??;
                times
            })?;
            written[state] += names(files)?.difference(&before).count();
            p50[state].add(at(&mut times, 0.5));
            let highest = at(&mut times, 0.99);
            if state == 0 {
                first = highest;
            }
            p99[state].add(highest);
            slower[state].add(highest / first);
        }
    }
    ensure!(
        written[0] == 0 && written[1] > 0 && written[2] > 0 && asked > 0,
        "segments {written:?}, questions {asked}"
    );
    println!(
        "\n| page hits, {ROUNDS} turns of {} s, median (least to most) | p50, us | p99, us | p99 in parts of the first state's |",
        TURN.as_secs()
    );
    println!("|---|---|---|---|");
    for (state, name) in STATES.into_iter().enumerate() {
        println!("| {name} | {} | {} | {} |", p50[state], p99[state], slower[state]);
    }
    println!("\n{written:?} segments written, {asked} questions answered; load average {}", load_average()?);
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
fn ask(server: &Server, question: &Value, over: &AtomicBool) -> Result<usize> {
    let mut connection = Connection::open(server.address.parse()?)?;
    let mut asked = 0;
    while !over.load(Relaxed) {
        answer(&mut connection, question)?;
        asked += 1;
    }
    Ok(asked)
}

/// The names of the segments in a folder.
fn names(folder: &Path) -> Result<BTreeSet<String>> {
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.file_name().to_string_lossy().into_owned()));
    files.filter(|name: &Result<String>| name.as_ref().is_ok_and(|name| name.ends_with(".parquet"))).collect()
}
