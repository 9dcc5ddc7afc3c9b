//! What publishes take of PostgreSQL and of object storage, and the time of the calls of both.

use super::{Both, NAME};
use crate::http::Connection;
use crate::process::{Server, TOKEN};
use anyhow::{Context, Result, ensure};

/// Figures of PostgreSQL and of the storage for each publish.
const COUNTED: [&str; 6] = [
    "statements sent to PostgreSQL",
    "bytes of its write-ahead log",
    "bytes of rows of the journal",
    "bytes that PostgreSQL stores of them",
    "CPU of PostgreSQL, us",
    "CPU of SeaweedFS, us",
];
/// Operations of the server: how many for each publish, and the time of each.
const OPS: [(&str, &str); 5] = [
    ("database.append", "appends"),
    ("object.put", "PUTs"),
    ("object.look", "HEADs"),
    ("truth.commit", "commits, shared ones as often as they are shared"),
    ("blob.sync", "syncs of a file"),
];
const ALL: usize = COUNTED.len() + 2 * OPS.len();

/// All of these since the start.
pub(super) struct Counters([f64; ALL]);

impl Counters {
    /// Reads them.
    pub(super) fn read(both: &Both, server: &Server) -> Result<Self> {
        let work = both.database.work(NAME)?;
        let mut all = [0.0; ALL];
        all[..4].copy_from_slice(&work);
        all[4] = both.database.server.cpu_seconds()? * 1e6;
        all[5] = both.storage.server.cpu_seconds()? * 1e6;
        let metrics = metrics(server)?;
        for (at, (op, _)) in OPS.iter().enumerate() {
            all[COUNTED.len() + 2 * at] = of_op(&metrics, "count", op);
            all[COUNTED.len() + 2 * at + 1] = of_op(&metrics, "sum", op) * 1e3;
        }
        Ok(Self(all))
    }
}

fn metrics(server: &Server) -> Result<String> {
    let headers = [("Authorization", TOKEN)];
    let reply = Connection::open(server.address.parse()?)?.call("GET", "/metrics", &headers, b"")?;
    ensure!(reply.status == 200, "/metrics: {}", reply.status);
    String::from_utf8(reply.body).context("metrics")
}

/// 0 until the operation was first run.
fn of_op(metrics: &str, part: &str, op: &str) -> f64 {
    let begin = format!("daylight_op_duration_seconds_{part}{{op=\"{op}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(&begin)?.parse().ok()).unwrap_or_default()
}

/// What the publishes of one load took, in all rounds.
#[derive(Default)]
pub(super) struct Taken {
    sum: [f64; ALL],
    publishes: usize,
}

impl Taken {
    /// Adds a round.
    pub(super) fn add(&mut self, before: &Counters, after: &Counters, publishes: usize) {
        let differences = before.0.iter().zip(&after.0).map(|(before, after)| after - before);
        self.sum.iter_mut().zip(differences).for_each(|(sum, difference)| *sum += difference);
        self.publishes += publishes;
    }
}

/// Prints what the publishes of each load took.
pub(super) fn print(loads: &[(String, Taken)]) {
    let line = |name: &str, figure: &dyn Fn(&Taken) -> String| {
        let figures: Vec<_> = loads.iter().map(|(_, taken)| figure(taken)).collect();
        println!("| {name} | {} |", figures.join(" | "));
    };
    let names: Vec<_> = loads.iter().map(|(name, _)| name.as_str()).collect();
    println!("\n| for each publish on both | {} |", names.join(" | "));
    println!("|---{}|", "|---".repeat(loads.len()));
    for (at, name) in COUNTED.iter().enumerate() {
        line(name, &|taken| {
            let each = taken.sum[at] / taken.publishes as f64;
            if each < 10.0 { format!("{each:.2}") } else { format!("{each:.0}") }
        });
    }
    for (number, (_, name)) in OPS.iter().enumerate() {
        let at = COUNTED.len() + 2 * number;
        line(&format!("{name}; ms of each"), &|taken| {
            let (count, ms) = (taken.sum[at], taken.sum[at + 1]);
            format!("{:.2}; {:.2}", count / taken.publishes as f64, if count > 0.0 { ms / count } else { 0.0 })
        });
    }
}
