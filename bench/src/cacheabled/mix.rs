//! A mix of requests: three of five are for pages that the application has written, the others are rendered each time.

use super::unicorn::{Unicorn, WORKERS, read};
use crate::app_pages;
use crate::http::Connection;
use crate::open::{LoadResult, Stream};
use crate::process::{Server, TOKEN};
use crate::spread::Spread;
use crate::written_pages::Memcached;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::time::Instant;

/// Requests a second.
const RATE: f64 = 280.0;
const PART_OF_PAGES: f64 = 0.6;
const SECONDS: f64 = 10.0;
const ROUNDS: usize = 3;

/// Measures and prints the table.
pub(super) fn table(folder: &Path, unicorn: &Unicorn, memcached: &Memcached) -> Result<()> {
    println!(
        "\n### {RATE} requests a second, {PART_OF_PAGES} of them for pages; the others wait 20 ms on average, by an exponential distribution"
    );
    let settings = app_pages::settings(&unicorn.url(), &memcached.url(), 64 << 20);
    let slots = format!("cache_bytes = 67108864\nslots = {WORKERS}");
    let settings = settings.replace("cache_bytes = 67108864", &slots);
    let (plain, _) = settings.split_once("[app.pages]").context("settings of pages")?;
    let with = Server::daylight_front_of(&folder.join("pages"), &settings)?;
    let without = Server::daylight_front_of(&folder.join("no-pages"), plain)?;
    let rows = [
        ("without a cache", &without, "/waits/page"),
        ("the application's own cache", &without, "/own/mixed"),
        ("pages sent by Daylight", &with, "/own/mixed"),
    ];
    for (_, server, path) in rows {
        read(server, path, None)?;
    }
    let mut figures: Vec<[Spread; 4]> = rows.iter().map(|_| Default::default()).collect();
    for _ in 0..ROUNDS {
        for ((_, server, path), [busy, wait, middle, most]) in rows.iter().zip(&mut figures) {
            let (before, waits) = (unicorn.busy_seconds()?, Waits::of(server)?);
            let began = Instant::now();
            let stream = |path: &str, part: f64| {
                let stream = Stream::get(server, path, RATE * part);
                Stream { connections: 128, seconds: SECONDS, ..stream }
            };
            let loads = Stream::at_once(&[stream(path, PART_OF_PAGES), stream("/waits/other", 1.0 - PART_OF_PAGES)])?;
            let seconds = began.elapsed().as_secs_f64();
            ensure!(loads.iter().all(|load| load.errors + load.shed == 0), "a request failed");
            busy.add((unicorn.busy_seconds()? - before) / (WORKERS as f64 * seconds) * 100.0);
            wait.add(Waits::of(server)?.since(&waits, 0.95) * 1e3);
            middle.add(LoadResult::quantile(&loads[1].micros, 0.5) / 1e3);
            most.add(LoadResult::quantile(&loads[1].micros, 0.95) / 1e3);
        }
    }
    println!(
        "\n| {ROUNDS} rounds in turns, median (least to most) | workers busy, % | wait for a worker, p95, ms | others, p50, ms | p95, ms |"
    );
    println!("|---|---|---|---|---|");
    for ((name, ..), [busy, wait, middle, most]) in rows.iter().zip(&figures) {
        println!("| {name} | {busy} | {wait} | {middle} | {most} |");
    }
    Ok(())
}

/// How long requests have waited for a slot: the upper bounds of the histogram in seconds, each with the number of requests below it.
struct Waits(Vec<(f64, f64)>);

impl Waits {
    fn of(server: &Server) -> Result<Self> {
        let mut connection = Connection::open(server.admin.parse()?)?;
        let reply = connection.call("GET", "/metrics", &[("Authorization", TOKEN)], b"")?;
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("daylight_op_duration_seconds_bucket{op=\"app.wait\",le=\""));
        let one = |line: &str| {
            let (bound, count) = line.split_once("\"} ")?;
            Some((bound.replace("+Inf", "inf").parse().ok()?, count.parse().ok()?))
        };
        let buckets: Vec<_> = lines.filter_map(one).collect();
        ensure!(!buckets.is_empty(), "/metrics: {} {text}", reply.status);
        Ok(Self(buckets))
    }

    /// The bound that this part of the waits since an earlier moment does not exceed, by interpolation within its bucket.
    fn since(&self, earlier: &Self, part: f64) -> f64 {
        let counts: Vec<_> = self.0.iter().zip(&earlier.0).map(|(now, then)| (now.0, now.1 - then.1)).collect();
        let all = counts.last().map_or(0.0, |last| last.1);
        let mut below = (0.0, 0.0);
        for (bound, count) in counts {
            if count >= all * part && count > below.1 {
                return below.0 + (bound.min(60.0) - below.0) * (all * part - below.1) / (count - below.1);
            }
            below = (bound, count);
        }
        0.0
    }
}
