//! An event as a JSON object with the names of the columns, without empty ones.

use crate::column::{Cell, Column, ColumnKind};
use crate::row::Row;
use std::io::Write;
use telemetry::Millis;

/// Columns that are written even where they are 0.
const ALWAYS: &[Column] = &[Column::Status, Column::BytesIn, Column::BytesOut, Column::FirstByte, Column::Duration];
/// Columns about the storing of events. A message has a weight of its own.
const STORED: &[Column] = &[Column::Weight, Column::KeptBecause, Column::More];

/// The line of an event, written once for all listeners, and only if one wants it.
pub(super) struct Line<'r, 'e> {
    row: &'r Row<'e>,
    text: Vec<u8>,
}

impl<'r, 'e> Line<'r, 'e> {
    pub(super) fn new(row: &'r Row<'e>) -> Self {
        Self { row, text: Vec::new() }
    }

    /// The JSON object without its last brace.
    pub(super) fn text(&mut self) -> &[u8] {
        if self.text.is_empty() {
            self.text.reserve(1024);
            write(self.row, &mut self.text);
        }
        &self.text
    }
}

fn write(row: &Row<'_>, text: &mut Vec<u8>) {
    let mut before = b'{';
    for column in Column::ALL.iter().copied().filter(|column| !STORED.contains(column)) {
        let cell = column.cell(row);
        if matches!(cell, Cell::Text("") | Cell::Number(0)) && !ALWAYS.contains(&column) {
            continue;
        }
        key(text, before, column.as_str());
        value(text, column.kind(), cell);
        before = b',';
    }
    // The columns have its parts. A replay needs the whole.
    if !row.event.agent.is_empty() {
        key(text, before, "agent");
        quoted(text, &row.event.agent);
    }
}

fn key(text: &mut Vec<u8>, before: u8, name: &str) {
    text.push(before);
    quoted(text, name);
    text.push(b':');
}

fn value(text: &mut Vec<u8>, kind: ColumnKind, cell: Cell<'_>) {
    // Writing to memory cannot fail.
    let _ = match (cell, kind) {
        (Cell::Text(cell), _) => return quoted(text, cell),
        (Cell::Number(cell), ColumnKind::Moment) => write!(text, "\"{}\"", Millis(cell)),
        (Cell::Number(cell), ColumnKind::Id) => write!(text, "\"{:016x}\"", cell.cast_unsigned()),
        (Cell::Number(cell), ColumnKind::Duration) => write!(text, "{}", cell as f64 / 1000.0),
        (Cell::Number(cell), ColumnKind::Text | ColumnKind::Number) => write!(text, "{cell}"),
    };
}

fn quoted(text: &mut Vec<u8>, cell: &str) {
    // As above.
    let _ = serde_json::to_writer(text, cell);
}
