//! What the watch found: whether serving stands still, and how the run before ended.

use telemetry::{EventId, Op};

/// Serving stands still.
#[derive(Debug, Clone, PartialEq)]
pub struct Stuck {
    /// What stands still: `core-0`, `requests`, `probe`.
    pub what: String,
    /// For how long, in seconds.
    pub seconds: f64,
    /// The operation that most open requests wait for.
    pub op: Option<Op>,
    /// How many requests are open.
    pub open: u64,
    /// The oldest of them.
    pub event: Option<EventId>,
    /// What everybody was doing, one line each, at most 64 lines.
    pub doing: Vec<String>,
}

/// How the run before this one ended, if it did not end in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreviousRun {
    /// Its last words came at this moment.
    pub at: telemetry::Millis,
    /// Its resident memory then, in bytes.
    pub resident_bytes: u64,
    /// The limit of its memory, in bytes.
    pub limit_bytes: Option<u64>,
    /// The kernel killed a process of its cgroup for lack of memory.
    pub oom_kill: bool,
    /// The jobs that ran, with the memory that each had gained, in bytes.
    pub jobs: Vec<(String, u64)>,
    /// Requests that were open.
    pub open: u64,
}

/// What the watch found.
#[derive(Debug, Clone, Default)]
pub struct WatchSeen {
    /// `None`: serving goes on.
    pub stuck: Option<Stuck>,
    /// `None`: the run before ended in order, or there was none.
    pub previous_run: Option<PreviousRun>,
}
