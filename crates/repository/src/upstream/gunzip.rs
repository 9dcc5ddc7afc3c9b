//! Decodes a body that came packed by gzip, piece by piece, and never to more than a limit: a few bytes can become a thousand times as
//! many.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use store::Held;

/// Bytes that are decoded at a time.
const PIECE: usize = 1 << 20;
/// A body that decodes to no more than this may be packed as well as it can be.
const ALWAYS_BYTES: u64 = 16 << 20;
/// Maximum number of bytes that are read for one piece. Empty members have bytes and decode to nothing, so without a limit one piece
/// could take hours.
const READ_MAX: u64 = 16 << 20;
/// A larger one may become so many times as long. Text in XML becomes ten to thirty times as long, archives hardly longer.
const RATIO_MAX: u64 = 100;

/// Why a body cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undecodable {
    #[error("it is named gzip and cannot be decoded: {0}")]
    Corrupt(io::Error),
    #[error("it is packed by gzip and decodes to more than {0} bytes, which is too much for its length")]
    TooLong(u64),
}

/// A body on its way through the decoder.
pub(crate) struct Gunzip {
    decoder: MultiGzDecoder<BufReader<Body>>,
    limit: u64,
    left: u64,
}

/// The bytes of a body, in memory or in a file.
struct Body {
    held: Held,
    at: u64,
    /// Where the bytes for the next piece end at the latest.
    end: u64,
}

impl Gunzip {
    /// Decodes a body of `size_bytes`, to no more than `max_bytes`.
    pub(crate) fn new(held: Held, size_bytes: u64, max_bytes: u64) -> Self {
        let limit = size_bytes.saturating_mul(RATIO_MAX).max(ALWAYS_BYTES).min(max_bytes);
        Self { decoder: MultiGzDecoder::new(BufReader::new(Body { held, at: 0, end: READ_MAX })), limit, left: limit }
    }

    /// The next decoded bytes; none at the end.
    pub(crate) fn piece(&mut self) -> Result<Vec<u8>, Undecodable> {
        let mut piece = Vec::new();
        let body = self.decoder.get_mut().get_mut();
        body.end = body.at + READ_MAX;
        let read = (&mut self.decoder).take(PIECE as u64).read_to_end(&mut piece).map_err(Undecodable::Corrupt)?;
        self.left = self.left.checked_sub(read as u64).ok_or(Undecodable::TooLong(self.limit))?;
        Ok(piece)
    }
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.end {
            return Err(io::Error::other("too many bytes decode to almost nothing"));
        }
        let read = match &self.held {
            Held::Bytes(bytes) => {
                let at = usize::try_from(self.at).unwrap_or(usize::MAX).min(bytes.len());
                (&bytes[at..]).read(into)?
            }
            Held::File(file) => file.read_at(into, self.at)?,
        };
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use std::io::Write as _;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(body: Vec<u8>, max_bytes: u64) -> Result<Vec<u8>, Undecodable> {
        let size_bytes = body.len() as u64;
        let (mut gunzip, mut all) = (Gunzip::new(Held::Bytes(body.into()), size_bytes, max_bytes), Vec::new());
        loop {
            match gunzip.piece()? {
                piece if piece.is_empty() => return Ok(all),
                piece => all.extend(piece),
            }
        }
    }

    #[test]
    fn a_body_that_becomes_far_too_long_is_refused() {
        let bomb = packed(&vec![0; 17 << 20]);
        assert!(bomb.len() < 20_000);
        assert!(matches!(decode(bomb, u64::MAX), Err(Undecodable::TooLong(limit)) if limit == ALWAYS_BYTES));
        assert_eq!(decode(packed(&vec![0; 15 << 20]), u64::MAX).unwrap().len(), 15 << 20);
        assert!(matches!(decode(packed(&[7; 100]), 99), Err(Undecodable::TooLong(99))));
    }

    #[test]
    fn a_body_of_many_empty_members_is_refused() {
        let empty = packed(b"");
        let body = empty.repeat(usize::try_from(READ_MAX).unwrap() / empty.len() + 2 * 8192);
        assert!(matches!(decode(body, u64::MAX), Err(Undecodable::Corrupt(_))));
        assert_eq!(decode([empty.repeat(1_000), packed(b"lamp")].concat(), u64::MAX).unwrap(), b"lamp");
    }

    #[test]
    fn bodies_in_several_members_and_in_files_are_decoded_to_their_end() {
        let both = [packed(b"lamp"), packed(b"light")].concat();
        assert_eq!(decode(both.clone(), u64::MAX).unwrap(), b"lamplight");
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&both).unwrap();
        let mut gunzip = Gunzip::new(Held::File(std::sync::Arc::new(file)), both.len() as u64, u64::MAX);
        assert_eq!((gunzip.piece().unwrap(), gunzip.piece().unwrap()), (b"lamplight".to_vec(), vec![]));
    }

    proptest! {
        #[test]
        fn a_body_comes_back_whole_or_not_at_all(
            bytes in proptest::collection::vec(any::<u8>(), 0..5_000),
            cut in any::<proptest::sample::Index>(),
            other in any::<u8>(),
        ) {
            let whole = packed(&bytes);
            prop_assert_eq!(&decode(whole.clone(), u64::MAX).unwrap(), &bytes);
            let at = cut.index(whole.len());
            if at > 0 {
                prop_assert!(decode(whole[..at].to_vec(), u64::MAX).is_err());
            }
            let mut damaged = whole;
            damaged[at] ^= other;
            if let Ok(decoded) = decode(damaged, u64::MAX) {
                // Bytes of the head may differ: its time, its system.
                prop_assert_eq!(decoded, bytes);
            }
        }

        #[test]
        fn no_body_becomes_longer_than_its_limit(bytes in proptest::collection::vec(any::<u8>(), 0..2_000), max in 0u64..3_000) {
            match decode(packed(&bytes), max) {
                Ok(decoded) => prop_assert!(decoded.len() as u64 <= max),
                Err(error) => prop_assert!(bytes.len() as u64 > max && matches!(error, Undecodable::TooLong(_))),
            }
        }
    }
}
