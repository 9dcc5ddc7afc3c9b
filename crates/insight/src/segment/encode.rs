//! Encodes a column: its pages, and what the index knows of it.

use super::index::Extent;
use super::not_written::NotWritten;
use super::order::Order;
use super::{runs, schema};
use crate::column::{Column, ColumnKind};
use crate::interner::Interner;
use crate::part::Part;
use crate::texts::Texts;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnPath;
use std::collections::HashMap;
use std::sync::Arc;

/// The rows of a page of codes. Between two pages the thread gives way.
const PAGE_ROWS: usize = 32 << 10;
/// The cells that are given to Parquet's own encoders at once.
const AT_ONCE: usize = 4096;
/// The level of zstd.
const LEVEL: i32 = 1;
/// A column with at most this many texts has them in the index.
const FEW_TEXTS: usize = 64;
/// ... if they have at most this many bytes.
const FEW_BYTES: usize = 2048;
/// The share of texts that are not there and yet pass a Bloom filter.
const FALSE_POSITIVES: f64 = 0.01;
/// Columns whose texts are asked for one by one, so that a Bloom filter saves reading them.
const FILTERED: &[Column] =
    &[Column::Package, Column::Version, Column::Path, Column::Client, Column::Run, Column::Token, Column::Trace];
/// The bytes of the different texts of a column up to which it has a dictionary.
const DICTIONARY_BYTES: usize = 16 << 20;
/// The distance of the lowest and the highest cell up to which a table of all numbers between them finds the different ones.
const RANGE_MAX: u64 = 1 << 20;
/// The most different numbers of a dictionary.
const DIFFERENT_MAX: usize = 1 << 16;
/// Longer texts are no lowest or highest text in the footer of Parquet.
const BORDER_BYTES: usize = 64;

/// A column as it is in the file.
pub(super) struct Encoded {
    pub(super) bytes: Bytes,
    pub(super) closed: ColumnCloseResult,
    /// Of numbers: the lowest and the highest one.
    pub(super) range: Option<(i64, i64)>,
    /// The texts, if they are few.
    pub(super) few: Option<Vec<String>>,
    /// The Bloom filter. Its place in the file is not known yet.
    pub(super) filter: Option<Extent>,
}

/// Encodes a column that has no texts.
pub(super) fn numbers(column: Column, parts: &[&dyn Part], order: &Order) -> Result<Encoded, NotWritten> {
    let mut cells = Vec::new();
    for part in parts {
        cells.extend(part.numbers(column)?);
    }
    let cells = order.apply(cells);
    let (lowest, highest) =
        cells.iter().fold((i64::MAX, i64::MIN), |(low, high), cell| (low.min(*cell), high.max(*cell)));
    let dictionary = match column.kind() {
        // They only grow: their differences take less room.
        ColumnKind::Moment | ColumnKind::Id if lowest != highest => None,
        _ => dictionary(&cells, lowest, highest),
    };
    let (bytes, closed) = match dictionary {
        Some((different, codes)) => {
            let plain: Vec<u8> = different.iter().flat_map(|number| number.to_le_bytes()).collect();
            let borders = ValueStatistics::new(Some(lowest), Some(highest), None, Some(0), false);
            coded(column, plain, different.len(), &codes, Some(Statistics::Int64(borders)))?
        }
        None => by_parquet(column, |writer| {
            let ColumnWriter::Int64ColumnWriter(writer) = writer else { return Ok(()) };
            cells.chunks(AT_ONCE).try_for_each(|cells| {
                telemetry::give_way();
                writer.write_batch(cells, None, None).map(|_| ())
            })
        })?,
    };
    Ok(Encoded { bytes, closed, range: Some((lowest, highest)), few: None, filter: None })
}

/// The different numbers, and for each cell the place of its number. `None`: there are too many.
fn dictionary(cells: &[i64], lowest: i64, highest: i64) -> Option<(Vec<i64>, Vec<u32>)> {
    let range = highest.abs_diff(lowest);
    if range > RANGE_MAX {
        return far_apart(cells);
    }
    let mut codes_of = vec![u32::MAX; range as usize + 1];
    cells.iter().for_each(|cell| codes_of[cell.abs_diff(lowest) as usize] = 0);
    let mut different = Vec::new();
    for (distance, code) in codes_of.iter_mut().enumerate().filter(|(_, code)| **code == 0) {
        *code = different.len() as u32;
        different.push(lowest + distance as i64);
    }
    let codes = || cells.iter().map(|cell| codes_of[cell.abs_diff(lowest) as usize]).collect();
    (different.len() <= DIFFERENT_MAX).then(|| (different, codes()))
}

/// The dictionary of numbers that are too far apart for a table of all numbers between them.
fn far_apart(cells: &[i64]) -> Option<(Vec<i64>, Vec<u32>)> {
    let (mut different, mut places) = (Vec::new(), HashMap::new());
    let code = |cell: &i64| {
        let code = *places.entry(*cell).or_insert_with(|| {
            different.push(*cell);
            different.len() as u32 - 1
        });
        ((code as usize) < DIFFERENT_MAX).then_some(code)
    };
    let codes = cells.iter().map(code).collect::<Option<Vec<u32>>>()?;
    Some((different, codes))
}

/// Encodes a column of texts.
pub(super) fn texts(column: Column, parts: &[&dyn Part], order: &Order) -> Result<Encoded, NotWritten> {
    let (texts, codes) = joined(column, parts)?;
    let codes = order.apply(codes);
    let total: usize = texts.iter().map(str::len).sum();
    let few = texts.len() <= FEW_TEXTS && total <= FEW_BYTES;
    let few = few.then(|| texts.iter().map(str::to_owned).collect::<Vec<_>>());
    let (bytes, mut closed) = match total <= DICTIONARY_BYTES {
        true => {
            let mut plain = Vec::with_capacity(total + 4 * texts.len());
            for text in texts.iter() {
                plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
                plain.extend_from_slice(text.as_bytes());
            }
            coded(column, plain, texts.len(), &codes, borders(&texts))?
        }
        false => by_parquet(column, |writer| {
            let ColumnWriter::ByteArrayColumnWriter(writer) = writer else { return Ok(()) };
            codes.chunks(AT_ONCE).try_for_each(|codes| {
                telemetry::give_way();
                let cells: Vec<ByteArray> = codes.iter().map(|code| ByteArray::from(&texts[*code as usize])).collect();
                writer.write_batch(&cells, None, None).map(|_| ())
            })
        })?,
    };
    let mut filter = None;
    if few.is_none() && FILTERED.contains(&column) {
        let mut bloom = Sbbf::new_with_ndv_fpp(texts.len() as u64, FALSE_POSITIVES)?;
        texts.iter().for_each(|text| bloom.insert(text));
        let mut bytes = Vec::new();
        bloom.write(&mut bytes)?;
        filter = Some(Extent { at: 0, bytes: bytes.len() as u64, crc: crc32fast::hash(&bytes) });
        closed.bloom_filter = Some(bloom);
    }
    Ok(Encoded { bytes, closed, range: None, few, filter })
}

/// The texts of all parts, each once, and for each row the place of its text. Texts that no row has are left out.
fn joined(column: Column, parts: &[&dyn Part]) -> Result<(Texts, Vec<u32>), NotWritten> {
    let mut texts = Interner::default();
    let mut codes = Vec::new();
    for part in parts {
        let theirs = part.texts(column)?;
        let mut ours: Vec<Option<u32>> = vec![None; theirs.texts.len()];
        codes.extend(
            theirs
                .codes
                .iter()
                .map(|code| *ours[*code as usize].get_or_insert_with(|| texts.intern(&theirs.texts[*code as usize]))),
        );
        telemetry::give_way();
    }
    Ok((texts.into_texts(), codes))
}

/// The first and the last text by their bytes, for the footer of Parquet.
fn borders(texts: &Texts) -> Option<Statistics> {
    let (first, last) = (texts.iter().min()?, texts.iter().max()?);
    let short = first.len().max(last.len()) <= BORDER_BYTES;
    let border = |text: &str| Some(ByteArray::from(text));
    short.then(|| Statistics::ByteArray(ValueStatistics::new(border(first), border(last), None, Some(0), false)))
}

/// Encodes a column of codes, with its dictionary in Parquet's plain encoding.
fn coded(
    column: Column,
    dictionary: Vec<u8>,
    entries: usize,
    codes: &[u32],
    statistics: Option<Statistics>,
) -> Result<(Bytes, ColumnCloseResult), NotWritten> {
    let mut bytes = TrackedWrite::new(Vec::new());
    let mut pages = SerializedPageWriter::new(&mut bytes);
    let mut zstd = zstd::bulk::Compressor::new(LEVEL).map_err(ParquetError::from)?;
    let mut write = |plain: &[u8], page: &dyn Fn(Bytes) -> Page| {
        telemetry::give_way();
        let packed = zstd.compress(plain).map_err(ParquetError::from)?;
        pages.write_page(CompressedPage::new(page(packed.into()), plain.len()))
    };
    let plain =
        |buf| Page::DictionaryPage { buf, num_values: entries as u32, encoding: Encoding::PLAIN, is_sorted: false };
    let first = write(&dictionary, &plain)?;
    let mut sizes = (first.compressed_size, first.uncompressed_size);
    let width = runs::width(entries);
    for codes in codes.chunks(PAGE_ROWS) {
        let written = write(&runs::page(codes, width), &|buf| Page::DataPage {
            buf,
            num_values: codes.len() as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })?;
        sizes = (sizes.0 + written.compressed_size, sizes.1 + written.uncompressed_size);
    }
    let mut metadata = ColumnChunkMetaData::builder(schema::described(column)?)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_num_values(codes.len() as i64)
        .set_total_compressed_size(sizes.0 as i64)
        .set_total_uncompressed_size(sizes.1 as i64)
        .set_dictionary_page_offset(Some(0))
        .set_data_page_offset(first.compressed_size as i64);
    if let Some(statistics) = statistics {
        metadata = metadata.set_statistics(statistics);
    }
    let closed = ColumnCloseResult {
        bytes_written: sizes.0 as u64,
        rows_written: codes.len() as u64,
        metadata: metadata.build()?,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((bytes.into_inner()?.into(), closed))
}

/// Encodes a column without a dictionary, by the encoders of Parquet.
fn by_parquet(
    column: Column,
    cells: impl FnOnce(&mut ColumnWriter<'_>) -> Result<(), ParquetError>,
) -> Result<(Bytes, ColumnCloseResult), NotWritten> {
    let differences = (!column.is_text()).then_some(Encoding::DELTA_BINARY_PACKED);
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    if let Some(encoding) = differences {
        properties = properties.set_column_encoding(ColumnPath::from(column.as_str()), encoding);
    }
    let mut bytes = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut bytes));
    let mut writer = get_column_writer(schema::described(column)?, Arc::new(properties.build()), pages);
    cells(&mut writer)?;
    let closed = writer.close()?;
    Ok((bytes.into_inner()?.into(), closed))
}
