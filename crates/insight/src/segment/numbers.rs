//! Reads a column of numbers: its dictionary and the codes of its rows, or its differences, which Parquet's own reader decodes.

use super::{bits, schema};
use crate::column::Column;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::Int64Type;

/// The cells of a column with `rows` rows.
pub(super) fn read(column: Column, mut pages: impl PageReader + 'static, rows: usize) -> Result<Vec<i64>, String> {
    let mut cells = Vec::with_capacity(rows);
    let first = pages.peek_next_page().map_err(|error| error.to_string())?;
    match first.is_some_and(|page| page.is_dict) {
        true => coded(pages, rows, &mut cells)?,
        false => {
            let read = reader(column, pages)?.read_records(rows, None, None, &mut cells);
            read.map_err(|error| error.to_string())?;
        }
    }
    match cells.len() == rows {
        true => Ok(cells),
        false => Err(format!("it has {} rows of {rows}", cells.len())),
    }
}

/// The cell of one row. Pages before it are not decoded.
pub(super) fn read_one(column: Column, pages: impl PageReader + 'static, row: usize) -> Result<i64, String> {
    let (mut reader, mut cell) = (reader(column, pages)?, Vec::with_capacity(1));
    let read = reader.skip_records(row).and_then(|_| reader.read_records(1, None, None, &mut cell));
    read.map_err(|error| error.to_string())?;
    cell.first().copied().ok_or_else(|| format!("it has no row {row}"))
}

/// The reader of Parquet.
fn reader(column: Column, pages: impl PageReader + 'static) -> Result<ColumnReaderImpl<Int64Type>, String> {
    let description = schema::described(column).map_err(|error| error.to_string())?;
    match get_column_reader(description, Box::new(pages)) {
        ColumnReader::Int64ColumnReader(reader) => Ok(reader),
        _ => Err("its cells are no numbers".to_owned()),
    }
}

fn coded(pages: impl PageReader, rows: usize, cells: &mut Vec<i64>) -> Result<(), String> {
    let (mut different, mut codes) = (Vec::new(), Vec::new());
    for page in pages {
        let page = page.map_err(|error| error.to_string())?;
        let count = page.num_values() as usize;
        match &page {
            Page::DictionaryPage { buf, .. } => {
                let (numbers, rest) = buf.as_chunks::<8>();
                if numbers.len() != count || !rest.is_empty() {
                    return Err("its dictionary has another length".to_owned());
                }
                different = numbers.iter().map(|number| i64::from_le_bytes(*number)).collect();
            }
            Page::DataPage { buf, encoding: Encoding::RLE_DICTIONARY, .. } if count <= rows - cells.len() => {
                codes.clear();
                bits::codes(buf, count, different.len(), &mut codes)?;
                // Every code is below the number of different ones.
                cells.extend(codes.iter().map(|code| different.get(*code as usize).copied().unwrap_or_default()));
            }
            _ => return Err("a page does not have the form of its column".to_owned()),
        }
        telemetry::give_way();
    }
    Ok(())
}
