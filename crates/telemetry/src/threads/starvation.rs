//! How long threads were ready to run and had no processor, as counted by the kernel. The load of the machine causes that, not the
//! threads.

use std::cell::Cell;
use std::fs;

thread_local! {
    /// The count of this thread at the last call, in nanoseconds.
    static SEEN: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Nanoseconds that this thread starved since the last call. 0 at the first call, and where the kernel does not count.
pub(crate) fn since_last() -> u64 {
    // Fields: nanoseconds run, nanoseconds starved, number of time slices. The file is in memory.
    let counted = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos: u64 = counted.split(' ').nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
    nanos.saturating_sub(SEEN.replace(Some(nanos)).unwrap_or(nanos))
}
