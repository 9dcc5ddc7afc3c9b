//! A file that only grows: complete pieces that never change, and a tail.

use crate::error::Result;
use crate::index::document::Index;
use crate::index::rope::PIECE;
use crate::index::rope::coded::{Coded, gzip};
use crate::index::rope::sums::Sums;
use bytes::Bytes;
use std::collections::VecDeque;

/// The data of the file. A clone shares the pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    whole: Vec<(Bytes, Coded)>,
    /// Shorter than a piece.
    tail: Vec<u8>,
    /// The encoded form of the tail's first part. Each addition is encoded alone, because encoding the whole tail again
    /// would cost a piece for each line.
    tail_coded: Coded,
    sums: Sums,
    /// The next complete pieces in their earlier encoding.
    ready: VecDeque<Coded>,
}

impl Log {
    /// The length, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.whole.len() * PIECE + self.tail.len()
    }

    /// The approximate size in memory, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        let coded = self.whole.iter().map(|(_, coded)| coded).chain([&self.tail_coded]);
        (self.len() + coded.map(|coded| coded.deflate.len()).sum::<usize>()) as u64
    }

    /// Whether an addition of this length completes a piece, which is then encoded again as a whole.
    pub(crate) fn seals(&self, len: usize) -> bool {
        self.tail.len() + len >= PIECE
    }

    pub(crate) fn add(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.sums.add(bytes);
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(PIECE - self.tail.len()));
            self.tail.extend_from_slice(now);
            bytes = rest;
            if self.tail.len() == PIECE {
                // Copied, so that it takes no more memory than it needs.
                let piece = Bytes::copy_from_slice(&std::mem::take(&mut self.tail));
                self.seal(piece)?;
            }
        }
        Ok(())
    }

    /// Appends bytes that the caller holds in memory too. Complete pieces are slices of them.
    pub(crate) fn share(&mut self, mut bytes: Bytes) -> Result<()> {
        let first = (PIECE - self.tail.len()) % PIECE;
        self.add(&bytes.split_to(first.min(bytes.len())))?;
        while bytes.len() >= PIECE {
            let piece = bytes.split_to(PIECE);
            self.sums.add(&piece);
            self.seal(piece)?;
        }
        self.add(&bytes)
    }

    fn seal(&mut self, piece: Bytes) -> Result<()> {
        let same = |coded: &Coded| coded.len == PIECE as u64 && coded.crc == crc32fast::hash(&piece);
        let coded = match self.ready.pop_front().filter(same) {
            Some(coded) => coded,
            None => {
                self.ready.clear();
                Coded::of(&piece)?
            }
        };
        self.tail_coded = Coded::default();
        self.whole.push((piece, coded));
        Ok(())
    }

    /// Gives an empty log the earlier encoding of its first pieces. Unchanged pieces are not encoded again.
    pub(crate) fn expect(&mut self, coded: Vec<Coded>) {
        self.ready = coded.into();
    }

    /// The complete pieces in encoded form.
    pub(crate) fn coded(&self) -> impl ExactSizeIterator<Item = &Coded> {
        self.whole.iter().map(|(_, coded)| coded)
    }

    /// The present index. With only one piece there is no gzip form, because the index may become a page, and pages are
    /// compressed later.
    pub(crate) fn index(&mut self) -> Result<Index> {
        if self.whole.is_empty() {
            return Ok(self.sums.index(self.pieces().collect(), None));
        }
        let news = &self.tail[self.tail_coded.len as usize..];
        if !news.is_empty() {
            self.tail_coded.join(&Coded::of(news)?);
        }
        let gzip = gzip(self.whole.iter().map(|(_, coded)| coded).chain([&self.tail_coded]));
        Ok(self.sums.index(self.pieces().collect(), Some(gzip)))
    }

    /// The bytes: the pieces, and a copy of the tail.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Bytes> {
        let tail = Bytes::copy_from_slice(&self.tail);
        self.whole.iter().map(|(piece, _)| piece.clone()).chain([tail])
    }

    /// The saved form: the lengths of the encoded pieces, and all bytes.
    pub(crate) fn parts(&self) -> (Vec<usize>, Vec<Bytes>) {
        let lens = self.whole.iter().map(|(_, coded)| coded.deflate.len()).collect();
        let both = self.whole.iter().flat_map(|(piece, coded)| [piece.clone(), coded.deflate.clone()]);
        (lens, both.chain([Bytes::copy_from_slice(&self.tail)]).collect())
    }

    /// Reads the saved form; `None`: it is not valid.
    pub(crate) fn read(lens: &[usize], mut bytes: Bytes) -> Option<Self> {
        let mut log = Self::default();
        for len in lens {
            let end = PIECE.checked_add(*len).filter(|end| *end <= bytes.len())?;
            let mut piece = bytes.split_to(end);
            let deflate = piece.split_off(PIECE);
            log.sums.add(&piece);
            let coded = Coded { deflate, crc: crc32fast::hash(&piece), len: PIECE as u64 };
            if !coded.is_of(&piece) {
                return None;
            }
            log.whole.push((piece, coded));
        }
        if bytes.len() >= PIECE {
            return None;
        }
        log.sums.add(&bytes);
        log.tail.extend_from_slice(&bytes);
        Some(log)
    }
}

#[cfg(test)]
mod tests {
    use super::super::coded::gunzip;
    use super::*;
    use md5::Md5;
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    /// Lines like those of a file of versions.
    fn text(len: usize, salt: usize) -> Vec<u8> {
        (0..len).map(|at| if at % 40 == 39 { b'\n' } else { b'a' + (at * 7 + salt) as u8 % 26 }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn whatever_came_in_whatever_parts_every_form_is_that_of_the_whole_also_when_it_was_written_and_read(
            parts in proptest::collection::vec(
                (prop_oneof![1 => 0..PIECE * 3, 3 => 0_usize..200, 1 => Just(PIECE), 1 => PIECE - 1..PIECE + 2], any::<bool>(), any::<bool>()),
                0..7,
            ),
        ) {
            let (mut log, mut whole) = (Log::default(), Vec::new());
            for (len, look, reread) in parts {
                let part = text(len, whole.len());
                if look { log.add(&part).unwrap() } else { log.share(part.clone().into()).unwrap() }
                whole.extend_from_slice(&part);
                if reread {
                    let (lens, parts) = log.parts();
                    log = Log::read(&lens, Bytes::from(parts.concat())).unwrap();
                }
                if look {
                    let index = log.index().unwrap();
                    prop_assert!(index.pieces.concat() == whole);
                    prop_assert_eq!(log.len(), whole.len());
                    prop_assert_eq!(index.gzip.is_some(), whole.len() >= PIECE);
                    prop_assert!(index.gzip.is_none_or(|gzip| gunzip(&gzip) == whole));
                    let sum = Md5::digest(&whole).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                    prop_assert_eq!((index.md5, index.sha256), (sum, Sha256::digest(&whole).into()));
                    prop_assert_eq!(index.states.len(), whole.len() / PIECE);
                    for (state, end) in index.states.iter().zip((PIECE..).step_by(PIECE)) {
                        prop_assert_eq!(state.clone().finalize(), Md5::digest(&whole[..end]));
                    }
                }
            }
        }

        #[test]
        fn pieces_that_were_coded_before_are_taken_as_far_as_they_are_the_same(same in 0..6_usize) {
            let (mut before, mut log) = (Log::default(), Log::default());
            let bytes = text(PIECE * 5 + 100, 0);
            before.add(&bytes).unwrap();
            log.expect(before.coded().cloned().collect());
            let mut other = bytes.clone();
            other[same * PIECE] = b'0';
            log.add(&other).unwrap();
            let taken = before.coded().zip(log.coded()).filter(|(one, other)| one.deflate.as_ptr() == other.deflate.as_ptr());
            prop_assert_eq!(taken.count(), same.min(5));
            let index = log.index().unwrap();
            prop_assert!(index.pieces.concat() == other && gunzip(&index.gzip.unwrap()) == other);
        }

        #[test]
        fn what_was_not_written_so_is_not_read(lens in proptest::collection::vec(any::<usize>(), 0..3), len in 0..PIECE * 2) {
            let fits = lens.iter().try_fold(0_usize, |sum, len| sum.checked_add(PIECE)?.checked_add(*len));
            let fits = fits.and_then(|fits| len.checked_sub(fits)).is_some_and(|tail| tail < PIECE);
            prop_assert_eq!(Log::read(&lens, Bytes::from(vec![0; len])).is_some(), fits);
        }
    }
}
