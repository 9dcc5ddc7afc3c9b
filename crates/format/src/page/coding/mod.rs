//! The codings of stored bodies.

mod brotli;

use super::Unusable;
use flate2::bufread::MultiGzDecoder;
use std::io::{ErrorKind, Read};

/// How many times larger than its coded form a body is taken to be: most HTML is 4 to 12 times as large. Memory that is not filled costs
/// nothing.
const GUESS: usize = 16;
/// Smaller bodies are decoded into this many bytes at first.
const GUESS_MIN_BYTES: usize = 16 << 10;

/// The coding of a body (`Content-Encoding`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Coding {
    /// None.
    #[default]
    Identity,
    /// `gzip` (RFC 1952).
    Gzip,
    /// `br` (RFC 7932).
    Brotli,
}

impl Coding {
    /// The value of `Content-Encoding`; `None`: there is none.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Coding::Identity => None,
            Coding::Gzip => Some("gzip"),
            Coding::Brotli => Some("br"),
        }
    }

    /// Decodes a whole body, to at most `limit_bytes`: every member of a gzip file with its checksum, or one Brotli stream, and nothing
    /// behind it. The decoded body and the state of the decoder take at most twice `limit_bytes` (rounded up to a power of two) and 1 MiB.
    ///
    /// # Errors
    /// `TooLarge`: it has more than `limit_bytes`. `Damaged`: it is not in this coding, or ends early.
    pub fn decode(self, body: &[u8], limit_bytes: usize) -> Result<Vec<u8>, Unusable> {
        match self {
            Coding::Identity if body.len() > limit_bytes => Err(Unusable::TooLarge),
            Coding::Identity => Ok(body.to_vec()),
            Coding::Gzip => decode(|_| MultiGzDecoder::new(body), gzip_bytes(body).unwrap_or(0), limit_bytes),
            Coding::Brotli => {
                let guess = body.len().saturating_mul(GUESS).max(GUESS_MIN_BYTES);
                decode(|expected| brotli::Decoder::new(body, expected, limit_bytes), guess, limit_bytes)
            }
        }
    }
}

/// The size of the last member of a gzip file, which is most often its only one (RFC 1952, ISIZE).
fn gzip_bytes(body: &[u8]) -> Option<usize> {
    let size = body.last_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*size)).ok()
}

/// Decodes into `guess` bytes, or, if they are not enough, into as many as the limit allows; `decoder` is told how many are expected.
fn decode<R: Read>(decoder: impl Fn(usize) -> R, guess: usize, limit_bytes: usize) -> Result<Vec<u8>, Unusable> {
    let first = guess.min(limit_bytes);
    for size in [first, limit_bytes] {
        let mut out = vec![0; size];
        let mut from = decoder(size);
        let filled = fill(&mut from, &mut out)?;
        if filled < size || fill(&mut from, &mut [0])? == 0 {
            drop(from);
            out.truncate(filled);
            out.shrink_to_fit();
            return Ok(out);
        }
        if size == limit_bytes {
            break;
        }
    }
    Err(Unusable::TooLarge)
}

/// Reads until `to` is full or the body ends.
fn fill(from: &mut impl Read, to: &mut [u8]) -> Result<usize, Unusable> {
    let mut filled = 0;
    while filled < to.len() {
        match from.read(&mut to[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::OutOfMemory => return Err(Unusable::TooLarge),
            Err(_) => return Err(Unusable::Damaged),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;

    /// `hello`, made by libbrotli 1.0.9.
    const HELLO: &[u8] = b"\x0b\x02\x80hello\x03";
    /// 5,000,000 times `a`, with a window of 16 MiB.
    const MANY: &[u8] = b"\x9f\x3f\x4b\x4c\x00\x24\xc2\xe2\xb1\x40\xf2\x85\x98\x00";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut to = GzEncoder::new(Vec::new(), Compression::default());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    #[test]
    fn every_member_of_a_gzip_file_is_decoded_and_its_trailer_checked() {
        let (one, two) = (gzip(b"one, "), gzip(b"two"));
        assert_eq!(Coding::Gzip.decode(&[&*one, &*two].concat(), 8), Ok(b"one, two".to_vec()));
        for place in [one.len() - 8, one.len() - 4] {
            let mut wrong = one.clone();
            wrong[place] ^= 1;
            assert_eq!(Coding::Gzip.decode(&wrong, 99), Err(Unusable::Damaged));
        }
        let behind = [&*one, b"x"].concat();
        for wrong in [&one[..one.len() - 1], &behind, b"", b"\x1f\x8b"] {
            assert_eq!(Coding::Gzip.decode(wrong, 99), Err(Unusable::Damaged));
        }
    }

    #[test]
    fn a_brotli_stream_is_decoded_whole_and_alone() {
        assert_eq!(Coding::Brotli.decode(HELLO, 5), Ok(b"hello".to_vec()));
        assert_eq!(Coding::Brotli.decode(b"\x06", 5), Ok(Vec::new()));
        let behind = [HELLO, b"x"].concat();
        for wrong in [&HELLO[..HELLO.len() - 1], &behind, b"", b"\xff\xff\xff"] {
            assert_eq!(Coding::Brotli.decode(wrong, 99), Err(Unusable::Damaged));
        }
    }

    #[test]
    fn a_body_is_at_most_as_large_as_the_limit() {
        let zeros = gzip(&[0; 100_000]);
        assert_eq!(Coding::Gzip.decode(&zeros, 100_000).map(|body| body.len()), Ok(100_000));
        assert_eq!(Coding::Gzip.decode(&zeros, 99_999), Err(Unusable::TooLarge));
        assert_eq!(Coding::Gzip.decode(&[&*zeros, &*zeros].concat(), 199_999), Err(Unusable::TooLarge));
        assert_eq!(Coding::Brotli.decode(MANY, 5_000_000).map(|body| body.len()), Ok(5_000_000));
        assert_eq!(Coding::Brotli.decode(MANY, 4_999_999), Err(Unusable::TooLarge));
        assert_eq!(Coding::Brotli.decode(HELLO, 4), Err(Unusable::TooLarge));
        assert_eq!(Coding::Identity.decode(b"hello", 5), Ok(b"hello".to_vec()));
        assert_eq!(Coding::Identity.decode(b"hello", 4), Err(Unusable::TooLarge));
    }

    #[test]
    fn no_more_memory_is_kept_than_the_body_takes() {
        let body = Coding::Brotli.decode(HELLO, 1 << 20).unwrap();
        assert_eq!(body.capacity(), body.len());
    }
}
