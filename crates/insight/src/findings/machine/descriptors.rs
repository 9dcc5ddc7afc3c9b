//! A process that has nearly as many files and sockets open as it may.

use super::super::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::BoundName;

/// The share of the descriptors that are open, at least.
const SHARE: f64 = 0.8;

pub(super) const CHECK: Check = Check {
    key: "descriptors-run-out",
    kind: FindingKind::Cause,
    about: "The process has nearly as many files and sockets open as it may",
    when: "at least 80 % of its descriptors were open; when none is left, no connection and no file can be opened",
    unless: "",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let (open, limit) = seen.recent.machine.descriptors;
    if limit == 0 || (open as f64) < SHARE * limit as f64 {
        return Verdict::QUIET;
    }
    let used = |name| seen.recent.bounds.named(name).map(|(_, bound)| bound.used_max).sum::<u64>();
    let (connections, files) = (used(BoundName::Connections), used(BoundName::OpenFiles));
    let wanted = (open * 2).next_power_of_two().max(65_536);
    let process = std::process::id();
    Verdict::Looked(vec![Problem {
        subject: "server".to_owned(),
        lost: Lost::default(),
        confidence: 1.0,
        sentence: format!(
            "{open} of {limit} descriptors of the process were open, {connections} of them for clients and {files} for kept files; when none is left, \
             clients are refused and nothing can be read. Raise the limit (`LimitNOFILE={wanted}` of a service of systemd)"
        ),
        changes: vec![Change::by_command(format!("prlimit --nofile={wanted}:{wanted} --pid {process}"))],
        evidence: json!({ "where": [["kind", "=", "request"]], "by": ["client"], "measures": ["count"], "order": "-count" }),
        event: None,
        guards: vec![Guard::passed("open descriptors", open)],
        ..Problem::default()
    }])
}
