//! Reads a column of numbers: its dictionary and the codes of its rows, or its differences, which Parquet's own reader decodes.

use super::{bits, schema};
use crate::column::Column;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};

/// The cells of a column with `rows` rows.
pub(super) fn read(column: Column, mut pages: impl PageReader + 'static, rows: usize) -> Result<Vec<i64>, String> {
    let mut cells = Vec::with_capacity(rows);
    let first = pages.peek_next_page().map_err(|error| error.to_string())?;
    match first.is_some_and(|page| page.is_dict) {
        true => coded(pages, rows, &mut cells)?,
        false => {
            let description = schema::described(column).map_err(|error| error.to_string())?;
            let ColumnReader::Int64ColumnReader(mut reader) = get_column_reader(description, Box::new(pages)) else {
                return Err("its cells are no numbers".to_owned());
            };
            reader.read_records(rows, None, None, &mut cells).map_err(|error| error.to_string())?;
        }
    }
    match cells.len() == rows {
        true => Ok(cells),
        false => Err(format!("it has {} rows of {rows}", cells.len())),
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
