//! Bytes as a part of a gzip stream: raw deflate that refers to nothing before it and ends with an empty stored block,
//! which is at a byte boundary. Such parts can be joined in any order (RFC 1951, 3.2.4), and their checksums can be
//! combined.

use crate::error::{Error, Result};
use bytes::Bytes;
use crc32fast::Hasher;
use flate2::bufread::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress};
use std::io::Read;
use std::sync::Arc;

/// RFC 1952, 2.3: deflate, no modification time, no name, unknown operating system.
const HEADER: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// An empty final block.
const LAST: [u8; 2] = [3, 0];

/// Encoded bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coded {
    /// The raw deflate data.
    pub(crate) deflate: Bytes,
    /// The CRC-32 of the decoded bytes.
    pub(crate) crc: u32,
    /// The number of decoded bytes.
    pub(crate) len: u64,
}

impl Coded {
    pub(crate) fn of(bytes: &[u8]) -> Result<Self> {
        let mut deflate = sync_flushed(bytes, bytes.len() / 2)?;
        deflate.shrink_to_fit();
        Ok(Self { deflate: deflate.into(), crc: crc32fast::hash(bytes), len: bytes.len() as u64 })
    }

    /// Appends another part.
    pub(crate) fn join(&mut self, other: &Self) {
        self.deflate = [&self.deflate[..], &other.deflate].concat().into();
        let mut crc = Hasher::new_with_initial_len(self.crc, self.len);
        crc.combine(&Hasher::new_with_initial_len(other.crc, other.len));
        self.crc = crc.finalize();
        self.len += other.len;
    }

    /// Decodes the bytes. An error: the data is not whole. Then a stream in which other parts follow would not be either.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.len).map_err(|_| Error::Undecodable)?);
        let mut decoder = DeflateDecoder::new((&self.deflate[..]).chain(&LAST[..]));
        let read = (&mut decoder).take(self.len + 1).read_to_end(&mut bytes).map_err(|_| Error::Undecodable)?;
        let ends = decoder.total_in() == (self.deflate.len() + LAST.len()) as u64;
        let whole = read as u64 == self.len && ends && crc32fast::hash(&bytes) == self.crc;
        if whole { Ok(bytes) } else { Err(Error::Undecodable) }
    }

    /// Whether the data decodes to these bytes.
    pub(crate) fn is_of(&self, bytes: &[u8]) -> bool {
        self.bytes().is_ok_and(|own| own == bytes)
    }
}

/// Raw deflate data that ends with a sync flush (a final block would end the whole stream). `room` is the space for
/// output at the start, in bytes; it grows as needed.
///
/// A call flushes only if the coder has no output left from the call before. flate2's `DeflateEncoder::flush` calls once,
/// and miniz_oxide 0.9 returns early from a call that writes such a rest, even with space left. So the flush is complete
/// after a call that began without a rest and left space.
fn sync_flushed(bytes: &[u8], room: usize) -> Result<Vec<u8>> {
    /// More than the marker of a flush, which has 5 bytes.
    const SPARE: usize = 16;
    let mut coder = Compress::new(Compression::default(), false);
    let mut deflate = Vec::with_capacity(room + SPARE);
    let mut begins_empty = true;
    loop {
        let rest = &bytes[coder.total_in() as usize..];
        coder.compress_vec(rest, &mut deflate, FlushCompress::Sync).map_err(|_| Error::GivenUp)?;
        let leaves_space = deflate.len() < deflate.capacity();
        if begins_empty && leaves_space && coder.total_in() == bytes.len() as u64 {
            return Ok(deflate);
        }
        begins_empty = leaves_space;
        deflate.reserve(room + SPARE);
    }
}

/// The gzip file of all `parts`, in this order.
pub(crate) fn gzip<'a>(parts: impl IntoIterator<Item = &'a Coded>) -> Arc<[Bytes]> {
    let mut pieces = vec![Bytes::from_static(HEADER)];
    let mut whole = Hasher::new();
    let mut len = 0_u64;
    for part in parts {
        whole.combine(&Hasher::new_with_initial_len(part.crc, part.len));
        len += part.len;
        pieces.push(part.deflate.clone());
    }
    // The format stores the length modulo 2^32.
    let trailer = [&LAST[..], &whole.finalize().to_le_bytes(), &(len as u32).to_le_bytes()].concat();
    pieces.push(trailer.into());
    pieces.into()
}

#[cfg(test)]
pub(crate) fn gunzip(pieces: &[Bytes]) -> Vec<u8> {
    let (whole, mut bytes) = (pieces.concat(), Vec::new());
    flate2::read::GzDecoder::new(&whole[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Random bytes of `bits` bits of entropy each.
    fn random(len: usize, bits: u32, seed: u64) -> Vec<u8> {
        let mut state = seed | 1;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            b' ' ^ (state >> 40) as u8 >> (8 - bits)
        };
        (0..len).map(next).collect()
    }

    /// A length, the bits of entropy in each byte, and a seed. The encoded form is short, or about as long as up to three
    /// times the buffer of an encoder; or the input ends where miniz_oxide ends a block, and some of it is still unread.
    fn part() -> impl Strategy<Value = (usize, u32, u64)> {
        const BUFFER: usize = 32 << 10;
        const BLOCK: usize = 31 << 10;
        let coded =
            (0..4_usize, 0..3000_usize).prop_map(|(times, beside)| (times * BUFFER + beside).saturating_sub(1500));
        let coded = (coded, 1..=8_u32).prop_map(|(coded, bits)| (coded * 8 / bits as usize, bits));
        let block = (1..3_usize, 0..300_usize).prop_map(|(times, beside)| (times * BLOCK + beside, 8));
        (prop_oneof![2 => coded, 1 => block], any::<u64>()).prop_map(|((len, bits), seed)| (len, bits, seed))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn parts_joined_are_the_gzip_of_all_and_each_is_its_bytes_again(parts in proptest::collection::vec(part(), 0..4)) {
            let parts: Vec<_> = parts.into_iter().map(|(len, bits, seed)| random(len, bits, seed)).collect();
            let coded: Vec<Coded> = parts.iter().map(|part| Coded::of(part).unwrap()).collect();
            for (coded, part) in coded.iter().zip(&parts) {
                prop_assert!(coded.bytes().is_ok_and(|bytes| bytes == *part), "{} bytes", part.len());
            }
            prop_assert!(gunzip(&gzip(&coded)) == parts.concat());
            let mut joined = Coded::default();
            coded.iter().for_each(|coded| joined.join(coded));
            prop_assert!(gunzip(&gzip([&joined])) == parts.concat());
        }

        #[test]
        fn a_flush_is_complete_however_little_room_there_was((len, bits, seed) in part(), room in 0..=64_usize, of in 1..=64_usize) {
            let part = random(len, bits, seed);
            // From nothing to more than all, and a room that the output fills to the last byte or misses by a few.
            let whole = sync_flushed(&part, 2 * part.len()).unwrap();
            for room in [whole.len() * room / of, (whole.len() + 16).saturating_sub(room)] {
                let deflate = sync_flushed(&part, room).unwrap();
                let coded = Coded { deflate: deflate.into(), crc: crc32fast::hash(&part), len: part.len() as u64 };
                prop_assert!(coded.bytes().is_ok_and(|bytes| bytes == part), "{} bytes, room {room}", part.len());
                prop_assert!(gunzip(&gzip([&coded, &coded])) == [&part[..], &part].concat());
            }
        }
    }
}
