//! Page hits at a steady rate: alone, while twenty tabs load a web page once a second each, and while as many clients ask for
//! an asset that does not exist.

use super::{costs, fill, request};
use crate::caller::Caller;
use crate::open::{LoadResult, Stream};
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
/// The time of a turn, in seconds.
const TURN: f64 = 4.0;
/// Hits per second, and their connections.
const PER_SECOND: f64 = 1000.0;
const CONNECTIONS: usize = 8;
const TABS: usize = 20;
/// The requests beside the hits, by the names of rows.
const STATES: [&str; 3] = ["alone", "twenty tabs", "as many requests for no asset"];

/// Measures and prints.
pub(super) fn measure(server: &Server) -> Result<()> {
    let page = format!("/repository/gems-private/info/{}", fill::GEM);
    let paths = costs::paths();
    let beside = [Vec::new(), paths, vec!["/assets/none".to_owned()]];
    let [mut p50, mut p99, mut slower]: [[Spread; STATES.len()]; 3] = Default::default();
    let mut asked = [0; STATES.len()];
    (0..3).try_for_each(|_| crate::hit::read(server, &page).map(drop))?;
    for round in 0..ROUNDS {
        let mut highest = [f64::NAN; STATES.len()];
        for turn in 0..STATES.len() {
            // Each state comes first as often as the others.
            let state = (turn + round) % STATES.len();
            let wanted = if state == 2 { 404 } else { 200 };
            let over = AtomicBool::new(false);
            let hits = std::thread::scope(|scope| {
                let (paths, over) = (&beside[state], &over);
                let count = if paths.is_empty() { 0 } else { TABS };
                let tabs: Vec<_> =
                    (0..count).map(|number| scope.spawn(move || tab(server, number, paths, wanted, over))).collect();
                let stream =
                    Stream { connections: CONNECTIONS, seconds: TURN, ..Stream::get(server, &page, PER_SECOND) };
                let hits = stream.run();
                over.store(true, Relaxed);
                for tab in tabs {
                    asked[state] += tab.join().ok().context("a tab panicked")??;
                }
                hits
            })?;
            ensure!(hits.errors + hits.shed == 0, "{} hits were not answered", hits.errors + hits.shed);
            p50[state].add(LoadResult::quantile(&hits.micros, 0.5));
            highest[state] = LoadResult::quantile(&hits.micros, 0.99);
            p99[state].add(highest[state]);
        }
        highest.iter().enumerate().for_each(|(state, p99)| slower[state].add(p99 / highest[0]));
    }
    println!("\n## Page hits beside tabs");
    println!(
        "\n{ROUNDS} rounds in turns of {TURN} s, {PER_SECOND} hits a second from their planned moment: median (least to most)"
    );
    println!(
        "\n| beside the hits | asked | p50, us | p99, us | p99 in parts of that of hits alone, by round |\n|---|---|---|---|---|"
    );
    for (state, name) in STATES.iter().enumerate() {
        println!("| {name} | {} | {} | {} | {} |", asked[state], p50[state], p99[state], slower[state]);
    }
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

/// Loads a page once a second. Returns how often.
fn tab(server: &Server, number: usize, paths: &[String], wanted: u16, over: &AtomicBool) -> Result<usize> {
    let (mut caller, request) = (Caller::open(&server.address)?, request(&paths[number % paths.len()]));
    let (start, mut asked) = (Instant::now() + Duration::from_secs_f64(number as f64 / TABS as f64), 0);
    while !over.load(Relaxed) {
        let next = start + Duration::from_secs(asked as u64);
        if let Some(early) = next.checked_duration_since(Instant::now()) {
            std::thread::sleep(early.min(Duration::from_millis(20)));
            continue;
        }
        let status = caller.call(&request)?.status;
        ensure!(status == wanted, "{}: {status}", paths[number % paths.len()]);
        asked += 1;
    }
    Ok(asked)
}
