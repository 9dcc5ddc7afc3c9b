//! What the watch found: whether serving stands still, and how the run before ended.

use telemetry::{EventId, LongJobView, Op};

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
    /// How long it had run, in seconds.
    pub ran_s: f64,
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
    /// The oldest of them, one line each.
    pub requests: Vec<String>,
    /// How many runs ended so within ten minutes, this one included.
    pub ends: u64,
}

/// How long a loop was blocked within the last five minutes, without the time that the machine took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoopSeen {
    /// Its name.
    pub name: String,
    /// How often it was blocked for a tenth of a second or longer.
    pub blocked: u64,
    /// For how long in total, in seconds.
    pub blocked_s: f64,
    /// The sum of the squares of these times, in square seconds.
    pub square_s: f64,
    /// The seconds that requests in progress on it waited, summed over the requests.
    pub waited_s: f64,
    /// The longest time, in seconds.
    pub longest_s: f64,
    /// The operation that took most of the longest.
    pub op: Option<Op>,
}

/// What the watch found.
#[derive(Debug, Clone, Default)]
pub struct WatchSeen {
    /// `None`: serving goes on.
    pub stuck: Option<Stuck>,
    /// `None`: the run before ended in order, or there was none.
    pub previous_run: Option<PreviousRun>,
    /// The event loops.
    pub loops: Vec<LoopSeen>,
    /// The jobs that run for as long as the server.
    pub jobs: Vec<LongJobView>,
    /// The probes of the server to itself that were answered in the last five minutes, the newest last.
    pub probes: Vec<ProbeSeen>,
}

/// How long a probe took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProbeSeen {
    /// From the connection to the last byte of the answer, as its client measured it, in seconds.
    pub outside_s: f64,
    /// From the first byte of the request to the last one of the answer, as the server measured it, in seconds.
    pub inside_s: f64,
}
