//! A long text of lines that only grows, in shared pieces. Searches return offsets; nothing is copied.

use bytes::Bytes;
use std::borrow::Cow;

/// Pieces shorter than this are joined, so that many small additions do not become many pieces.
const PIECE: usize = 64 << 10;

/// A text.
#[derive(Debug, Clone, Default)]
pub struct Text {
    pieces: Vec<Bytes>,
    /// The offset of each piece.
    starts: Vec<usize>,
    len: usize,
}

impl Text {
    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its pieces, in order.
    pub fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// Appends a piece. A large piece is shared with the caller.
    pub fn push(&mut self, piece: Bytes) {
        if piece.is_empty() {
            return;
        }
        self.starts.push(self.len);
        self.len += piece.len();
        self.pieces.push(piece);
        // Only pieces of similar lengths are joined, so that no byte is copied more than a few times.
        while let [.., before, last] = &self.pieces[..]
            && before.len() <= 2 * last.len()
            && before.len() + last.len() <= PIECE
        {
            let joined = [&before[..], last].concat();
            self.starts.pop();
            self.pieces.truncate(self.pieces.len() - 2);
            self.pieces.push(joined.into());
        }
    }

    /// The pieces between two offsets, shared with the text.
    pub fn range(&self, from: usize, to: usize) -> impl Iterator<Item = Bytes> {
        let to = to.min(self.len);
        let from = from.min(to);
        let pieces = self.pieces.iter().zip(&self.starts).skip(self.piece(from));
        pieces.take_while(move |(_, start)| **start < to).map(move |(piece, start)| {
            piece.slice(from.saturating_sub(*start).min(piece.len())..(to - start).min(piece.len()))
        })
    }

    /// The bytes between two offsets. They are copied only if they span several pieces.
    pub(super) fn bytes(&self, from: usize, to: usize) -> Cow<'_, [u8]> {
        let to = to.min(self.len);
        let mut at = self.piece(from);
        let Some(piece) = self.pieces.get(at).filter(|_| from < to) else { return Cow::Borrowed(&[]) };
        let start = self.starts[at];
        if to <= start + piece.len() {
            return Cow::Borrowed(&piece[from - start..to - start]);
        }
        let mut bytes = Vec::with_capacity(to - from);
        while let Some(piece) = self.pieces.get(at).filter(|_| self.starts[at] < to) {
            let start = self.starts[at];
            bytes.extend_from_slice(&piece[from.saturating_sub(start)..(to - start).min(piece.len())]);
            at += 1;
        }
        Cow::Owned(bytes)
    }

    /// The offset of the first newline at or after an offset.
    pub(super) fn newline(&self, from: usize) -> Option<usize> {
        let first = self.piece(from);
        let pieces = self.pieces.iter().zip(&self.starts).skip(first);
        pieces.into_iter().find_map(|(piece, start)| {
            let skipped = from.saturating_sub(*start).min(piece.len());
            piece[skipped..].iter().position(|byte| *byte == b'\n').map(|at| start + skipped + at)
        })
    }

    /// The line at an offset, without its newline.
    pub(super) fn line(&self, at: usize) -> Cow<'_, [u8]> {
        self.bytes(at, self.newline(at).unwrap_or(self.len))
    }

    /// The index of the piece that contains an offset.
    fn piece(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_however_the_text_is_cut_and_small_pieces_are_joined() {
        let whole: Vec<u8> = (0..40_000).flat_map(|n: u32| format!("line {n}\n").into_bytes()).collect();
        for cut in [PIECE, PIECE + 1, 100_003, 50_000, 7_001, 1] {
            let mut text = Text::default();
            whole.chunks(cut).for_each(|part| text.push(Bytes::copy_from_slice(part)));
            assert_eq!(text.len(), whole.len());
            assert!(text.pieces().len() <= 2 * whole.len() / PIECE + 16);
            assert!(text.pieces().concat() == whole);
            let (mut at, mut lines) = (0, 0);
            while let Some(end) = text.newline(at) {
                assert_eq!(*text.line(at), *format!("line {lines}").as_bytes());
                (at, lines) = (end + 1, lines + 1);
            }
            assert_eq!((at, lines), (whole.len(), 40_000));
            assert!(*text.bytes(3, 300_000) == whole[3..300_000]);
            for (from, to) in [(0, 0), (3, 300_000), (65_536, 65_537), (7, whole.len() + 1), (9, 4)] {
                let shared = text.range(from, to).collect::<Vec<_>>().concat();
                assert!(shared == whole[from.min(to)..to.min(whole.len())], "{from} to {to}");
            }
        }
        assert_eq!(Text::default().newline(0), None);
    }
}
