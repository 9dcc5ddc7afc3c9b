//! The families about event loops.

use super::page::Page;
use crate::{LoopMonitor, Op};
use std::sync::Arc;

pub(super) fn write(page: &mut Page, monitors: &[Arc<LoopMonitor>]) {
    let doc = "The longest turn of a task on an event loop in the last one to two minutes, and the operation that took most of it";
    let mut blocked = page.family("loop_blocked_longest_seconds", "gauge", doc);
    for monitor in monitors {
        let longest = monitor.longest();
        let labels = [("loop", monitor.name()), ("op", longest.op.map_or("none", Op::as_str))];
        blocked.sample(&labels, longest.nanos as f64 / 1e9);
    }
    let doc = "The longest wait of a ready task for an event loop in the last one to two minutes";
    let mut late = page.family("loop_late_longest_seconds", "gauge", doc);
    for monitor in monitors {
        late.sample(&[("loop", monitor.name())], monitor.latest() as f64 / 1e9);
    }
    let doc = "How long an event loop was ready to work and had no processor";
    let mut starved = page.family("loop_starved_seconds_total", "counter", doc);
    for monitor in monitors {
        starved.sample(&[("loop", monitor.name())], monitor.starved() as f64 / 1e9);
    }
    let mut lateness = page.family("loop_late_seconds", "histogram", "How late the timer of an event loop was");
    for monitor in monitors {
        lateness.histogram(&[("loop", monitor.name())], &monitor.lateness());
    }
    let doc = "Operations that ran on an event loop itself, so that everything else on it waited";
    let mut ops = page.family("loop_ops_total", "counter", doc);
    for monitor in monitors {
        for op in Op::ALL.iter().filter(|op| monitor.runs(**op) > 0) {
            ops.sample(&[("loop", monitor.name()), ("op", op.as_str())], monitor.runs(*op));
        }
    }
}
