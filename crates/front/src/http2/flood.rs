//! Frames that ask for nothing. Each is cheap to send, and costs us a little: a stream opened and reset at once
//! (CVE-2023-44487), pings and settings that want an answer, priorities, a head cut into thousands of pieces
//! (CVE-2024-27316), data a byte at a time. Nobody needs many of them beside requests, so a connection has a budget: such a
//! frame takes a coin, time and the bytes that move bring some back, and who has none left is shown out.

use telemetry::Tick;

/// What a budget holds at most, and at first.
const BUDGET: i64 = 1_000;
/// Coins a second.
const RATE: u64 = 100;
/// Bytes of bodies that bring a coin: a client grants room for what it read, and that is a frame too.
const WORTH: usize = 64;
/// A frame's head: its length, its type, and what it is about.
const HEAD: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;

/// Looks at the frames that a client sends, from the first on.
#[derive(Debug)]
pub(super) struct FloodGuard {
    /// What has come of the next head.
    head: [u8; HEAD],
    has: usize,
    /// Bytes to come before it.
    skip: usize,
    budget: i64,
    paid: Tick,
}

impl FloodGuard {
    /// `preface` bytes come before the first frame.
    pub(super) fn new(preface: usize) -> Self {
        Self { head: [0; HEAD], has: 0, skip: preface, budget: BUDGET, paid: Tick::now() }
    }

    /// More has come. Returns whether that is still bearable.
    pub(super) fn received(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.skip > 0 {
                let skipped = self.skip.min(bytes.len());
                self.skip -= skipped;
                bytes = &bytes[skipped..];
                continue;
            }
            let taken = (HEAD - self.has).min(bytes.len());
            self.head[self.has..self.has + taken].copy_from_slice(&bytes[..taken]);
            self.has += taken;
            bytes = &bytes[taken..];
            if self.has == HEAD {
                self.has = 0;
                self.frame();
            }
        }
        self.budget > 0 || self.refill()
    }

    /// So many bytes of replies have gone.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.add(bytes / WORTH);
    }

    fn frame(&mut self) {
        let [high, middle, low, kind, ..] = self.head;
        self.skip = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        match kind {
            // A request. What it costs is counted where it is answered.
            HEADERS => {}
            DATA => {
                self.budget -= 1;
                self.add(self.skip / WORTH);
            }
            _ => self.budget -= 1,
        }
    }

    fn add(&mut self, allowance: usize) {
        self.budget = self.budget.saturating_add(i64::try_from(allowance).unwrap_or(BUDGET)).min(BUDGET);
    }

    /// What the time since the last refill brings. Asked for only by an empty budget, so that nobody else looks at a clock.
    fn refill(&mut self) -> bool {
        let now = Tick::now();
        let allowance = now.since(self.paid).saturating_mul(RATE) / 1_000_000_000;
        if allowance > 0 {
            self.paid = now;
            self.add(usize::try_from(allowance).unwrap_or(usize::MAX));
        }
        self.budget > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: [u8; 17] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

    fn data(len: usize) -> Vec<u8> {
        let mut frame = vec![0, (len >> 8) as u8, len as u8, DATA, 0, 0, 0, 0, 1];
        frame.resize(HEAD + len, 0);
        frame
    }

    /// How many of these are borne, of so many. Time brings a few more.
    fn borne(frame: &[u8], of: usize) -> usize {
        let mut flood = FloodGuard::new(0);
        (0..of).take_while(|_| flood.received(frame)).count()
    }

    #[test]
    fn a_thousand_frames_that_ask_for_nothing_are_borne_and_not_many_more() {
        for frame in [&PING[..], &data(0), &data(1), &data(63)] {
            let borne = borne(frame, 100_000);
            assert!((999..3_000).contains(&borne), "{borne}");
        }
    }

    #[test]
    fn requests_and_data_worth_its_frame_are_borne_for_ever() {
        assert_eq!(borne(&[0, 0, 0, HEADERS, 5, 0, 0, 0, 1], 100_000), 100_000);
        assert_eq!(borne(&data(64), 100_000), 100_000);
    }

    #[test]
    fn who_reads_may_say_so() {
        let mut flood = FloodGuard::new(0);
        for _ in 0..100_000 {
            flood.sent(64);
            assert!(flood.received(&PING));
        }
    }

    #[test]
    fn frames_are_told_apart_however_they_come() {
        let mut stream = vec![b'p'; 24];
        (0..1_500).for_each(|_| stream.extend(PING));
        stream.extend(data(5_000));
        for piece in [1, 7, 9, 100, stream.len()] {
            let mut flood = FloodGuard::new(24);
            // Not asked in between, so that no time brings any.
            for bytes in stream.chunks(piece) {
                let _ = flood.received(bytes);
            }
            assert_eq!((flood.skip, flood.has), (0, 0), "in pieces of {piece}");
        }
    }
}
