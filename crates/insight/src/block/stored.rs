//! A block as bytes, for the log. The columns are in the order of a list of names that the log begins with, so a later version of the
//! program, which has other columns, reads it as well.

use super::ints::{Cells as Narrow, Ints};
use super::text_column::TextColumn;
use super::{Block, Cells};
use crate::column::Column;
use crate::part::Span;
use crate::texts::Texts;
use crate::varint;

/// The most rows of a stored block.
pub(crate) const ROWS_MAX: usize = 1 << 16;

/// The first byte of a column: the form of its numbers, or that a list of texts and their codes follow.
mod form {
    pub(super) const SAME: u8 = 0;
    pub(super) const BYTES: u8 = 1;
    pub(super) const HALVES: u8 = 2;
    pub(super) const WORDS: u8 = 3;
    pub(super) const WIDE: u8 = 4;
    pub(super) const TEXTS: u8 = 0x80;
}

impl Block {
    /// The block as bytes: as the log has it, without the names of the columns, the checksums and the compression.
    pub fn plain(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// The block with these bytes, which [`Block::plain`] of this version made. `None`: they are damaged.
    pub fn from_plain(bytes: &[u8]) -> Option<Self> {
        Self::read(bytes, &Column::ALL.iter().copied().map(Some).collect::<Vec<_>>())
    }

    /// Appends the block to `bytes`.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        varint::write(self.span.rows as u64, bytes);
        for cells in &self.columns {
            match cells {
                Cells::Numbers(numbers) => ints(numbers, bytes),
                Cells::Texts(texts) => {
                    bytes.push(form::TEXTS);
                    let list = texts.list();
                    varint::write(list.len() as u64, bytes);
                    list.iter().for_each(|text| varint::write(text.len() as u64, bytes));
                    list.iter().for_each(|text| bytes.extend_from_slice(text.as_bytes()));
                    ints(texts.codes(), bytes);
                }
            }
        }
    }

    /// The block with these columns, of which this program knows some. Columns that it does not have are empty. `None`: the bytes are
    /// damaged.
    pub(crate) fn read(bytes: &[u8], columns: &[Option<Column>]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        let rows = usize::try_from(varint::read(&mut bytes.0)?).ok().filter(|rows| (1..=ROWS_MAX).contains(rows))?;
        let mut block = Self::default();
        for cells in &mut block.columns {
            match cells {
                Cells::Texts(texts) => {
                    *texts = TextColumn::stored([""].iter().collect(), Ints::stored(0, Narrow::Same(rows))?)?
                }
                Cells::Numbers(numbers) => *numbers = Ints::stored(0, Narrow::Same(rows))?,
            }
        }
        for column in columns {
            let stored = bytes.cells(rows)?;
            let Some(column) = column else { continue };
            let place = &mut block.columns[*column as usize];
            // A column whose kind has changed stays empty.
            if matches!((&*place, &stored), (Cells::Texts(_), Cells::Texts(_)) | (Cells::Numbers(_), Cells::Numbers(_)))
            {
                *place = stored;
            }
        }
        let (from, to) = block.number_cells(Column::At)?.range()?;
        let weights = block.number_cells(Column::Weight)?.to_vec();
        let events = weights.into_iter().fold(0, |sum: u64, weight| sum.saturating_add(weight.try_into().unwrap_or(0)));
        block.span = Span { rows, events, from, to };
        bytes.0.is_empty().then_some(block)
    }
}

/// Appends numbers or codes.
fn ints(ints: &Ints, bytes: &mut Vec<u8>) {
    let (low, cells) = ints.cells();
    bytes.push(form_of(&cells));
    if !matches!(*cells, Narrow::Wide(_)) {
        // Small numbers of either sign are short.
        varint::write(((low << 1) ^ (low >> 63)).cast_unsigned(), bytes);
    }
    match &*cells {
        Narrow::Same(_) | Narrow::Patched { .. } => {}
        Narrow::Bytes(cells) => bytes.extend_from_slice(cells),
        Narrow::Halves(cells) => cells.iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes())),
        Narrow::Words(cells) => cells.iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes())),
        Narrow::Wide(cells) => cells.iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes())),
    }
}

fn form_of(cells: &Narrow) -> u8 {
    match cells {
        Narrow::Same(_) => form::SAME,
        Narrow::Bytes(_) => form::BYTES,
        Narrow::Halves(_) => form::HALVES,
        Narrow::Words(_) => form::WORDS,
        // Patched cells are stored plain: see `Ints::cells`.
        Narrow::Wide(_) | Narrow::Patched { .. } => form::WIDE,
    }
}

/// The bytes that are not read yet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn length(&mut self) -> Option<usize> {
        // Each item takes a byte at least, so a damaged count makes no large list.
        usize::try_from(varint::read(&mut self.0)?).ok().filter(|length| *length <= self.0.len())
    }

    fn cells(&mut self, rows: usize) -> Option<Cells> {
        let [form] = *self.take(1)? else { return None };
        if form != form::TEXTS {
            return Some(Cells::Numbers(self.ints(form, rows)?));
        }
        let count = self.length()?;
        let lengths: Option<Vec<usize>> = (0..count).map(|_| self.length()).collect();
        let mut texts = Texts::default();
        for length in lengths? {
            texts.push(std::str::from_utf8(self.take(length)?).ok()?);
        }
        let [form] = *self.take(1)? else { return None };
        Some(Cells::Texts(TextColumn::stored(texts, self.ints(form, rows)?)?))
    }

    fn ints(&mut self, form: u8, rows: usize) -> Option<Ints> {
        let low = match form {
            form::WIDE => 0,
            _ => {
                let low = varint::read(&mut self.0)?;
                (low >> 1).cast_signed() ^ -((low & 1).cast_signed())
            }
        };
        let cells = match form {
            form::SAME => Narrow::Same(rows),
            form::BYTES => Narrow::Bytes(self.take(rows)?.to_vec()),
            form::HALVES => Narrow::Halves(self.array(rows, u16::from_le_bytes)?),
            form::WORDS => Narrow::Words(self.array(rows, u32::from_le_bytes)?),
            form::WIDE => Narrow::Wide(self.array(rows, i64::from_le_bytes)?),
            _ => return None,
        };
        Ints::stored(low, cells)
    }

    fn array<const N: usize, T>(&mut self, rows: usize, read: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (arrays, []) = self.take(rows.checked_mul(N)?)?.as_chunks::<N>() else { return None };
        Some(arrays.iter().map(|array| read(*array)).collect())
    }
}
