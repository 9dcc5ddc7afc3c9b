//! A part of the stored events: the newest ones in memory, or a segment. Questions read parts, column by column.

use crate::column::{Column, ColumnKind};
use crate::rollup::Buckets;
use crate::texts::Texts;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The cells of a column of texts: the texts that occur, each once, and for each row the place of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coded {
    /// The texts that occur.
    pub texts: Arc<Texts>,
    /// For each row the place of its text.
    pub codes: Vec<u32>,
}

/// A part of the stored events cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {cause}")]
pub struct Unreadable {
    /// The part: a file.
    pub what: String,
    /// Why.
    pub cause: String,
}

impl Unreadable {
    /// A file cannot be read.
    pub(crate) fn file(path: &Path, cause: impl fmt::Display) -> Self {
        Self { what: path.display().to_string(), cause: cause.to_string() }
    }
}

/// The rows of a part, and the moments between which they lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Rows.
    pub rows: usize,
    /// The events for which the rows stand: the sum of their weights.
    pub events: u64,
    /// The earliest [`Column::At`].
    pub from: i64,
    /// The latest [`Column::At`].
    pub to: i64,
}

/// A part of the stored events. Its rows are nearly in the order of time, and do not change.
pub trait Part: Send + Sync + std::fmt::Debug {
    /// The rows, and the moments between which they lie.
    fn span(&self) -> Span;
    /// Whether a row of a column of texts may have this text. `false` is certain. It costs little.
    fn may_have(&self, _column: Column, _text: &str) -> bool {
        true
    }
    /// The lowest and the highest cell of a column that has no texts. `None`: unknown.
    fn range(&self, _column: Column) -> Option<(i64, i64)> {
        None
    }
    /// The cells of a column of texts.
    fn texts(&self, column: Column) -> Result<Coded, Unreadable>;
    /// The cells of a column that has no texts.
    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable>;
    /// The cell of a row in a column of texts. Empty if there is no such row.
    fn text(&self, column: Column, row: usize) -> Result<String, Unreadable> {
        let coded = self.texts(column)?;
        let text = coded.codes.get(row).and_then(|code| coded.texts.get(*code as usize));
        Ok(text.unwrap_or_default().to_owned())
    }
    /// The cell of a row in a column that has no texts. 0 if there is no such row.
    fn number(&self, column: Column, row: usize) -> Result<i64, Unreadable> {
        Ok(self.numbers(column)?.get(row).copied().unwrap_or_default())
    }
    /// The bytes that reading a column takes from the disk.
    fn bytes(&self, _column: Column) -> u64 {
        0
    }
    /// Its aggregates, if each row is the sum of several events: [`Part::numbers`] of amounts and durations are then sums over these
    /// events, and [`Column::Weight`] is how many they are.
    fn aggregated(&self) -> Option<&dyn Aggregated> {
        None
    }
}

/// The columns of a part whose rows are aggregates, beside their sums.
pub trait Aggregated {
    /// The distribution of a duration, for each row.
    fn buckets(&self, column: Column) -> Result<Vec<Buckets>, Unreadable>;
    /// The highest value of a duration, for each row.
    fn highest(&self, column: Column) -> Result<Vec<i64>, Unreadable>;
}

impl Column {
    /// Whether its cells are texts.
    pub fn is_text(self) -> bool {
        self.kind() == ColumnKind::Text
    }
}
