//! A body of segments in memory that many replies share. They are neither joined nor copied.

use bytes::Bytes;
use std::sync::Arc;

/// Segments in order, or a slice of them. As an iterator it yields the segments, cut to the slice.
#[derive(Debug, Clone)]
pub struct Rope {
    pieces: Arc<[Bytes]>,
    /// The segment it begins in.
    at: usize,
    /// Bytes of that segment that come before it.
    skip: usize,
    left: u64,
}

impl Rope {
    /// All of `pieces`.
    pub fn new(pieces: Arc<[Bytes]>) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces, at: 0, skip: 0, left }
    }

    /// The length in bytes.
    pub fn len(&self) -> u64 {
        self.left
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The bytes from `from` to before `to`, both within it.
    pub fn slice(mut self, from: u64, to: u64) -> Self {
        let to = to.min(self.left);
        let mut ahead = from.min(to);
        self.left = to - ahead;
        while let Some(piece) = self.pieces.get(self.at) {
            let here = (piece.len() - self.skip) as u64;
            if ahead < here {
                // Less than the length of a segment, so it fits.
                self.skip += ahead as usize;
                break;
            }
            ahead -= here;
            (self.at, self.skip) = (self.at + 1, 0);
        }
        self
    }
}

impl Iterator for Rope {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        while self.left > 0 {
            let piece = self.pieces.get(self.at)?;
            let end = piece.len().min(self.skip.saturating_add(usize::try_from(self.left).unwrap_or(usize::MAX)));
            let part = piece.slice(self.skip..end);
            (self.at, self.skip) = (self.at + 1, 0);
            if !part.is_empty() {
                self.left -= part.len() as u64;
                return Some(part);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_part_of_the_pieces_is_that_part_of_the_whole_also_a_part_of_a_part(
            pieces in proptest::collection::vec("[a-z]{0,4}", 0..8),
            cuts in proptest::array::uniform4(0_usize..30),
        ) {
            let whole = pieces.concat();
            let rope = Rope::new(pieces.into_iter().map(Bytes::from).collect());
            let within = |a: usize, b: usize, len: usize| (a.min(b).min(len), a.max(b).min(len));
            let (from, to) = within(cuts[0], cuts[1], whole.len());
            let (rope, part) = (rope.slice(from as u64, to as u64), &whole[from..to]);
            prop_assert_eq!(rope.len(), part.len() as u64);
            prop_assert_eq!(rope.clone().collect::<Vec<_>>().concat(), part.as_bytes());
            let (from, to) = within(cuts[2], cuts[3], part.len());
            let rope = rope.slice(from as u64, to as u64);
            prop_assert_eq!((rope.is_empty(), rope.clone().all(|piece| !piece.is_empty())), (from == to, true));
            prop_assert_eq!(rope.collect::<Vec<_>>().concat(), &part.as_bytes()[from..to]);
        }
    }
}
