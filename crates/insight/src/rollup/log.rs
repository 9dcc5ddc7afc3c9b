//! The log: the counts since the last file was written, in pieces. A piece that a kill cut off is dropped.

use super::coding;
use super::rows::Rows;
use crate::disk::{self, AppendFile};
use std::io;
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
    file: Option<AppendFile>,
}

impl RollupLog {
    /// A log whose file is made with its first piece.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// Appends rows. After an error these are not in the log, and the next ones can be appended. They survive the end of the process, but not a loss of power.
    pub(super) fn append(&mut self, rows: &Rows) -> io::Result<()> {
        let body = coding::encode(rows);
        let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(AppendFile::create(&self.path)?),
        };
        file.append(&[&length, &crc32fast::hash(&body).to_le_bytes()[..], &body].concat())
    }

    /// The bytes that were written.
    pub(super) fn bytes(&self) -> u64 {
        self.file.as_ref().map_or(0, AppendFile::bytes)
    }
}

/// The rows of all whole pieces of a log, up to the first that is not whole.
pub(super) fn recover(path: &Path) -> io::Result<Vec<Rows>> {
    let bytes = disk::read(path, READ_MAX)?;
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
            let mut damaged = std::fs::read(&path).unwrap();
            prop_assert_eq!(damaged.len(), ends[ends.len() - 1]);
            let at = at.index(damaged.len());
            match flip {
                0 => damaged.truncate(at),
                _ => damaged[at] ^= flip,
            }
            let damaged_path = folder.path().join("damaged");
            AppendFile::create(&damaged_path).unwrap().append(&damaged).unwrap();
            let found = recover(&damaged_path).unwrap();
            let expected = ends.iter().filter(|end| **end <= at).count();
            prop_assert_eq!(format!("{found:?}"), format!("{:?}", &pieces[..expected]));
        }
    }
}
