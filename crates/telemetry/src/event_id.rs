//! The id of an event.

use crate::Millis;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies an event in headers, logs and status pages. It is unique within a process, across restarts (by its high bits) and
/// across servers (by its node): 42 bits of milliseconds, 12 bits of the node and a 10-bit counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EventId(pub u64);

/// The node of this process, shifted to its bits of an id.
static NODE: AtomicU64 = AtomicU64::new(0);

impl EventId {
    /// Ids that a thread takes at once, so that threads rarely wait for each other.
    const BLOCK: u64 = 256;
    /// The counting bits. With 1024 ids for each millisecond, a process that makes a million ids in a second stays behind the
    /// clock, so a restart repeats none.
    const COUNT_BITS: u32 = 10;
    const NODE_BITS: u32 = 12;

    /// Sets the node of this process, once at its start. The identity is long and an id is short, so this takes its first bits.
    pub fn set_node(identity: u128) {
        let node = (identity >> (u128::BITS - Self::NODE_BITS)) as u64;
        NODE.store(node << Self::COUNT_BITS, Ordering::Relaxed);
    }

    /// The next id. A process starts at the current milliseconds and counts up from there. An overflow of the counting bits is
    /// carried into the milliseconds, never into the node.
    pub fn next(now: Millis) -> Self {
        thread_local!(static MINE: Cell<(u64, u64)> = const { Cell::new((0, 0)) });
        let (mut next, mut end) = MINE.get();
        if next == end {
            next = Self::block(now);
            end = next + Self::BLOCK;
        }
        MINE.set((next + 1, end));
        Self::new(next, NODE.load(Ordering::Relaxed))
    }

    /// The id with this number. `node` is already shifted to its bits.
    fn new(number: u64, node: u64) -> Self {
        let count = number & ((1 << Self::COUNT_BITS) - 1);
        Self((number >> Self::COUNT_BITS) << (Self::NODE_BITS + Self::COUNT_BITS) | node | count)
    }

    fn block(now: Millis) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let first = u64::try_from(now.0).unwrap_or(0) << Self::COUNT_BITS;
        match NEXT.compare_exchange(0, first + Self::BLOCK, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => first,
            Err(_) => NEXT.fetch_add(Self::BLOCK, Ordering::Relaxed),
        }
    }
}

impl EventId {
    /// Parses an id.
    pub fn read(text: &str) -> Option<Self> {
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then(|| u64::from_str_radix(text, 16).ok())?.map(Self)
    }

    /// 16 hexadecimal digits, as in the header `Daylight-Event`.
    pub fn digits(self) -> [u8; 16] {
        std::array::from_fn(|at| b"0123456789abcdef"[(self.0 >> (60 - 4 * at)) as usize & 15])
    }
}

impl fmt::Display for EventId {
    /// The same as [`EventId::digits`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ() {
        assert_ne!(EventId::next(Millis(1)), EventId::next(Millis(1)));
    }

    #[test]
    fn ids_have_their_node_and_never_repeat_however_many_there_are() {
        let node = 0xabc << EventId::COUNT_BITS;
        let ids = (0..5_000).map(|more| EventId::new((7 << EventId::COUNT_BITS) + more, node).0);
        let ids: Vec<u64> = ids.collect();
        assert_eq!(ids[0], 7 << 22 | 0xabc << 10);
        assert!(ids.is_sorted_by(|one, next| one < next), "ids are ordered, and none repeats");
        assert!(ids.iter().all(|id| id >> 10 & 0xfff == 0xabc));
        assert_eq!(ids[1024], 8 << 22 | 0xabc << 10, "the counter overflows into the milliseconds");
    }

    #[test]
    fn an_id_is_written_the_same_everywhere() {
        for id in [0, 0x0123_4567_89ab_cdef, u64::MAX].map(EventId) {
            assert_eq!(id.to_string().as_bytes(), id.digits());
            assert_eq!(EventId::read(&id.to_string()), Some(id));
        }
        for text in ["", "0", "+123456789abcdef", "0123456789abcdeg", "00123456789abcdef"] {
            assert_eq!(EventId::read(text), None, "{text}");
        }
    }
}
