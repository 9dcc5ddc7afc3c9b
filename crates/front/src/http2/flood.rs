//! Guards against floods of frames that ask for nothing. Each frame is cheap to send and costs the server a little:
//! streams that are opened and reset at once (CVE-2023-44487), pings and settings that require a reply, priorities, a
//! head in thousands of pieces (CVE-2024-27316), data a byte at a time. No client needs many such frames. So a
//! connection has a budget of such frames; time and bytes of bodies refill it, and a connection that has used its
//! budget up is closed.

use telemetry::Tick;

/// The largest budget, which is also the initial one.
const BUDGET: i64 = 1_000;
/// Frames added per second.
const RATE: u64 = 100;
/// Bytes of bodies that add one frame to the budget: a client that reads a body sends window updates, which are frames
/// too.
const WORTH: usize = 64;
/// The head of a frame: length, type, flags and stream.
const HEAD: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;

/// Reads the frames that a client sends, from the first on.
#[derive(Debug)]
pub(super) struct FloodGuard {
    /// The bytes of the next frame head that have arrived.
    head: [u8; HEAD],
    has: usize,
    /// Bytes to skip before it.
    skip: usize,
    budget: i64,
    paid: Tick,
}

impl FloodGuard {
    /// `preface` bytes come before the first frame.
    pub(super) fn new(preface: usize) -> Self {
        Self { head: [0; HEAD], has: 0, skip: preface, budget: BUDGET, paid: Tick::now() }
    }

    /// Bytes have arrived. Returns whether there is budget left.
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

    /// This many bytes of replies have been sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.add(bytes / WORTH);
    }

    fn frame(&mut self) {
        let [high, middle, low, kind, ..] = self.head;
        self.skip = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        match kind {
            // A request. Its cost is limited by other means.
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

    /// Adds the budget for the time since the last refill. Called only when the budget is empty, so other connections
    /// never read the clock.
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

    /// The number of `of` frames that are accepted. Time adds a few.
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
            // The result is ignored, so that time does not refill the budget.
            for bytes in stream.chunks(piece) {
                let _ = flood.received(bytes);
            }
            assert_eq!((flood.skip, flood.has), (0, 0), "in pieces of {piece}");
        }
    }
}
