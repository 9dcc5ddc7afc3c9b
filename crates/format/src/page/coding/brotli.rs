//! Brotli (RFC 7932), whose decoder gets its memory from a budget: a stream may ask for a window of 16 MiB in its first byte.

use brotli_decompressor::{
    Allocator, BrotliDecompressStream, BrotliResult, BrotliState, HuffmanCode, SliceWrapper, SliceWrapperMut,
};
use std::cell::Cell;
use std::io::{Error, ErrorKind, Read, Result};
use std::rc::Rc;

/// Memory for the tables of codes: 256 trees of each kind take more, which no encoder makes for a page.
const TABLES_BYTES: usize = 1 << 20;
/// No window is larger (RFC 7932, 9.1; without the extension "large window").
const WINDOW_BYTES: usize = 1 << 24;

/// Decodes a stream.
pub(super) struct Decoder<'a> {
    rest: &'a [u8],
    state: BrotliState<Budget, Budget, Budget>,
    budget: Budget,
    ended: bool,
}

impl<'a> Decoder<'a> {
    /// A decoder that has a window of `expected` bytes at first and of `limit_bytes` at most, both rounded up to a power of two.
    pub(super) fn new(body: &'a [u8], expected: usize, limit_bytes: usize) -> Self {
        let window = limit_bytes.min(WINDOW_BYTES).next_power_of_two();
        let first = expected.next_power_of_two().min(window);
        let budget = Budget(Rc::new(Purse { left: Cell::new(window + TABLES_BYTES), refused: Cell::new(false) }));
        let mut state = BrotliState::new_strict(budget.clone(), budget.clone(), budget.clone());
        // A window that grows is there twice for a moment.
        state.set_initial_ring_buffer_size(u32::try_from(first).unwrap_or(u32::MAX));
        Self { rest: body, state, budget, ended: false }
    }
}

impl Read for Decoder<'_> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        if self.ended || to.is_empty() {
            return Ok(0);
        }
        let (mut available_in, mut read, mut available_out, mut written, mut total) =
            (self.rest.len(), 0, to.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut available_in,
            &mut read,
            self.rest,
            &mut available_out,
            &mut written,
            to,
            &mut total,
            &mut self.state,
        );
        self.rest = self.rest.get(read..).unwrap_or_default();
        match result {
            BrotliResult::ResultSuccess if !self.rest.is_empty() => Err(ErrorKind::InvalidData.into()),
            BrotliResult::ResultSuccess => {
                self.ended = true;
                Ok(written)
            }
            BrotliResult::NeedsMoreOutput if written > 0 => Ok(written),
            BrotliResult::NeedsMoreInput => Err(ErrorKind::UnexpectedEof.into()),
            _ if self.budget.0.refused.get() => Err(Error::from(ErrorKind::OutOfMemory)),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }
}

/// What the decoder may still take.
#[derive(Debug, Clone)]
struct Budget(Rc<Purse>);

#[derive(Debug)]
struct Purse {
    left: Cell<usize>,
    refused: Cell<bool>,
}

/// Memory of the decoder.
#[derive(Debug)]
struct Memory<T>(Vec<T>);

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> SliceWrapper<T> for Memory<T> {
    fn slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> SliceWrapperMut<T> for Memory<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Copy + Default> Allocator<T> for Budget {
    type AllocatedMemory = Memory<T>;

    /// Memory of `len` values; none, if the budget has not enough.
    fn alloc_cell(&mut self, len: usize) -> Memory<T> {
        match len.checked_mul(size_of::<T>()).and_then(|bytes| self.0.left.get().checked_sub(bytes)) {
            Some(left) => {
                self.0.left.set(left);
                Memory(vec![T::default(); len])
            }
            None => {
                self.0.refused.set(true);
                Memory::default()
            }
        }
    }

    fn free_cell(&mut self, memory: Memory<T>) {
        self.0.left.set(self.0.left.get() + memory.0.len() * size_of::<T>());
    }
}

const _: () = assert!(size_of::<HuffmanCode>() <= 4);
