//! Writes a segment.

use super::index::{ColumnEntry, Extent, Index};
use super::not_written::NotWritten;
use super::order::Order;
use super::{FORM, Segment, encode, schema};
use crate::column::Column;
use crate::disk::NewFile;
use crate::part::Part;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{BloomFilterPosition, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes the rows of all parts as one segment, in the order of time. `path` appears when all its bytes are durable; a file of that name is
/// replaced. If it fails there is no new file.
pub fn write(path: &Path, parts: &[&dyn Part]) -> Result<Segment, NotWritten> {
    let failed = |cause| NotWritten::Disk { path: path.to_owned(), cause };
    let file = NewFile::begin(path).map_err(failed)?;
    let file = encode(BufWriter::new(file), parts).map_err(|error| error.of(path))?;
    file.into_inner().map_err(|error| failed(error.into_error()))?.finish().map_err(failed)?;
    Ok(Segment::open(path)?)
}

/// Writes the bytes of a segment.
fn encode<W: Write + Send>(to: W, parts: &[&dyn Part]) -> Result<W, NotWritten> {
    let spans = || parts.iter().map(|part| part.span());
    let (rows, events) = (spans().map(|span| span.rows).sum(), spans().map(|span| span.events).sum());
    let order = Order::of(parts)?;
    let mut file = SerializedFileWriter::new(to, schema::schema()?, whole_file())?;
    let mut columns = Vec::with_capacity(Column::COUNT);
    let mut group = file.next_row_group()?;
    for column in Column::ALL {
        let encoded = match column.is_text() {
            true => encode::texts(*column, parts, &order)?,
            false => encode::numbers(*column, parts, &order)?,
        };
        let crc = crc32fast::hash(&encoded.bytes);
        let pages = Extent { at: 0, bytes: encoded.bytes.len() as u64, crc };
        group.append_column(&encoded.bytes, encoded.closed)?;
        let name = column.as_str().to_owned();
        columns.push(ColumnEntry { name, pages, range: encoded.range, texts: encoded.few, filter: encoded.filter });
    }
    group.close()?;
    // Where columns and filters are is known only now.
    let written = file.flushed_row_groups().first().map(|group| group.columns()).unwrap_or_default();
    for (known, written) in columns.iter_mut().zip(written) {
        known.pages.at = written.byte_range().0;
        if let (Some(filter), Some(at)) = (&mut known.filter, written.bloom_filter_offset()) {
            filter.at = at.cast_unsigned();
        }
    }
    let (from, to) = order.span;
    let index = Index { form: FORM, rows, events, from, to, columns };
    file.write_all(&index.encode().map_err(|error| NotWritten::Form(error.to_string()))?)
        .map_err(ParquetError::from)?;
    Ok(file.into_inner()?)
}

/// The properties of the file.
fn whole_file() -> WriterPropertiesPtr {
    let program = concat!("Daylight ", env!("CARGO_PKG_VERSION"));
    let form = KeyValue::new("daylight.form".to_owned(), FORM.to_string());
    WriterProperties::builder()
        .set_created_by(program.to_owned())
        .set_key_value_metadata(Some(vec![form]))
        .set_offset_index_disabled(true)
        .set_bloom_filter_position(BloomFilterPosition::AfterRowGroup)
        .build()
        .into()
}
