//! The id of an event.

use crate::Millis;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies an event in headers, logs and status pages. It is unique within a process, across restarts and across servers (by its
/// node): 42 bits of milliseconds, 12 bits of the node and a 10-bit counter. Its milliseconds are those of the event's begin, to
/// within about a second ([`EventId::millis`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct EventId(pub u64);

/// The node of this process, shifted to its bits of an id.
static NODE: AtomicU64 = AtomicU64::new(0);

/// The numbers that this process has not used yet. A number is an id without the bits of the node.
static NUMBERS: Numbers = Numbers(AtomicU64::new(0));

impl EventId {
    /// The counting bits. With 1024 ids for each millisecond, a process that makes a million ids in a second stays behind the
    /// clock, so a restart repeats none.
    const COUNT_BITS: u32 = 10;
    const NODE_BITS: u32 = 12;
    /// The last millisecond that an id can name, in the year 2109.
    const MILLIS_MAX: u64 = u64::MAX >> (Self::NODE_BITS + Self::COUNT_BITS);

    /// Sets the node of this process, once at its start. The identity is long and an id is short, so this takes its first bits.
    pub fn set_node(identity: u128) {
        let node = (identity >> (u128::BITS - Self::NODE_BITS)) as u64;
        NODE.store(node << Self::COUNT_BITS, Ordering::Relaxed);
    }

    /// The next id of this thread.
    pub fn next(now: Millis) -> Self {
        thread_local!(static MINE: Cell<Block> = const { Cell::new(Block { next: 0, end: 0 }) });
        let mut block = MINE.get();
        let number = block.next(&NUMBERS, now);
        MINE.set(block);
        Self::new(number, NODE.load(Ordering::Relaxed))
    }

    /// The time that the id names. If the clock was set back, it is that of the clock before, until the clock has caught up.
    pub fn millis(self) -> Millis {
        Millis((self.0 >> (Self::NODE_BITS + Self::COUNT_BITS)).cast_signed())
    }

    /// The id with this number. `node` is already shifted to its bits.
    fn new(number: u64, node: u64) -> Self {
        let count = number & ((1 << Self::COUNT_BITS) - 1);
        Self((number >> Self::COUNT_BITS) << (Self::NODE_BITS + Self::COUNT_BITS) | node | count)
    }
}

/// The first number that no thread has taken.
struct Numbers(AtomicU64);

impl Numbers {
    /// Takes a block of numbers for one thread. It begins at the clock, or after the last block: numbers only grow, even if the clock is
    /// set back. An overflow of the counting bits is carried into the milliseconds.
    fn block(&self, now: Millis) -> Block {
        let clock = u64::try_from(now.0).unwrap_or(0).min(EventId::MILLIS_MAX) << EventId::COUNT_BITS;
        let mut first = clock;
        // The closure always returns a value, so this cannot fail.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
            first = free.max(clock);
            Some(first + Block::SIZE)
        });
        Block { next: first, end: first + Block::SIZE }
    }
}

/// Numbers that a thread has taken and not used yet.
#[derive(Debug, Clone, Copy)]
struct Block {
    next: u64,
    end: u64,
}

impl Block {
    /// Numbers that a thread takes at once, so that threads rarely wait for each other.
    const SIZE: u64 = 256;
    /// The age in milliseconds at which a thread drops the rest of a block and takes another one.
    const AGE: u64 = 1000;

    /// The next number. It is that of a moment which lies at most [`Block::AGE`] before `now`.
    fn next(&mut self, numbers: &Numbers, now: Millis) -> u64 {
        // Negative if the clock was set back: then the block is still of use.
        let age = now.0.wrapping_sub((self.next >> EventId::COUNT_BITS).cast_signed());
        if self.next == self.end || age > Self::AGE.cast_signed() {
            *self = numbers.block(now);
        }
        self.next += 1;
        self.next - 1
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
        let mut digits = [0; 16];
        digits[..8].copy_from_slice(&half((self.0 >> 32) as u32));
        digits[8..].copy_from_slice(&half(self.0 as u32));
        digits
    }
}

/// The 8 digits of half an id, all at once: a byte for each, from 0 to 15, and then its character.
fn half(of: u32) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut bytes = u64::from(of);
    bytes = (bytes | bytes << 16) & 0x0000_ffff_0000_ffff;
    bytes = (bytes | bytes << 8) & 0x00ff_00ff_00ff_00ff;
    bytes = (bytes | bytes << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = ((bytes + ONES * 6) >> 4) & ONES;
    (bytes + ONES * u64::from(b'0') + letters * u64::from(b'a' - b'9' - 1)).to_be_bytes()
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

    /// Ids of two threads, at these moments by the clock.
    fn ids(moments: impl Iterator<Item = i64>) -> Vec<(i64, EventId)> {
        let (numbers, mut blocks) = (Numbers(AtomicU64::new(0)), [Block { next: 0, end: 0 }; 2]);
        let id = |(at, moment): (usize, i64)| (moment, EventId::new(blocks[at % 2].next(&numbers, Millis(moment)), 0));
        moments.enumerate().map(id).collect()
    }

    fn all_differ(ids: &[(i64, EventId)]) -> bool {
        let mut all: Vec<EventId> = ids.iter().map(|(_, id)| *id).collect();
        all.sort_unstable();
        all.is_sorted_by(|one, next| one < next)
    }

    #[test]
    fn ids_differ() {
        assert_ne!(EventId::next(Millis(1)), EventId::next(Millis(1)));
    }

    #[test]
    fn an_id_names_the_time_of_its_event_to_within_a_second() {
        // An event each 3 ms, then one each 7 minutes.
        let moments = (0..20_000).map(|event| event * 3).chain((1..500).map(|event| event * 420_000));
        let ids = ids(moments.map(|moment| 1_793_534_400_000 + moment));
        for (moment, id) in &ids {
            let behind = moment - id.millis().0;
            assert!((-1..=1000).contains(&behind), "{id} of {moment} names {}", id.millis().0);
        }
        assert!(all_differ(&ids));
    }

    #[test]
    fn a_clock_that_is_set_back_repeats_no_id_and_takes_no_block_for_each() {
        let forth = (0..3000).map(|event| 1_793_534_400_000 + event);
        let back = (0..3000).map(|event| 1_793_530_800_000 + event);
        let ids = ids(forth.clone().chain(back).chain(forth));
        assert!(all_differ(&ids));
        let (_, last) = ids[5999];
        assert!(last.millis().0 < 1_793_534_400_000 + 3000 + 10, "3000 ids fill some 12 blocks: {}", last.millis().0);
    }

    #[test]
    fn more_ids_than_the_counter_has_are_ordered_and_differ() {
        let ids = ids((0..100_000).map(|_| 7));
        assert!(all_differ(&ids));
        assert_eq!(ids[99_999].1.millis().0, 7 + 100_000 / 1024);
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
