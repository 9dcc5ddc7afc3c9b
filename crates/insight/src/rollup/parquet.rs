//! RollupScan rows as a Parquet file, which other engines can read: a row group, columns as in `docs/data-folder.md`.

use super::buckets::Buckets;
use super::counts::Counts;
use super::rows::{Key, Rows, TEXTS};
use crate::column::Column;
use crate::part::Coded;
use crate::texts::Texts;
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
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use telemetry::{Histogram, give_way};

/// The durations whose distribution is counted.
pub(crate) const DURATIONS: [Column; 2] = [Column::FirstByte, Column::Duration];
/// The form of these files. Other forms cannot be read.
const FORM: &str = "1";

/// The names of the columns of a duration: the sum, the highest, the upper edges of the buckets, their counts.
const PARTS: [&str; 4] = ["sum", "max", "upper", "counts"];
/// The place of the first column of the first duration.
const FIRST_DURATION: usize = 1 + TEXTS.len() + 4;

fn schema() -> Result<parquet::schema::types::Type, ParquetError> {
    let mut text = "message counts {\n  REQUIRED INT64 at (TIMESTAMP(MILLIS, true));\n".to_owned();
    // Writing to a string cannot fail.
    for column in TEXTS {
        let _ = writeln!(text, "  REQUIRED BYTE_ARRAY {} (STRING);", column.as_str());
    }
    for name in [Column::Status.as_str(), "count", Column::BytesIn.as_str(), Column::BytesOut.as_str()] {
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
    numbers(&mut group, rows, |key, _| key.at)?;
    for column in 0..TEXTS.len() {
        let texts: Vec<ByteArray> = rows.texts.iter().map(|text| ByteArray::from(text.as_bytes().to_vec())).collect();
        let cells: Vec<ByteArray> =
            rows.rows.iter().map(|(key, _)| texts[key.texts[column] as usize].clone()).collect();
        column_of::<ByteArrayType>(&mut group, &cells, None)?;
    }
    numbers(&mut group, rows, |key, _| i64::from(key.status))?;
    numbers(&mut group, rows, |_, counts| whole(counts.events))?;
    numbers(&mut group, rows, |_, counts| whole(counts.bytes_in))?;
    numbers(&mut group, rows, |_, counts| whole(counts.bytes_out))?;
    for distribution in 0..DURATIONS.len() {
        numbers(&mut group, rows, |_, counts| whole(counts.distribution(distribution).sum()))?;
        numbers(&mut group, rows, |_, counts| whole(counts.distribution(distribution).highest()))?;
        lists(&mut group, rows, distribution, |(place, _)| whole(Histogram::upper_of(place)))?;
        lists(&mut group, rows, distribution, |(_, count)| whole(count))?;
    }
    group.close()?;
    file.into_inner()
}

fn numbers(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    rows: &Rows,
    cell: impl Fn(&Key, &Counts) -> i64,
) -> Result<(), ParquetError> {
    let cells: Vec<i64> = rows.rows.iter().map(|(key, counts)| cell(key, counts)).collect();
    column_of::<Int64Type>(group, &cells, None)
}

/// Writes a list for each row.
fn lists(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    rows: &Rows,
    distribution: usize,
    cell: impl Fn((usize, u64)) -> i64,
) -> Result<(), ParquetError> {
    let (mut cells, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for (_, counts) in &rows.rows {
        let before = cells.len();
        cells.extend(counts.distribution(distribution).buckets().map(&cell));
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

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
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

    fn of_numbers(&self, column: usize) -> Result<Vec<i64>, ParquetError> {
        Ok(self.cells::<Int64Type>(column)?.0)
    }

    /// When the minute or hour of each row begins.
    pub(super) fn at(&self) -> Result<Vec<i64>, ParquetError> {
        self.of_numbers(0)
    }

    /// The texts of a column of [`TEXTS`].
    pub(super) fn texts(&self, place: usize) -> Result<Coded, ParquetError> {
        let (cells, _) = self.cells::<ByteArrayType>(1 + place)?;
        let (mut texts, mut codes) = (Texts::default(), Vec::with_capacity(cells.len()));
        let mut places = HashMap::<&str, u32>::new();
        for cell in &cells {
            let text = cell.as_utf8()?;
            codes.push(*places.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() as u32 - 1
            }));
        }
        Ok(Coded { texts: Arc::new(texts), codes })
    }

    /// The statuses.
    pub(super) fn status(&self) -> Result<Vec<i64>, ParquetError> {
        self.of_numbers(1 + TEXTS.len())
    }

    /// The numbers of events.
    pub(super) fn events(&self) -> Result<Vec<i64>, ParquetError> {
        self.of_numbers(2 + TEXTS.len())
    }

    /// The sums of bytes: received ones, or sent ones.
    pub(super) fn bytes(&self, out: bool) -> Result<Vec<i64>, ParquetError> {
        self.of_numbers(3 + TEXTS.len() + usize::from(out))
    }

    /// The sums of a duration of [`DURATIONS`].
    pub(super) fn sums(&self, distribution: usize) -> Result<Vec<i64>, ParquetError> {
        self.of_numbers(FIRST_DURATION + distribution * PARTS.len())
    }

    /// The highest values of a duration.
    pub(super) fn highest(&self, distribution: usize) -> Result<Vec<i64>, ParquetError> {
        self.of_numbers(FIRST_DURATION + distribution * PARTS.len() + 1)
    }

    /// The distributions of a duration.
    pub(super) fn distributions(&self, distribution: usize) -> Result<Vec<Buckets>, ParquetError> {
        let (sums, highest) = (self.sums(distribution)?, self.highest(distribution)?);
        let (upper, begins) = self.cells::<Int64Type>(FIRST_DURATION + distribution * PARTS.len() + 2)?;
        let (counts, _) = self.cells::<Int64Type>(FIRST_DURATION + distribution * PARTS.len() + 3)?;
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
            // Texts of several columns are listed more than once, which does no harm.
            let (coded, before) = (self.texts(place)?, all.texts.len() as u32);
            all.texts.extend(coded.texts.iter().map(Arc::<str>::from));
            texts.push(coded.codes.into_iter().map(|code| before + code).collect::<Vec<_>>());
        }
        let (at, status, events) = (self.at()?, self.status()?, self.events()?);
        let (bytes_in, bytes_out) = (self.bytes(false)?, self.bytes(true)?);
        let (first_byte, duration) = (self.distributions(0)?, self.distributions(1)?);
        for (row, (first_byte, duration)) in first_byte.into_iter().zip(duration).enumerate() {
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
