//! How long threads were ready to work and had no processor, as the kernel counts it: that is the machine's doing and not theirs.

use std::cell::Cell;
use std::fs;

thread_local! {
    /// Nanoseconds of this thread when it was last asked.
    static SEEN: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Nanoseconds of this thread since it was last asked; nothing the first time, and where the kernel does not count.
pub(crate) fn since_last() -> u64 {
    // Nanoseconds worked, nanoseconds starved, times. The file is in memory.
    let counted = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos: u64 = counted.split(' ').nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
    nanos.saturating_sub(SEEN.replace(Some(nanos)).unwrap_or(nanos))
}
