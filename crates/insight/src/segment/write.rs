//! Writes a segment.

use super::index::{Index, Known, Place};
use super::{FORM, Segment, schema};
use crate::column::{Column, ColumnKind};
use crate::disk::NewFile;
use crate::part::{Coded, Part, Unreadable};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{BloomFilterPosition, EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnPath;
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The cells that are written at once. Between two of them the thread gives way.
const AT_ONCE: usize = 4096;
/// A column with at most this many texts has them in the index.
const FEW_TEXTS: usize = 64;
/// ... if they have at most this many bytes.
const FEW_BYTES: usize = 2048;
/// The share of texts that are not there and yet pass a Bloom filter.
const FALSE_POSITIVES: f64 = 0.01;
/// Columns whose texts are asked for one by one, so that a Bloom filter saves reading them.
const FILTERED: &[Column] =
    &[Column::Path, Column::Package, Column::Client, Column::Run, Column::Token, Column::Trace, Column::Version];
/// The bytes of the different texts of a column up to which it has a dictionary.
const DICTIONARY_BYTES: usize = 16 << 20;

/// A segment was not written, and there is no file.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// The parts have no row.
    #[error("there are no events")]
    Empty,
    /// A part cannot be read.
    #[error(transparent)]
    Part(#[from] Unreadable),
    /// The file cannot be written.
    #[error("cannot write `{}`: {cause}", .path.display())]
    Disk {
        /// The segment.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The rows do not fit the form of a segment.
    #[error("the events do not fit the form of a segment: {0}")]
    Form(String),
}

impl From<ParquetError> for NotWritten {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) => match cause.downcast::<io::Error>() {
                Ok(cause) => Self::Disk { path: PathBuf::new(), cause: *cause },
                Err(cause) => Self::Form(cause.to_string()),
            },
            error => Self::Form(error.to_string()),
        }
    }
}

impl NotWritten {
    /// Names the file.
    fn of(self, segment: &Path) -> Self {
        match self {
            Self::Disk { cause, .. } => Self::Disk { path: segment.to_owned(), cause },
            other => other,
        }
    }
}

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
            true => texts(*column, parts, &order)?,
            false => numbers(*column, parts, &order)?,
        };
        let crc = crc32fast::hash(&encoded.bytes);
        let pages = Place { at: 0, bytes: encoded.bytes.len() as u64, crc };
        group.append_column(&encoded.bytes, encoded.closed)?;
        let name = column.as_str().to_owned();
        columns.push(Known { name, pages, range: encoded.range, texts: encoded.few, filter: encoded.filter });
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

/// The order in which rows are written.
struct Order {
    span: (i64, i64),
    /// The places of the rows of all parts. `None`: they are in the order of time.
    places: Option<Vec<u32>>,
}

impl Order {
    fn of(parts: &[&dyn Part]) -> Result<Self, NotWritten> {
        let mut at = Vec::new();
        for part in parts {
            at.extend(part.numbers(Column::At)?);
        }
        let (Some(from), Some(to)) = (at.iter().min(), at.iter().max()) else { return Err(NotWritten::Empty) };
        let span = (*from, *to);
        if at.is_sorted() {
            return Ok(Self { span, places: None });
        }
        let mut places: Vec<u32> = (0..at.len() as u32).collect();
        places.sort_by_key(|place| at[*place as usize]);
        Ok(Self { span, places: Some(places) })
    }

    fn apply<T: Copy>(&self, cells: Vec<T>) -> Vec<T> {
        match &self.places {
            None => cells,
            Some(places) => places.iter().map(|place| cells[*place as usize]).collect(),
        }
    }
}

/// A column as it is in the file.
struct Encoded {
    bytes: Bytes,
    closed: ColumnCloseResult,
    range: Option<(i64, i64)>,
    few: Option<Vec<String>>,
    filter: Option<Place>,
}

fn numbers(column: Column, parts: &[&dyn Part], order: &Order) -> Result<Encoded, NotWritten> {
    let mut cells = Vec::new();
    for part in parts {
        cells.extend(part.numbers(column)?);
    }
    let cells = order.apply(cells);
    let range = cells.iter().min().copied().zip(cells.iter().max().copied());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(!matches!(column.kind(), ColumnKind::Moment | ColumnKind::Id))
        .set_column_encoding(ColumnPath::from(column.as_str()), Encoding::DELTA_BINARY_PACKED)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build();
    let (bytes, closed) = in_memory(column, properties, |writer| {
        let ColumnWriter::Int64ColumnWriter(writer) = writer else { return Ok(()) };
        for cells in cells.chunks(AT_ONCE) {
            writer.write_batch(cells, None, None)?;
            telemetry::give_way();
        }
        Ok(())
    })?;
    Ok(Encoded { bytes, closed, range, few: None, filter: None })
}

fn texts(column: Column, parts: &[&dyn Part], order: &Order) -> Result<Encoded, NotWritten> {
    let mut places: HashMap<Box<str>, u32> = HashMap::new();
    let mut texts: Vec<ByteArray> = Vec::new();
    let mut codes = Vec::new();
    for part in parts {
        let Coded { texts: theirs, codes: coded } = part.texts(column)?;
        // Texts get their place when a row has them: a part may have texts that no row has.
        let mut ours: Vec<Option<u32>> = vec![None; theirs.len()];
        codes.extend(coded.iter().map(|code| {
            *ours[*code as usize].get_or_insert_with(|| {
                let text = &theirs[*code as usize];
                *places.entry(text.into()).or_insert_with(|| {
                    texts.push(ByteArray::from(text));
                    texts.len() as u32 - 1
                })
            })
        }));
        telemetry::give_way();
    }
    let codes = order.apply(codes);
    let total: usize = texts.iter().map(ByteArray::len).sum();
    let few =
        (texts.len() <= FEW_TEXTS && total <= FEW_BYTES).then(|| places.keys().map(|text| text.to_string()).collect());
    let mut bloom = None;
    if few.is_none() && FILTERED.contains(&column) {
        let mut filter = Sbbf::new_with_ndv_fpp(texts.len() as u64, FALSE_POSITIVES)?;
        texts.iter().for_each(|text| filter.insert(text.data()));
        bloom = Some(filter);
    }
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build();
    let (bytes, mut closed) = in_memory(column, properties, |writer| {
        let ColumnWriter::ByteArrayColumnWriter(writer) = writer else { return Ok(()) };
        let mut cells = Vec::with_capacity(AT_ONCE);
        for codes in codes.chunks(AT_ONCE) {
            cells.clear();
            cells.extend(codes.iter().map(|code| texts[*code as usize].clone()));
            writer.write_batch(&cells, None, None)?;
            telemetry::give_way();
        }
        Ok(())
    })?;
    let mut filter = None;
    if let Some(bloom) = bloom {
        let mut bytes = Vec::new();
        bloom.write(&mut bytes)?;
        filter = Some(Place { at: 0, bytes: bytes.len() as u64, crc: crc32fast::hash(&bytes) });
        closed.bloom_filter = Some(bloom);
    }
    Ok(Encoded { bytes, closed, range: None, few, filter })
}

/// Encodes a column.
fn in_memory(
    column: Column,
    properties: WriterProperties,
    cells: impl FnOnce(&mut ColumnWriter<'_>) -> Result<(), ParquetError>,
) -> Result<(Bytes, ColumnCloseResult), NotWritten> {
    let description = schema::description(column).ok_or_else(|| NotWritten::Form(column.as_str().to_owned()))?;
    let mut bytes = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut bytes));
    let mut writer = get_column_writer(description, Arc::new(properties), pages);
    cells(&mut writer)?;
    let closed = writer.close()?;
    Ok((bytes.into_inner()?.into(), closed))
}

/// What holds for the whole file.
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
