//! The families of databases with the names of OpenTelemetry.

use super::limits::{DATABASE, only};
use super::page::Page;
use crate::{Op, Totals};

/// The operations of the two databases, which are files of SQLite.
const OPS: [(Op, &str, &str); 4] = [
    (Op::TruthRead, "truth", "read"),
    (Op::Commit, "truth", "commit"),
    (Op::CacheRead, "cache", "read"),
    (Op::CacheWrite, "cache", "commit"),
];

pub(super) fn write(page: &mut Page, totals: &Totals) {
    let doc = "How long operations of databases took, without the wait for a thread";
    let mut operations = page.foreign("db_client_operation_duration_seconds", "histogram", doc);
    for (op, namespace, name) in OPS {
        let labels = [("db_namespace", namespace), ("db_operation_name", name), ("db_system_name", "sqlite")];
        let durations = &totals.counts.ops[op as usize];
        let (count, seconds) = (durations.histogram().count(), durations.histogram().sum() as f64 / 1e9);
        operations.buckets(&labels, only(DATABASE, durations.up_to()), count, seconds);
    }
}
