//! The log of the rows that are in no segment yet. A process that is killed finds them there when it starts again.
//!
//! A log is a list of pieces: first the names of the columns, then one block for each batch. Each piece has a checksum and is compressed.
//! Nothing is synced: what was written survives the death of the process, and a power cut costs the last seconds.

mod columns;
mod piece;

use crate::block::Block;
use crate::disk::{self, AppendFile};
use crate::memtable::Memtable;
use crate::part::Part;
use columns::Columns;
use piece::Piece;
use std::io;
use std::path::Path;
use std::sync::Arc;
use zstd::bulk::{Compressor, Decompressor};

/// A log that is being written.
pub struct Log {
    file: AppendFile,
    /// In front of each batch.
    tag: [u8; 4],
    compressor: Compressor<'static>,
    /// Memory for the next piece.
    plain: Vec<u8>,
    packed: Vec<u8>,
}

/// The rows that were found in a log.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Few narrow blocks with the rows of all batches, in the order of the log.
    pub blocks: Vec<Arc<Block>>,
    /// The bytes of the log that cannot be read: of the batch that was being written when the process died, and of damaged ones.
    pub lost_bytes: u64,
}

impl Log {
    /// The largest log in bytes. It takes no more batches then: their rows belong into a segment, and the next ones into the next log.
    pub const BYTES_MAX: u64 = 64 * 1024 * 1024;

    /// Memory that is kept for the next batch, in bytes.
    const SPARE_BYTES: usize = 1024 * 1024;

    /// Creates the log `path`, which must not exist. After an error it does not exist either.
    pub fn create(path: &Path) -> io::Result<Self> {
        // A batch is compressed while hits wait for the core: fast rather than small.
        let (compressor, tag) = (Compressor::new(1)?, Columns::own().tag);
        let (plain, packed) = (columns::names().into_bytes(), Vec::new());
        let mut log = Self { file: AppendFile::create(path)?, tag, compressor, plain, packed };
        match log.write() {
            Ok(()) => Ok(log),
            Err(error) => log.remove().and(Err(error)),
        }
    }

    /// Appends a batch. The rows are safe from the death of the process when it returns. After an error the batch is not in the log, and
    /// earlier ones are.
    ///
    /// # Errors
    /// Errors of the disk, and [`io::ErrorKind::FileTooLarge`] if the log or the batch is too large.
    pub fn append(&mut self, block: &Block) -> io::Result<()> {
        if block.span().rows == 0 {
            return Ok(());
        }
        if self.bytes() >= Self::BYTES_MAX || block.span().rows > crate::block::ROWS_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.plain.clear();
        self.plain.extend_from_slice(&self.tag);
        block.write(&mut self.plain);
        self.write()
    }

    /// Appends the piece in `plain`.
    fn write(&mut self) -> io::Result<()> {
        self.packed.clear();
        Piece::write(&self.plain, &mut self.compressor, &mut self.packed)?;
        self.file.append(&self.packed)?;
        // One large batch does not keep its memory.
        self.plain.shrink_to(Self::SPARE_BYTES);
        self.packed.shrink_to(Self::SPARE_BYTES);
        Ok(())
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Removes the log, because its rows are in a segment that is durable.
    pub fn remove(self) -> io::Result<()> {
        disk::remove(self.path())
    }

    /// The rows of the log `path`, of this version of the program or another one. Batches that are damaged are left out.
    pub fn recover(path: &Path) -> io::Result<Recovered> {
        // The last piece may go beyond the limit.
        let bytes = disk::read(path, Self::BYTES_MAX + Piece::BYTES_MAX)?;
        let mut recovered = Self::read(&bytes);
        recovered.lost_bytes += path.metadata()?.len().saturating_sub(bytes.len() as u64);
        Ok(recovered)
    }

    /// The rows of the log with these bytes.
    pub fn read(bytes: &[u8]) -> Recovered {
        let mut recovered = Recovered { lost_bytes: bytes.len() as u64, ..Recovered::default() };
        let Ok(mut decompressor) = Decompressor::new() else { return recovered };
        let (mut whole, mut open) = (0, Memtable::default());
        // Batches of this version can be read even if the names are damaged.
        let mut lists = vec![Columns::own()];
        for piece in Piece::all(bytes) {
            let Some(plain) = piece.unpack(&mut decompressor) else { continue };
            if let Some(columns) = Columns::read(&plain) {
                whole += piece.bytes();
                lists.push(columns);
            } else if let Some((tag, plain)) = plain.split_first_chunk()
                && let Some(columns) = lists.iter().find(|columns| columns.tag == *tag)
                && let Some(block) = Block::read(plain, &columns.columns)
            {
                whole += piece.bytes();
                open.add(Arc::new(block));
            }
        }
        recovered.lost_bytes = (bytes.len() - whole) as u64;
        recovered.blocks = open.take();
        recovered
    }
}

#[cfg(test)]
mod tests;
