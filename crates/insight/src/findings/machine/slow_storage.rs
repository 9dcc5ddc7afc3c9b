//! Storage that takes long for each access: a disk that fails, a network in between, a neighbour.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{FLOOR_S, FLOOR_SHARE, costs, rounded};
use crate::signals::seen::Seen;
use serde_json::json;
use std::collections::BTreeMap;
use telemetry::Op;

/// Accesses with the time that each takes on slow storage, in nanoseconds: opening and reading what a solid disk has in 0.1 ms and a magnetic
/// one in 10 ms, but the kernel mostly in memory; and syncing, which takes a magnetic disk 10 to 30 ms.
const ACCESSES: [(Op, u64); 4] =
    [(Op::BlobOpen, 5_000_000), (Op::BlobRead, 5_000_000), (Op::BodyRead, 5_000_000), (Op::BlobSync, 60_000_000)];
/// Of such a time, the part that would be usual.
const USUAL: f64 = 0.1;
/// Runs in five minutes, at least.
const RUNS: u64 = 50;
/// A probe of the disk takes longer on slow storage, in nanoseconds.
const PROBE: u64 = 2_000_000;

pub(super) const CHECK: Check = Check {
    key: "slow-storage",
    kind: FindingKind::Cause,
    about: "The storage of the data folder takes long for each access",
    when: "in five minutes opening or reading a file took more than 5 ms on average, or syncing one more than 60 ms, of at least 50 each, and \
           clients lost 5 s or more and 1 % of their time",
    unless: "the time in which the threads that read and write files had no processor does not count",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let recent = &seen.recent;
    let mut slow = Vec::new();
    let mut by_repository: BTreeMap<&str, f64> = BTreeMap::new();
    let all: u64 = ACCESSES.iter().map(|(op, _)| recent.ops.of(*op).nanos).sum();
    for (op, limit) in ACCESSES {
        let runs = recent.ops.of(op);
        // Of the machine, not of its storage.
        let starved = recent.machine.storage_starved_nanos as f64 * runs.nanos as f64 / all.max(1) as f64;
        let nanos = (runs.nanos as f64 - starved).max(0.0);
        if runs.runs < RUNS || nanos <= (runs.runs * limit) as f64 {
            continue;
        }
        let lost = (nanos - (runs.runs * limit) as f64 * USUAL) / 1e9;
        let part = lost / (runs.nanos as f64 / 1e9);
        for (name, seconds) in recent.repositories.seconds(op) {
            *by_repository.entry(name).or_default() += seconds * part;
        }
        slow.push((op, runs, lost));
    }
    let lost: f64 = slow.iter().map(|(_, _, lost)| lost).sum();
    let Some((op, runs, _)) = slow.iter().max_by(|one, other| one.2.total_cmp(&other.2)) else {
        return Verdict::QUIET;
    };
    let starved = recent.machine.storage_starved_nanos as f64 / 1e9;
    if !costs(seen, lost, FLOOR_S, FLOOR_SHARE) {
        return Verdict::QUIET;
    }
    let (probes, nanos, under_way) = recent.machine.probes;
    let probe = (nanos / probes.max(1)).max(under_way);
    let mean = |nanos: u64, runs: u64| nanos as f64 / runs.max(1) as f64 / 1e6;
    let counted: f64 = by_repository.values().sum();
    Verdict::Looked(vec![Problem {
        subject: "disk".to_owned(),
        lost: if counted > 0.8 * lost { Lost::of(by_repository) } else { Lost::recent(lost) },
        confidence: if probe > PROBE { 0.95 } else { 0.8 },
        sentence: format!(
            "the storage of the data folder is slow: `{}` took {:.0} ms on average, {} times in five minutes, and clients lost {lost:.0} s; a probe \
             of the disk takes {:.1} ms. Look for a disk that fails, a slow network or a busy neighbour, or move `store.data` to faster storage",
            op.as_str(),
            mean(runs.nanos, runs.runs),
            runs.runs,
            probe as f64 / 1e6,
        ),
        changes: Vec::new(),
        evidence: json!({
            "where": [["kind", "=", "request"], ["blob_ms", ">", 1]], "by": ["repository", "class"],
            "measures": ["count", "sum(blob_ms)", "p95(blob_ms)"], "order": "-sum(blob_ms)",
        }),
        event: runs.worst.event,
        guards: vec![
            Guard::passed("accesses", runs.runs),
            Guard::passed("seconds in which threads had no processor", rounded(starved)),
        ],
        ..Problem::default()
    }])
}
