//! How long an event loop was blocked since the start, and how many requests waited for it. Only the thread of the loop writes.

use crate::Op;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A period in which a loop was blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Blocked {
    /// Its length in nanoseconds.
    pub nanos: u64,
    /// The op that took most of it. `None`: no op did.
    pub op: Option<Op>,
}

/// Sums over all times in which a loop was blocked for at least [`LoopBlocks::LEAST_NANOS`].
#[derive(Debug)]
pub struct LoopBlocks {
    count: AtomicU64,
    nanos: AtomicU64,
    square_ms: AtomicU64,
    waited: AtomicU64,
    /// The nanoseconds by op; the last are those of no known one.
    by_op: [AtomicU64; Op::COUNT + 1],
}

/// The sums at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoopBlocked {
    /// How often it was blocked.
    pub count: u64,
    /// For how long in total, in nanoseconds.
    pub nanos: u64,
    /// The sum of the squares of the lengths, in square milliseconds. A request that arrives meanwhile waits for half of a length on
    /// average, and the longer a block is, the more arrive.
    pub square_ms: u64,
    /// The nanoseconds that requests in progress on the loop waited for it, summed over the requests.
    pub waited: u64,
}

impl Default for LoopBlocks {
    fn default() -> Self {
        let [count, nanos, square_ms, waited] = [const { AtomicU64::new(0) }; 4];
        Self { count, nanos, square_ms, waited, by_op: [const { AtomicU64::new(0) }; Op::COUNT + 1] }
    }
}

impl LoopBlocks {
    /// A shorter turn is not counted: clients hardly notice it.
    pub const LEAST_NANOS: u64 = 100_000_000;
    /// A loop that was late and had no such turn is counted from here: it did much work in short turns, or the kernel kept it.
    const LATE_NANOS: u64 = 500_000_000;

    /// `longest`: the longest turn since the last beat. `late`: how late the beat was. Both without the time in which other processes had
    /// the processors.
    pub(crate) fn see(&self, longest: Blocked, late: u64, in_flight: u32) {
        let Blocked { nanos, op } = match longest.nanos >= Self::LEAST_NANOS {
            // Several such turns may follow each other before the next beat.
            true => Blocked { nanos: longest.nanos.max(late), ..longest },
            false if late >= Self::LATE_NANOS => Blocked { nanos: late, op: None },
            false => return,
        };
        let ms = nanos / 1_000_000;
        self.count.fetch_add(1, Relaxed);
        self.nanos.fetch_add(nanos, Relaxed);
        self.square_ms.fetch_add(ms.saturating_mul(ms), Relaxed);
        // One of them is the one that blocked the others.
        self.waited.fetch_add(nanos.saturating_mul(u64::from(in_flight.saturating_sub(1))), Relaxed);
        self.by_op[op.map_or(Op::COUNT, |op| op as usize)].fetch_add(nanos, Relaxed);
    }

    /// The sums now.
    pub fn sums(&self) -> LoopBlocked {
        let [count, nanos, square_ms, waited] =
            [&self.count, &self.nanos, &self.square_ms, &self.waited].map(|sum| sum.load(Relaxed));
        LoopBlocked { count, nanos, square_ms, waited }
    }

    /// The nanoseconds for which `op` blocked it. `None`: for which no op is known.
    pub fn nanos_of(&self, op: Option<Op>) -> u64 {
        self.by_op[op.map_or(Op::COUNT, |op| op as usize)].load(Relaxed)
    }
}

impl LoopBlocked {
    /// What was added since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            count: self.count.saturating_sub(earlier.count),
            nanos: self.nanos.saturating_sub(earlier.nanos),
            square_ms: self.square_ms.saturating_sub(earlier.square_ms),
            waited: self.waited.saturating_sub(earlier.waited),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_blocks_count_and_each_request_in_progress_but_one_waits() {
        let blocks = LoopBlocks::default();
        let turn = |ms: u64, op| Blocked { nanos: ms * 1_000_000, op };
        blocks.see(turn(99, Some(Op::Route)), 499_999_999, 9);
        assert_eq!(blocks.sums(), LoopBlocked::default());
        blocks.see(turn(200, Some(Op::IndexRender)), 0, 4);
        blocks.see(turn(50, None), 500_000_000, 0);
        blocks.see(turn(100, Some(Op::Hash)), 300_000_000, 1);
        let sums = LoopBlocked { count: 3, nanos: 1_000_000_000, square_ms: 380_000, waited: 600_000_000 };
        assert_eq!((blocks.sums(), blocks.nanos_of(Some(Op::IndexRender))), (sums, 200_000_000));
        assert_eq!((blocks.nanos_of(None), sums.since(sums)), (500_000_000, LoopBlocked::default()));
    }
}
