//! Files that the kernel does not have in memory, so that clients wait for the disk.

use super::super::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use super::{FLOOR_S, costs, rounded};
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Op;

/// Reads of files and databases.
const READS: [Op; 6] = [Op::BlobOpen, Op::BlobRead, Op::BodyRead, Op::IndexRead, Op::TruthRead, Op::CacheRead];
/// The share of time in which tasks waited for a disk, at least.
const PRESSURE: f64 = 0.2;
/// Bytes that came from disks in five minutes, at least.
const BYTES: u64 = 64 << 20;
/// The share of the time of all clients, at least.
const SHARE: f64 = 0.1;

pub(super) const CHECK: Check = Check {
    key: "disk-waits",
    kind: FindingKind::Cause,
    about: "Clients wait for the disk, because the kernel does not have the files in memory",
    when: "in five minutes tasks waited for a disk for 20 % of the time, threads that clients wait for read 64 MiB or more from it, and reading took \
           5 s or more and 10 % of the time of all clients",
    unless: "",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let (recent, machine) = (&seen.recent, &seen.recent.machine);
    let pressure = machine.io_nanos as f64 / machine.nanos.max(1) as f64;
    let reads = READS.map(|op| recent.ops.of(op));
    let seconds = reads.iter().map(|op| op.nanos).sum::<u64>() as f64 / 1e9;
    // Of the time of reads only that of the disk is lost.
    let lost = seconds * pressure.min(1.0);
    if pressure < PRESSURE || machine.disk_read_bytes < BYTES || !costs(seen, lost, FLOOR_S, SHARE) {
        return Verdict::QUIET;
    }
    let read = machine.disk_read_bytes as f64 / 1e6;
    let available = seen.machine.as_ref().and_then(|sample| sample.system.available_bytes);
    let memory = available.map(|bytes| format!("; {:.1} GB of memory are available", bytes as f64 / 1e9));
    let worst = reads.iter().max_by_key(|op| op.worst.nanos);
    Verdict::Looked(vec![Problem {
        subject: "disk".to_owned(),
        lost: Lost::recent(lost),
        confidence: 0.7,
        sentence: format!(
            "the kernel does not have the files in memory that clients ask for: {read:.0} MB came from the disk in five minutes, tasks waited for it \
             {:.0} % of the time, and clients lost {lost:.0} s{}; give the machine more memory, or a faster disk",
            pressure * 100.0,
            memory.unwrap_or_default(),
        ),
        changes: Vec::new(),
        evidence: json!({
            "where": [["kind", "=", "request"]], "by": ["repository", "class"],
            "measures": ["sum(blob_ms)", "sum(truth_ms)", "sum(body_send_ms)", "count"], "order": "-sum(blob_ms)",
        }),
        event: worst.and_then(|op| op.worst.event),
        guards: vec![Guard::passed("share of time in which tasks waited for a disk", rounded(pressure))],
        ..Problem::default()
    }])
}
