//! The log: what was counted since the last file was written, in pieces. A piece that a kill cut off is dropped.

use super::coding;
use super::rows::Rows;
use crate::disk;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A piece begins with its length and its checksum, in little endian.
const HEAD: usize = 8;
/// The longest log that is read.
const READ_MAX: u64 = 256 << 20;

/// The log that is being written.
#[derive(Debug)]
pub(super) struct RollupLog {
    path: PathBuf,
    /// `None` until the first piece is written.
    file: Option<File>,
    bytes: u64,
    /// A piece was written in part: a piece behind it would not be found.
    torn: bool,
}

impl RollupLog {
    /// A log whose file is made with its first piece.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None, bytes: 0, torn: false }
    }

    /// Appends rows. After an error these are not in the log, and the next ones can be appended. They survive the end of the process, but not a loss of power.
    pub(super) fn append(&mut self, rows: &Rows) -> io::Result<()> {
        let body = coding::encode(rows);
        let mut piece = Vec::with_capacity(HEAD + body.len());
        piece.extend_from_slice(&u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes());
        piece.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
        piece.extend_from_slice(&body);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(disk::create(&self.path)?),
        };
        if self.torn {
            file.set_len(self.bytes)?;
        }
        self.torn = true;
        file.write_all(&piece)?;
        self.torn = false;
        self.bytes += piece.len() as u64;
        Ok(())
    }

    /// The bytes that were written.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The rows of all whole pieces of a log, up to the first that is not whole.
pub(super) fn recover(path: &Path) -> io::Result<Vec<Rows>> {
    let mut bytes = Vec::new();
    disk::open(path)?.take(READ_MAX).read_to_end(&mut bytes)?;
    let (mut pieces, mut rest) = (Vec::new(), &*bytes);
    while let Some((rows, after)) = piece(rest) {
        pieces.push(rows);
        rest = after;
    }
    Ok(pieces)
}

fn piece(bytes: &[u8]) -> Option<(Rows, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let [a, b, c, d, checksum @ ..] = *head;
    let (body, rest) = rest.split_at_checked(u32::from_le_bytes([a, b, c, d]) as usize)?;
    (crc32fast::hash(body) == u32::from_le_bytes(checksum)).then_some(())?;
    Some((coding::decode(body)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollup::tests::rows;
    use proptest::prelude::*;

    #[test]
    fn a_piece_that_was_written_in_part_is_replaced_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(crate::rollup::name::Name::log(1));
        let mut log = RollupLog::new(path.clone());
        log.append(&Rows::default()).unwrap();
        log.file.as_mut().unwrap().write_all(&[7; 5]).unwrap();
        log.torn = true;
        log.append(&Rows::default()).unwrap();
        assert_eq!(recover(&path).unwrap().len(), 2);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), log.bytes());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_log_that_is_cut_or_changed_anywhere_gives_the_pieces_before(
            pieces in proptest::collection::vec(rows(), 1..4), at in any::<prop::sample::Index>(), flip in 0u8..,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(crate::rollup::name::Name::log(1));
            let mut log = RollupLog::new(path.clone());
            let mut ends = Vec::new();
            for piece in &pieces {
                log.append(piece).unwrap();
                ends.push(log.bytes() as usize);
            }
            let whole = std::fs::read(&path).unwrap();
            prop_assert_eq!(whole.len(), ends[ends.len() - 1]);
            let at = at.index(whole.len());
            let damaged = if flip == 0 { whole[..at].to_vec() } else {
                let mut damaged = whole;
                damaged[at] ^= flip;
                damaged
            };
            let damaged_path = folder.path().join("damaged");
            disk::create(&damaged_path).unwrap().write_all(&damaged).unwrap();
            let found = recover(&damaged_path).unwrap();
            let expected = ends.iter().filter(|end| **end <= at).count();
            prop_assert_eq!(format!("{found:?}"), format!("{:?}", &pieces[..expected]));
        }
    }
}
