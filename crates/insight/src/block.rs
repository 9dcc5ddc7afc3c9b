//! Rows in memory, in coded columns.

mod ints;
mod stored;
mod text_column;

use crate::column::{Cell, Column};
use crate::part::{Coded, Part, Span, Unreadable};
use crate::row::Row;
use ints::Ints;
use std::mem::size_of;
pub(crate) use stored::ROWS_MAX;
use text_column::TextColumn;

/// Rows in memory, in coded columns. New rows are appended. [`Block::narrow`] makes a block small that gets no more rows.
#[derive(Debug, Clone)]
pub struct Block {
    span: Span,
    columns: Vec<Cells>,
}

/// The cells of one column.
#[derive(Debug, Clone)]
enum Cells {
    Texts(TextColumn),
    Numbers(Ints),
}

impl Default for Block {
    fn default() -> Self {
        let cells = |column: &Column| match column.is_text() {
            true => Cells::Texts(TextColumn::default()),
            false => Cells::Numbers(Ints::default()),
        };
        Self { span: Span::default(), columns: Column::ALL.iter().map(cells).collect() }
    }
}

impl Block {
    /// Appends a row.
    pub fn push(&mut self, row: &Row<'_>) {
        for (column, cells) in Column::ALL.iter().zip(&mut self.columns) {
            match (column.cell(row), cells) {
                (Cell::Text(text), Cells::Texts(texts)) => texts.push(text),
                (Cell::Number(number), Cells::Numbers(numbers)) => numbers.push(number),
                (Cell::Text(_), Cells::Numbers(_)) | (Cell::Number(_), Cells::Texts(_)) => {}
            }
        }
        let (at, events) = (row.event.at.0, u64::from(row.event.weight));
        self.span = join(self.span, Span { rows: 1, events, from: at, to: at });
    }

    /// Makes the columns as narrow as their cells permit, and sorts the lists of texts. More rows can be appended, at a price.
    #[must_use]
    pub fn narrow(mut self) -> Self {
        for cells in &mut self.columns {
            match cells {
                Cells::Texts(texts) => texts.narrow(),
                Cells::Numbers(numbers) => numbers.narrow(),
            }
        }
        self
    }

    /// One narrow block with the rows of all these narrow blocks, in the same order.
    pub fn join(blocks: &[impl AsRef<Block>]) -> Self {
        let blocks = || blocks.iter().map(AsRef::as_ref);
        let columns = Column::ALL.iter().map(|column| match column.is_text() {
            true => Cells::Texts(TextColumn::join(blocks().filter_map(|block| block.text_cells(*column)))),
            false => Cells::Numbers(Ints::join(blocks().filter_map(|block| block.number_cells(*column)))),
        });
        Self { span: blocks().map(|block| block.span).fold(Span::default(), join), columns: columns.collect() }
    }

    /// The memory that it takes, in bytes.
    pub fn memory(&self) -> u64 {
        let bytes = |cells: &Cells| match cells {
            Cells::Texts(texts) => texts.bytes(),
            Cells::Numbers(numbers) => numbers.bytes(),
        };
        (size_of::<Self>() + self.columns.len() * size_of::<Cells>() + self.columns.iter().map(bytes).sum::<usize>())
            as u64
    }

    fn text_cells(&self, column: Column) -> Option<&TextColumn> {
        match &self.columns[column as usize] {
            Cells::Texts(texts) => Some(texts),
            Cells::Numbers(_) => None,
        }
    }

    fn number_cells(&self, column: Column) -> Option<&Ints> {
        match &self.columns[column as usize] {
            Cells::Numbers(numbers) => Some(numbers),
            Cells::Texts(_) => None,
        }
    }
}

// So that blocks of any owner can be joined.
impl AsRef<Block> for Block {
    fn as_ref(&self) -> &Block {
        self
    }
}

/// The rows of both.
pub(crate) fn join(one: Span, other: Span) -> Span {
    match (one.rows, other.rows) {
        (_, 0) => one,
        (0, _) => other,
        _ => Span {
            rows: one.rows + other.rows,
            events: one.events.saturating_add(other.events),
            from: one.from.min(other.from),
            to: one.to.max(other.to),
        },
    }
}

impl Part for Block {
    fn span(&self) -> Span {
        self.span
    }

    fn may_have(&self, column: Column, text: &str) -> bool {
        self.text_cells(column).is_none_or(|texts| texts.has(text))
    }

    fn range(&self, column: Column) -> Option<(i64, i64)> {
        self.number_cells(column)?.range()
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        Ok(self.text_cells(column).map(TextColumn::coded).unwrap_or_default())
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        Ok(self.number_cells(column).map(Ints::to_vec).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
