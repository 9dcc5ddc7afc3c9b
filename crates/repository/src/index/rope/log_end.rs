//! The position up to which a log was processed, so that a reader processes only the rest.

use crate::index::document::Index;
use crate::index::rope::PIECE;
use bytes::Bytes;
use md5::{Digest as _, Md5};
use serde::{Deserialize, Serialize};

/// The processed beginning of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogEnd {
    len: usize,
    /// Its MD5, because another log can have the same length.
    md5: String,
}

impl LogEnd {
    /// The end of a log that was processed completely.
    pub(crate) fn of(log: &Index) -> Self {
        Self { len: log.pieces.iter().map(Bytes::len).sum(), md5: log.md5.clone() }
    }

    /// The bytes after this position; `None`: the log has another beginning.
    pub(crate) fn news(&self, log: &Index) -> Option<Vec<u8>> {
        let whole = self.len / PIECE;
        let mut md5 = match whole.checked_sub(1) {
            None => Md5::new(),
            Some(at) => log.states.get(at)?.clone(),
        };
        let (mut skip, mut rest) = (whole * PIECE, Vec::new());
        for piece in log.pieces.iter() {
            let from = skip.min(piece.len());
            rest.extend_from_slice(&piece[from..]);
            skip -= from;
        }
        let known = self.len - whole * PIECE;
        md5.update(rest.get(..known)?);
        let md5: String = md5.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        (md5 == self.md5).then(|| rest.split_off(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::rope::log::Log;

    #[test]
    fn what_came_behind_it_is_told_where_the_log_begins_as_it_was_read() {
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            for more in [0, 1, PIECE, 2 * PIECE + 3] {
                let mut log = Log::default();
                log.add(&vec![b'a'; len]).unwrap();
                let end = LogEnd::of(&log.index().unwrap());
                log.add(&vec![b'b'; more]).unwrap();
                assert_eq!(end.news(&log.index().unwrap()), Some(vec![b'b'; more]), "{len} {more}");
                let mut other = Log::default();
                other.add(&vec![b'c'; len + more]).unwrap();
                assert_eq!(end.news(&other.index().unwrap()).is_some(), len == 0);
                assert_eq!(end.news(&Index::of(vec![b'a'; len.saturating_sub(1)])).is_some(), len == 0);
            }
        }
    }
}
