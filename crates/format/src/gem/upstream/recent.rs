//! The last lines of a file, in stretches that each begin with a line, and the digests of everything before them: so that a file that
//! changed a little before its end can be verified without fetching what comes before.

use bytes::Bytes;
use md5::Md5;
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;

/// At least so many bytes before the end of a file are kept, if it has as many.
const OVERLAP: usize = 256 << 10;
/// A stretch has at least so many bytes.
const STRETCH: usize = 64 << 10;

/// The digests of everything before some byte.
#[derive(Debug, Clone, Default)]
pub(super) struct Start {
    pub(super) at: u64,
    pub(super) md5: Md5,
    pub(super) sha256: Sha256,
}

impl Start {
    /// Everything before it and these bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.at += bytes.len() as u64;
        self.md5.update(bytes);
        self.sha256.update(bytes);
    }
}

/// The last lines. A clone shares all of them but the last stretch.
#[derive(Debug, Clone)]
pub(super) struct Recent {
    whole: VecDeque<(Start, Bytes)>,
    /// The stretch that is not yet as long as one is.
    start: Start,
    open: Vec<u8>,
    stretch: usize,
    overlap: usize,
}

impl Default for Recent {
    fn default() -> Self {
        Self::of(STRETCH, OVERLAP)
    }
}

impl Recent {
    /// Stretches of this length, and so many bytes at least.
    pub(super) fn of(stretch: usize, overlap: usize) -> Self {
        Self { whole: VecDeque::new(), start: Start::default(), open: Vec::new(), stretch, overlap }
    }

    /// Nothing but what comes after `start`, in stretches of the same length.
    pub(super) fn after(&self, start: Start) -> Self {
        Self { start, ..Self::of(self.stretch, self.overlap) }
    }

    /// Continues the file. `end` are the digests of everything before these bytes, and of them when it returns.
    pub(super) fn add(&mut self, mut bytes: &[u8], end: &mut Start) {
        // A stretch ends behind the first newline at which it is long enough.
        while let Some(missing) = self.stretch.checked_sub(self.open.len() + 1).or(Some(0))
            && let Some(newline) = bytes.get(missing..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        {
            let (now, rest) = bytes.split_at(missing + newline + 1);
            end.add(now);
            self.open.extend_from_slice(now);
            bytes = rest;
            let start = std::mem::replace(&mut self.start, end.clone());
            self.whole.push_back((start, std::mem::take(&mut self.open).into()));
            self.forget();
        }
        end.add(bytes);
        self.open.extend_from_slice(bytes);
    }

    /// Forgets the first stretches, as long as the others are enough.
    fn forget(&mut self) {
        let mut len: usize = self.whole.iter().map(|(_, text)| text.len()).sum();
        while let Some((_, first)) = self.whole.front()
            && len - first.len() >= self.overlap
        {
            len -= first.len();
            self.whole.pop_front();
        }
    }

    /// The digests of everything before what is kept.
    pub(super) fn start(&self) -> &Start {
        self.whole.front().map_or(&self.start, |(start, _)| start)
    }

    /// What is kept, one piece after the other.
    pub(super) fn text(&self) -> impl Iterator<Item = Bytes> {
        let open = Some(&self.open).filter(|open| !open.is_empty());
        self.whole.iter().map(|(_, text)| text.clone()).chain(open.map(|open| Bytes::copy_from_slice(open)))
    }
}
