//! Rows in memory, in coded columns.

use crate::column::{Cell, Column};
use crate::part::{Coded, Part, Span, Unreadable};
use crate::row::Row;
use std::collections::HashMap;
use std::sync::Arc;

/// Rows in memory, in coded columns. New rows are appended.
#[derive(Debug, Clone)]
pub struct Block {
    span: Span,
    columns: Vec<Cells>,
}

/// The cells of one column.
#[derive(Debug, Clone)]
enum Cells {
    Texts { places: HashMap<Box<str>, u32>, texts: Vec<Box<str>>, codes: Vec<u32> },
    Numbers(Vec<i64>),
}

impl Default for Block {
    fn default() -> Self {
        let cells = |column: &Column| match column.is_text() {
            true => Cells::Texts { places: HashMap::new(), texts: Vec::new(), codes: Vec::new() },
            false => Cells::Numbers(Vec::new()),
        };
        Self { span: Span::default(), columns: Column::ALL.iter().map(cells).collect() }
    }
}

impl Block {
    /// Appends a row.
    pub fn push(&mut self, row: &Row<'_>) {
        for (column, cells) in Column::ALL.iter().zip(&mut self.columns) {
            match (column.cell(row), cells) {
                (Cell::Text(text), Cells::Texts { places, texts, codes }) => {
                    let code = places.get(text).copied().unwrap_or_else(|| {
                        let code = texts.len() as u32;
                        texts.push(text.into());
                        places.insert(text.into(), code);
                        code
                    });
                    codes.push(code);
                }
                (Cell::Number(number), Cells::Numbers(numbers)) => numbers.push(number),
                (Cell::Text(_), Cells::Numbers(_)) | (Cell::Number(_), Cells::Texts { .. }) => {}
            }
        }
        let (at, events) = (row.event.at.0, u64::from(row.event.weight));
        let Span { rows, from, to, .. } = self.span;
        let (from, to) = if rows == 0 { (at, at) } else { (from.min(at), to.max(at)) };
        self.span = Span { rows: rows + 1, events: self.span.events + events, from, to };
    }
}

impl Part for Block {
    fn span(&self) -> Span {
        self.span
    }

    fn may_have(&self, column: Column, text: &str) -> bool {
        match &self.columns[column as usize] {
            Cells::Texts { places, .. } => places.contains_key(text),
            Cells::Numbers(_) => true,
        }
    }

    fn range(&self, column: Column) -> Option<(i64, i64)> {
        let Cells::Numbers(numbers) = &self.columns[column as usize] else { return None };
        Some((*numbers.iter().min()?, *numbers.iter().max()?))
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        match &self.columns[column as usize] {
            Cells::Texts { texts, codes, .. } => {
                Ok(Coded { texts: Arc::new(texts.iter().collect()), codes: codes.clone() })
            }
            Cells::Numbers(_) => Ok(Coded::default()),
        }
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        match &self.columns[column as usize] {
            Cells::Numbers(numbers) => Ok(numbers.clone()),
            Cells::Texts { .. } => Ok(Vec::new()),
        }
    }

    fn bytes(&self, _column: Column) -> u64 {
        0
    }
}
