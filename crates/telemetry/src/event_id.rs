//! The id of an event.

use crate::Millis;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies an event in headers, logs and status pages. It is unique in a process and, by its high bits, across restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EventId(pub u64);

impl EventId {
    /// Ids that a thread takes at once, so that threads rarely wait for each other.
    const BLOCK: u64 = 256;

    /// The next id. The first id of a process has 42 bits with the milliseconds of that moment, and 22 bits of 0. Ids count on from
    /// there.
    pub fn next(now: Millis) -> Self {
        thread_local!(static MINE: Cell<(u64, u64)> = const { Cell::new((0, 0)) });
        let (mut next, mut end) = MINE.get();
        if next == end {
            next = Self::block(now);
            end = next + Self::BLOCK;
        }
        MINE.set((next + 1, end));
        Self(next)
    }

    fn block(now: Millis) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let first = u64::try_from(now.0).unwrap_or(0) << 22;
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
