//! Rows of rollups as a Parquet file, which other engines can read: a row group, columns as in `docs/data-folder.md`.

use super::buckets::Buckets;
use super::counts::Counts;
use super::rows::{DURATIONS, Key, NUMBERS, Rows, TEXTS, number, whole};
use crate::column::Column;
use crate::interner::Interner;
use crate::part::Coded;
use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fmt::Write;
use std::sync::Arc;
use telemetry::{Histogram, give_way};

/// The form of these files. Other forms cannot be read.
const FORM: &str = "1";

/// The columns of a duration: the sum, the highest, the upper edges of the buckets, their counts.
const PARTS: usize = 4;

/// The place of the first column of a duration.
fn first_of(column: Column) -> usize {
    let place = DURATIONS.iter().position(|own| *own == column).unwrap_or_default();
    1 + TEXTS.len() + NUMBERS.len() + place * PARTS
}

fn schema() -> Result<parquet::schema::types::Type, ParquetError> {
    let mut text = "message counts {\n  REQUIRED INT64 at (TIMESTAMP(MILLIS, true));\n".to_owned();
    // Writing to a string cannot fail.
    for column in TEXTS {
        let _ = writeln!(text, "  REQUIRED BYTE_ARRAY {} (STRING);", column.as_str());
    }
    for column in NUMBERS {
        let name = if column == Column::Weight { "count" } else { column.as_str() };
        let _ = writeln!(text, "  REQUIRED INT64 {name};");
    }
    const MILLIS: &str = "(DECIMAL(18, 3))";
    for column in DURATIONS {
        let name = column.as_str();
        let _ = writeln!(text, "  REQUIRED INT64 {name}_sum {MILLIS};\n  REQUIRED INT64 {name}_max {MILLIS};");
        for (part, kind) in [("upper", MILLIS), ("counts", "")] {
            let _ = writeln!(
                text,
                "  REQUIRED group {name}_{part} (LIST) {{ REPEATED group list {{ REQUIRED INT64 element {kind}; }} }}"
            );
        }
    }
    text.push('}');
    parse_message_type(&text)
}

/// The bytes of a file with these rows.
pub(super) fn encode(rows: &Rows) -> Result<Vec<u8>, ParquetError> {
    let about = KeyValue::new("daylight.counts".to_owned(), FORM.to_owned());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_created_by("daylight".to_owned())
        .set_key_value_metadata(Some(vec![about]))
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema()?), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    numbers(&mut group, rows, |row| number(row, Column::At))?;
    let texts: Vec<ByteArray> = rows.texts.texts().iter().map(ByteArray::from).collect();
    for column in 0..TEXTS.len() {
        let cells: Vec<ByteArray> =
            rows.rows.iter().map(|(key, _)| texts[key.texts[column] as usize].clone()).collect();
        column_of::<ByteArrayType>(&mut group, &cells, None)?;
    }
    for column in NUMBERS {
        numbers(&mut group, rows, |row| number(row, column))?;
    }
    for column in DURATIONS {
        numbers(&mut group, rows, |row| number(row, column))?;
        numbers(&mut group, rows, |(_, counts)| Some(whole(counts.distribution(column).highest())))?;
        lists(&mut group, rows, column, |(place, _)| whole(Histogram::upper_of(place)))?;
        lists(&mut group, rows, column, |(_, count)| whole(count))?;
    }
    group.close()?;
    file.into_inner()
}

fn numbers(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    rows: &Rows,
    cell: impl Fn(&(Key, Counts)) -> Option<i64>,
) -> Result<(), ParquetError> {
    let cells: Vec<i64> = rows.rows.iter().map(|row| cell(row).unwrap_or_default()).collect();
    column_of::<Int64Type>(group, &cells, None)
}

/// Writes a list for each row.
fn lists(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    rows: &Rows,
    column: Column,
    cell: impl Fn((usize, u64)) -> i64,
) -> Result<(), ParquetError> {
    let (mut cells, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for (_, counts) in &rows.rows {
        let before = cells.len();
        cells.extend(counts.distribution(column).buckets().map(&cell));
        let len = cells.len() - before;
        // An empty list has one entry of levels and no cell.
        defined.resize(defined.len() + len.max(1), i16::from(len > 0));
        repeated.push(0);
        repeated.resize(defined.len(), 1);
    }
    column_of::<Int64Type>(group, &cells, Some((&defined, &repeated)))
}

fn column_of<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: &[T::T],
    levels: Option<(&[i16], &[i16])>,
) -> Result<(), ParquetError> {
    give_way();
    let Some(mut column) = group.next_column()? else { return Err(ParquetError::General("too many columns".into())) };
    column.typed::<T>().write_batch(cells, levels.map(|levels| levels.0), levels.map(|levels| levels.1))?;
    column.close()
}

/// A file of counted rows.
pub(super) struct CountsFile {
    file: SerializedFileReader<Bytes>,
    rows: usize,
}

impl CountsFile {
    /// Reads the footer. The bytes were written by [`encode`] and have not changed since, because their checksum is right.
    pub(super) fn open(bytes: Bytes) -> Result<Self, ParquetError> {
        let file = SerializedFileReader::new(bytes)?;
        let about = file.metadata().file_metadata();
        let form = about.key_value_metadata().into_iter().flatten().find(|pair| pair.key == "daylight.counts");
        let form = form.and_then(|pair| pair.value.as_deref()).unwrap_or_default();
        if form != FORM || file.num_row_groups() != 1 {
            return Err(ParquetError::General(format!("its form is `{form}`, and only `{FORM}` can be read")));
        }
        let rows = usize::try_from(about.num_rows()).map_err(|error| ParquetError::General(error.to_string()))?;
        Ok(Self { file, rows })
    }

    fn cells<T: DataType>(&self, column: usize) -> Result<(Vec<T::T>, Vec<i16>), ParquetError> {
        give_way();
        let reader = self.file.get_row_group(0)?.get_column_reader(column)?;
        let mut reader = get_typed_column_reader::<T>(reader);
        let (mut cells, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        let mut read = 0;
        while read < self.rows {
            let (more, ..) =
                reader.read_records(self.rows - read, Some(&mut defined), Some(&mut repeated), &mut cells)?;
            if more == 0 {
                return Err(ParquetError::General("a column has too few rows".into()));
            }
            read += more;
        }
        // The end of a list is known by the level of the next entry; an empty list by its own.
        let begins =
            repeated.iter().zip(&defined).map(|(repeated, defined)| if *defined == 0 { -1 } else { *repeated });
        Ok((cells, begins.collect()))
    }

    /// A column of numbers: when the minute or hour of each row begins, [`NUMBERS`], or the sums of [`DURATIONS`].
    pub(super) fn numbers(&self, column: Column) -> Result<Vec<i64>, ParquetError> {
        let place = match NUMBERS.iter().position(|own| *own == column) {
            _ if column == Column::At => 0,
            Some(place) => 1 + TEXTS.len() + place,
            None => first_of(column),
        };
        Ok(self.cells::<Int64Type>(place)?.0)
    }

    /// The texts of a column of [`TEXTS`].
    pub(super) fn texts(&self, place: usize) -> Result<Coded, ParquetError> {
        let (cells, _) = self.cells::<ByteArrayType>(1 + place)?;
        let (mut texts, mut codes) = (Interner::default(), Vec::with_capacity(cells.len()));
        for cell in &cells {
            codes.push(texts.intern(cell.as_utf8()?));
        }
        Ok(Coded { texts: Arc::new(texts.into_texts()), codes })
    }

    /// The highest values of a duration.
    pub(super) fn highest(&self, column: Column) -> Result<Vec<i64>, ParquetError> {
        Ok(self.cells::<Int64Type>(first_of(column) + 1)?.0)
    }

    /// The distributions of a duration.
    pub(super) fn distributions(&self, column: Column) -> Result<Vec<Buckets>, ParquetError> {
        let (sums, highest) = (self.numbers(column)?, self.highest(column)?);
        let (upper, begins) = self.cells::<Int64Type>(first_of(column) + 2)?;
        let (counts, _) = self.cells::<Int64Type>(first_of(column) + 3)?;
        let mut buckets = upper
            .into_iter()
            .zip(counts)
            .map(|(upper, count)| (Histogram::place_of(upper.max(0).cast_unsigned()), count.max(0).cast_unsigned()));
        let mut distributions = Vec::with_capacity(self.rows);
        let mut begins = begins.into_iter().peekable();
        for (sum, highest) in sums.into_iter().zip(highest) {
            let mut own = Vec::new();
            if begins.next() == Some(0) {
                own.extend(buckets.next());
                while begins.next_if_eq(&1).is_some() {
                    own.extend(buckets.next());
                }
            }
            distributions.push(Buckets::of(sum.max(0).cast_unsigned(), highest.max(0).cast_unsigned(), own));
        }
        Ok(distributions)
    }

    /// All rows.
    pub(super) fn rows(&self) -> Result<Rows, ParquetError> {
        let (mut all, mut texts) = (Rows::default(), Vec::new());
        for place in 0..TEXTS.len() {
            let coded = self.texts(place)?;
            let places: Vec<u32> = coded.texts.iter().map(|text| all.texts.intern(text)).collect();
            texts.push(coded.codes.into_iter().map(|code| places[code as usize]).collect::<Vec<_>>());
        }
        let (at, [status, events, bytes_in, bytes_out]) =
            (self.numbers(Column::At)?, NUMBERS.map(|column| self.numbers(column)));
        let (status, events, bytes_in, bytes_out) = (status?, events?, bytes_in?, bytes_out?);
        let [first_byte, duration] = DURATIONS.map(|column| self.distributions(column));
        for (row, (first_byte, duration)) in first_byte?.into_iter().zip(duration?).enumerate() {
            let texts = std::array::from_fn(|column| texts[column][row]);
            let key = Key { at: at[row], texts, status: u16::try_from(status[row]).unwrap_or_default() };
            let [events, bytes_in, bytes_out] =
                [events[row], bytes_in[row], bytes_out[row]].map(|number| number.max(0).cast_unsigned());
            all.rows.push((key, Counts { events, bytes_in, bytes_out, first_byte, duration }));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollup::rows::Table;
    use crate::rollup::tests::rows;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_file_has_the_rows_that_were_written(rows in rows()) {
            let mut table = Table::default();
            table.merge(&rows);
            let rows = table.into_sorted();
            let file = CountsFile::open(encode(&rows).unwrap().into()).unwrap();
            let found = file.rows().unwrap();
            let told = |rows: &Rows| -> Vec<String> {
                let row = |(key, counts): &(Key, Counts)| {
                    format!("{} {:?} {} {counts:?}", key.at, key.texts.map(|place| rows.text(place).to_owned()), key.status)
                };
                rows.rows.iter().map(row).collect()
            };
            prop_assert_eq!(told(&found), told(&rows));
        }
    }
}
