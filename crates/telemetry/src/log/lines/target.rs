//! Targets of lines. Each line arrives whole, or is counted as lost.

use super::rotated::Rotated;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

/// Lines are written in pieces of this many bytes, so that an error loses a piece and not the whole queue.
const PIECE: usize = 64 << 10;

/// A target for whole lines: a file, stderr, stdout or any writer.
pub struct Target {
    out: Box<dyn Write + Send>,
    /// The last write ended within a line, so the next one begins with a line end.
    torn: bool,
    /// May refuse writes.
    gate: Option<Gate>,
}

/// Returns an error while writing is forbidden.
type Gate = Box<dyn Fn() -> io::Result<()> + Send>;

/// Lines that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{lines} lines were not written: {source}")]
pub struct Lost {
    /// The number of lines.
    pub lines: u64,
    /// Why.
    pub source: io::Error,
}

impl Target {
    /// The process's standard error.
    pub fn stderr() -> Self {
        Self::writer(Box::new(io::stderr()))
    }

    /// The process's standard output.
    pub fn stdout() -> Self {
        Self::writer(Box::new(io::stdout()))
    }

    /// `files` files of at most `max_bytes` each: the one at `path`, and older ones beside it (`path.1` is the youngest). A longer line
    /// gets a file of its own. The folder is made if it is missing, but not its parent, which may be a disk that is not mounted yet.
    pub fn file(path: PathBuf, max_bytes: u64, files: usize) -> Self {
        Self::writer(Box::new(Rotated::new(path, max_bytes, files)))
    }

    /// Any other writer.
    pub fn writer(out: Box<dyn Write + Send>) -> Self {
        Self { out, torn: false, gate: None }
    }

    /// Writes only while `gate` returns no error. It is called before each piece.
    pub fn while_allowed(self, gate: impl Fn() -> io::Result<()> + Send + 'static) -> Self {
        Self { gate: Some(Box::new(gate)), ..self }
    }

    /// Writes lines, each with its line end. Tries every piece, because there may be space again after an error.
    pub fn write_lines(&mut self, mut lines: &[u8]) -> Result<(), Lost> {
        let mut lost: Option<Lost> = None;
        while !lines.is_empty() {
            let (piece, rest) = lines.split_at(piece(lines));
            lines = rest;
            if let Err(new) = self.write_piece(piece) {
                let before = lost.map_or(0, |lost| lost.lines);
                lost = Some(Lost { lines: before + new.lines, source: new.source });
            }
        }
        lost.map_or(Ok(()), Err)
    }

    /// Renders and writes one line for each item. Tries all of them, and returns the first error.
    pub(crate) fn write_each<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        render: impl Fn(T, &mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut result = Ok(());
        let mut lines = Vec::with_capacity(PIECE);
        let mut items = items.peekable();
        while let Some(item) = items.next() {
            let mut done = render(item, &mut lines);
            if lines.len() >= PIECE || items.peek().is_none() {
                done = done.and_then(|()| self.write_lines(&lines).map_err(io::Error::other));
                lines.clear();
            }
            result = result.and(done);
        }
        result
    }

    fn write_piece(&mut self, piece: &[u8]) -> Result<(), Lost> {
        let mut rest = piece;
        let allowed = self.gate.as_ref().map_or(Ok(()), |gate| gate());
        let written = allowed.and_then(|()| self.end_torn_line()).and_then(|()| {
            while !rest.is_empty() {
                match self.out.write(rest) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(taken) => rest = &rest[taken.min(rest.len())..],
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            self.out.flush()
        });
        written.map_err(|source| {
            let taken = &piece[..piece.len() - rest.len()];
            self.torn |= taken.last().is_some_and(|byte| *byte != b'\n');
            Lost { lines: rest.iter().filter(|byte| **byte == b'\n').count() as u64, source }
        })
    }

    fn end_torn_line(&mut self) -> io::Result<()> {
        if self.torn {
            self.out.write_all(b"\n")?;
            self.torn = false;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("torn", &self.torn).finish_non_exhaustive()
    }
}

/// The number of bytes to write at once: as many whole lines as fit into a piece, or one longer line.
fn piece(lines: &[u8]) -> usize {
    if lines.len() <= PIECE {
        return lines.len();
    }
    let end = |byte: &u8| *byte == b'\n';
    let fits = lines[..PIECE].iter().rposition(end);
    fits.or_else(|| lines.iter().position(end)).map_or(lines.len(), |at| at + 1)
}
