//! A timer on every event loop. When it is late, so was everything else on that loop.

use rustix::thread::{Pid, gettid};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Pulse, Tick};
use tokio::time::sleep;

/// How often a loop is asked. Rarely enough to cost nothing; what is an op is seen whole in between.
const EVERY: Duration = Duration::from_millis(20);
/// The runtime's timers count in these.
const GRAIN: Duration = Duration::from_millis(1);

/// Beats until it is dropped. Spawn it on the loop it is about.
pub async fn heartbeat(pulse: Arc<Pulse>) {
    let due = u64::try_from((EVERY + GRAIN).as_nanos()).unwrap_or(u64::MAX);
    let mut before = Starved::read();
    loop {
        let asked = Tick::now();
        sleep(EVERY).await;
        let late = Tick::now().since(asked).saturating_sub(due);
        let now = Starved::read();
        pulse.beat(late, now.since(&before));
        before = now;
    }
}

/// How long a thread was ready to work and had no processor, as the kernel counts it.
struct Starved {
    thread: Pid,
    nanos: u64,
}

impl Starved {
    /// Of this thread. Nothing where the kernel does not count it.
    fn read() -> Self {
        // Nanoseconds worked, nanoseconds starved, times. The file is in memory.
        let counted = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanos = counted.split(' ').nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
        Self { thread: gettid(), nanos }
    }

    /// Since an earlier reading; nothing if that was another thread's.
    fn since(&self, earlier: &Starved) -> u64 {
        if self.thread == earlier.thread { self.nanos.saturating_sub(earlier.nanos) } else { 0 }
    }
}
