//! Bytes as a part of a gzip stream: raw deflate that refers to nothing before it and ends with an empty stored block,
//! which is at a byte boundary. Such parts can be joined in any order (RFC 1951, 3.2.4), and their checksums can be
//! combined.

use crate::error::Error;
use bytes::Bytes;
use crc32fast::Hasher;
use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};
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
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, Error> {
        let mut coder = DeflateEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::default());
        coder.write_all(bytes).and_then(|()| coder.flush()).map_err(|_| Error::GivenUp)?;
        // A sync flush, not a finish: a final block would end the whole stream.
        let mut deflate = std::mem::take(coder.get_mut());
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

    /// Decodes the bytes.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; usize::try_from(self.len).map_err(|_| Error::GivenUp)?];
        DeflateDecoder::new(&self.deflate[..]).read_exact(&mut bytes).map_err(|_| Error::GivenUp)?;
        Ok(bytes)
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

    proptest! {
        #[test]
        fn parts_joined_are_the_gzip_of_all_and_each_is_its_bytes_again(
            parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..6),
        ) {
            let coded: Vec<Coded> = parts.iter().map(|part| Coded::of(part).unwrap()).collect();
            prop_assert_eq!(gunzip(&gzip(&coded)), parts.concat());
            let mut joined = Coded::default();
            coded.iter().for_each(|coded| joined.join(coded));
            prop_assert_eq!(gunzip(&gzip([&joined])), parts.concat());
            for (coded, part) in coded.iter().zip(&parts) {
                prop_assert_eq!(&coded.bytes().unwrap(), part);
            }
        }
    }
}
