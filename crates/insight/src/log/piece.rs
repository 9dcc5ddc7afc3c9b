//! A piece of a log: a head with checksums, and compressed bytes.

use std::io;
use zstd::bulk::{Compressor, Decompressor};

/// A piece of a log whose checksums hold.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    packed: &'a [u8],
    plain_length: usize,
}

/// Each piece begins with it. After a damaged piece the next one is found by it.
const MARK: [u8; 4] = *b"DLev";
/// The mark, the lengths of the packed and of the plain bytes, the checksum of the packed bytes, and the checksum of all these.
const HEAD: usize = 20;

impl<'a> Piece<'a> {
    /// The longest piece, plain or packed, in bytes.
    pub(super) const BYTES_MAX: u64 = 64 * 1024 * 1024;

    /// Appends a piece with these bytes to `packed`, which is empty.
    pub(super) fn write(plain: &[u8], with: &mut Compressor<'_>, packed: &mut Vec<u8>) -> io::Result<()> {
        if plain.len() as u64 > Self::BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        packed.resize(HEAD + zstd::zstd_safe::compress_bound(plain.len()), 0);
        let length = with.compress_to_buffer(plain, &mut packed[HEAD..])?;
        packed.truncate(HEAD + length);
        let checksum = crc32fast::hash(&packed[HEAD..]);
        packed[..4].copy_from_slice(&MARK);
        packed[4..8].copy_from_slice(&(length as u32).to_le_bytes());
        packed[8..12].copy_from_slice(&(plain.len() as u32).to_le_bytes());
        packed[12..16].copy_from_slice(&checksum.to_le_bytes());
        let checksum = crc32fast::hash(&packed[..16]);
        packed[16..HEAD].copy_from_slice(&checksum.to_le_bytes());
        Ok(())
    }

    /// All pieces whose checksums hold, in their order.
    pub(super) fn all(bytes: &'a [u8]) -> impl Iterator<Item = Piece<'a>> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            loop {
                match Self::first(rest) {
                    Some((piece, after)) => {
                        rest = after;
                        return Some(piece);
                    }
                    // The next mark after this byte.
                    None => rest = &rest[1 + rest.get(1..)?.windows(MARK.len()).position(|four| four == MARK)?..],
                }
            }
        })
    }

    fn first(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let ([mark, packed, plain, checksum, of_head], []) = head.as_chunks::<4>() else { return None };
        let [packed, plain, checksum, of_head] =
            [packed, plain, checksum, of_head].map(|four| u32::from_le_bytes(*four));
        let sound = *mark == MARK && of_head == crc32fast::hash(&head[..16]) && u64::from(plain) <= Self::BYTES_MAX;
        let (packed, after) = if sound { rest.split_at_checked(packed as usize)? } else { return None };
        (checksum == crc32fast::hash(packed)).then_some((Self { packed, plain_length: plain as usize }, after))
    }

    /// The plain bytes. `None`: they are damaged.
    pub(super) fn unpack(&self, with: &mut Decompressor<'_>) -> Option<Vec<u8>> {
        let plain = with.decompress(self.packed, self.plain_length).ok()?;
        (plain.len() == self.plain_length).then_some(plain)
    }

    /// Its size in the log in bytes, with its head.
    pub(super) fn bytes(&self) -> usize {
        HEAD + self.packed.len()
    }
}
