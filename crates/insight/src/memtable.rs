//! The newest rows, which are not in a segment yet.

use crate::block::{Block, join};
use crate::part::{Part, Span};
use std::sync::Arc;

/// The newest rows, which are not in a segment yet, in blocks that never change. A question takes the list of blocks, and no copy of a row.
///
/// Each batch of rows is a block. Eight blocks of similar size are joined to one, so there are few blocks, and each row is copied a few
/// times only.
#[derive(Debug, Default)]
pub struct Memtable {
    /// In the order of time.
    blocks: Vec<Arc<Block>>,
    /// The number of the first blocks, which are not joined any more.
    complete: usize,
    span: Span,
    memory: u64,
}

impl Memtable {
    /// The most rows of a block that was joined of smaller ones.
    pub const BLOCK_ROWS: usize = 32 * 1024;
    /// The most memory of the blocks that are joined to one, in bytes.
    pub const BLOCK_BYTES: u64 = 8 * 1024 * 1024;
    /// The number of blocks of similar size that are joined.
    const JOINED: usize = 8;

    /// Adds a batch of rows: a narrow block.
    pub fn add(&mut self, block: Arc<Block>) {
        if block.span().rows > 0 {
            self.span = join(self.span, block.span());
            self.memory += block.memory();
            self.blocks.push(block);
            while self.join_last() {}
        }
    }

    /// The rows, and the moments between which they lie.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The memory that the rows take, in bytes.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// The blocks, in the order of time.
    pub fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    /// Takes all blocks, in the order of time, for a segment. It is empty then.
    pub fn take(&mut self) -> Vec<Arc<Block>> {
        std::mem::take(self).blocks
    }

    /// Joins the last blocks, if enough are not larger than the last one. `false`: they are too few.
    fn join_last(&mut self) -> bool {
        let blocks = &self.blocks[self.complete..];
        let last = blocks.last().map(|block| level(block));
        let count = blocks.iter().rev().take_while(|block| Some(level(block)) <= last).count();
        if count < Self::JOINED {
            return false;
        }
        let first = self.blocks.len() - count;
        let (mut rows, mut memory) = (0, 0);
        let fits = |block: &&Arc<Block>| {
            rows += block.span().rows;
            memory += block.memory();
            rows <= Self::BLOCK_ROWS && memory <= Self::BLOCK_BYTES
        };
        let joined = self.blocks[first..].iter().take_while(fits).count().max(1);
        if joined < count {
            self.complete = first + 1;
        }
        if joined > 1 {
            let small = first..first + joined;
            let large = Block::join(&self.blocks[small.clone()]);
            self.memory += large.memory();
            self.memory -= self.blocks[small.clone()].iter().map(|block| block.memory()).sum::<u64>();
            self.blocks.splice(small, [Arc::new(large)]);
        }
        true
    }
}

/// Blocks of one level have similar sizes: the largest has less than eight times the rows of the smallest.
fn level(block: &Block) -> u32 {
    block.span().rows.checked_ilog2().unwrap_or(0) / 3
}

#[cfg(test)]
mod tests;
