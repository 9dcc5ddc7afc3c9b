//! The last lines of a file, in stretches that each start with a line, and the digests of all bytes before them. With
//! these, a change shortly before the end of a file can be verified without downloading the rest.

use bytes::Bytes;
use md5::Md5;
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;

/// The number of bytes before the end of a file that are kept at least, if the file has so many.
const OVERLAP: usize = 256 << 10;
/// The minimal size of a stretch.
const STRETCH: usize = 64 << 10;

/// The digests of all bytes before an offset.
#[derive(Debug, Clone, Default)]
pub(super) struct Start {
    pub(super) at: u64,
    pub(super) md5: Md5,
    pub(super) sha256: Sha256,
}

impl Start {
    /// Adds these bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.at += bytes.len() as u64;
        self.md5.update(bytes);
        self.sha256.update(bytes);
    }
}

/// The last lines. Clones share all stretches but the last one.
#[derive(Debug, Clone)]
pub(super) struct Recent {
    whole: VecDeque<(Start, Bytes)>,
    /// The start of the last stretch, which is not complete.
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
    /// Keeps stretches of this length, and at least `overlap` bytes.
    pub(super) fn of(stretch: usize, overlap: usize) -> Self {
        Self { whole: VecDeque::new(), start: Start::default(), open: Vec::new(), stretch, overlap }
    }

    /// An empty state after `start`, with stretches of the same length.
    pub(super) fn after(&self, start: Start) -> Self {
        Self { start, ..Self::of(self.stretch, self.overlap) }
    }

    /// Continues the file. `end` has the digests of all bytes before these, and after the call also of these.
    pub(super) fn add(&mut self, mut bytes: &[u8], end: &mut Start) {
        // A stretch ends after the first newline at which it is long enough.
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

    /// Drops the first stretches, as long as the others are enough.
    fn forget(&mut self) {
        let mut len: usize = self.whole.iter().map(|(_, text)| text.len()).sum();
        while let Some((_, first)) = self.whole.front()
            && len - first.len() >= self.overlap
        {
            len -= first.len();
            self.whole.pop_front();
        }
    }

    /// The digests of all bytes before the kept ones.
    pub(super) fn start(&self) -> &Start {
        self.whole.front().map_or(&self.start, |(start, _)| start)
    }

    /// The kept bytes, piece by piece.
    pub(super) fn text(&self) -> impl Iterator<Item = Bytes> {
        let open = Some(&self.open).filter(|open| !open.is_empty());
        self.whole.iter().map(|(_, text)| text.clone()).chain(open.map(|open| Bytes::copy_from_slice(open)))
    }
}
