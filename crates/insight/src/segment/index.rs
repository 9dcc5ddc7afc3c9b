//! The index of a segment: where each column is, its checksum, and facts about its cells that need no reading. It lies right before
//! the footer of Parquet, which other engines read.
//!
//! ```text
//! columns, Bloom filters | index | its length, its checksum, `MAGIC` | footer of Parquet, its length, `PAR1`
//! ```

use crate::column::Column;
use crate::texts::Texts;
use serde::{Deserialize, Serialize};

/// Ends the index.
const MAGIC: &[u8; 8] = b"DAYLEVT1";
/// The last bytes of a file of Parquet, behind the length of its footer.
const PARQUET: &[u8; 4] = b"PAR1";
/// Length, checksum and `MAGIC`.
const TAIL: usize = 4 + 4 + MAGIC.len();
/// The largest index together with the footer of Parquet, in bytes.
pub(super) const LARGEST: u64 = 4 << 20;

/// The most rows of a segment that is read: far more than one that is written has.
const ROWS_MAX: usize = 4 << 20;

/// A part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Extent {
    /// Its first byte.
    pub at: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its checksum, CRC-32.
    pub crc: u32,
}

/// A column in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ColumnEntry {
    /// The name of the column.
    pub name: String,
    /// Its pages.
    pub pages: Extent,
    /// Of a column that has no texts: the lowest and the highest cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(i64, i64)>,
    /// Of a column with few texts: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<Vec<String>>,
    /// Of a column with many texts: its Bloom filter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Extent>,
}

/// The index of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    /// The version of the form.
    pub form: u32,
    /// Rows.
    pub rows: usize,
    /// The sum of their weights.
    pub events: u64,
    /// The earliest [`Column::At`].
    pub from: i64,
    /// The latest one.
    pub to: i64,
    /// The columns that the segment has.
    pub columns: Vec<ColumnEntry>,
}

/// The version alone, which every later form has.
#[derive(Deserialize)]
struct Form {
    form: u32,
}

impl Index {
    /// The bytes that come right before the footer of Parquet.
    pub(super) fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec(self)?;
        let (length, crc) = (bytes.len() as u32, crc32fast::hash(&bytes));
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(MAGIC);
        Ok(bytes)
    }

    /// Reads the index from the last bytes of a file: `end` has at most [`LARGEST`] bytes. `length` is the length of the file.
    pub(super) fn decode(end: &[u8], length: u64) -> Result<Self, String> {
        let cut = || "it is cut off or damaged at its end".to_owned();
        let rest = end.strip_suffix(PARQUET).ok_or_else(cut)?;
        let (rest, footer) = rest.split_last_chunk::<4>().ok_or_else(cut)?;
        let footer = u32::from_le_bytes(*footer) as usize;
        let before = rest.len().checked_sub(footer).ok_or_else(cut)?;
        let rest = rest[..before].strip_suffix(MAGIC).ok_or_else(cut)?;
        let (rest, crc) = rest.split_last_chunk::<4>().ok_or_else(cut)?;
        let (rest, bytes) = rest.split_last_chunk::<4>().ok_or_else(cut)?;
        let begins = rest.len().checked_sub(u32::from_le_bytes(*bytes) as usize).ok_or_else(cut)?;
        let json = &rest[begins..];
        if crc32fast::hash(json) != u32::from_le_bytes(*crc) {
            return Err("its index is damaged".to_owned());
        }
        let wrong = |error: serde_json::Error| format!("its index is wrong: {error}");
        let Form { form } = serde_json::from_slice(json).map_err(wrong)?;
        if form > super::FORM {
            return Err(format!("it has form {form}, and this program reads forms up to {}", super::FORM));
        }
        let index: Self = serde_json::from_slice(json).map_err(wrong)?;
        if index.rows > ROWS_MAX {
            return Err(format!("its index names {} rows, and a segment has at most {ROWS_MAX}", index.rows));
        }
        // The rows end where the index begins.
        let rows_end = length - (end.len() - begins) as u64;
        index.places().try_for_each(|place| {
            let inside = place.at.checked_add(place.bytes).is_some_and(|end| end <= rows_end);
            if inside { Ok(()) } else { Err("its index names bytes behind its end".to_owned()) }
        })?;
        Ok(index)
    }

    fn places(&self) -> impl Iterator<Item = &Extent> {
        self.columns.iter().flat_map(|known| std::iter::once(&known.pages).chain(&known.filter))
    }

    /// The columns in the order of [`Column::ALL`]. `None`: the segment is older than the column. Columns without a name in this
    /// program are left out.
    pub(super) fn by_column(self) -> Box<[Option<ColumnIndex>]> {
        let mut columns: Box<[Option<ColumnIndex>]> = Column::ALL.iter().map(|_| None).collect();
        for ColumnEntry { name, pages, range, texts, filter } in self.columns {
            if let Some(column) = Column::read(&name) {
                let texts = texts.map(|texts| Box::new(texts.iter().collect()));
                columns[column as usize] = Some(ColumnIndex { pages, range, texts, filter: filter.map(Box::new) });
            }
        }
        columns
    }
}

/// A [`ColumnEntry`] in less memory: there are thousands of segments.
#[derive(Debug)]
pub(super) struct ColumnIndex {
    pub pages: Extent,
    pub range: Option<(i64, i64)>,
    pub texts: Option<Box<Texts>>,
    pub filter: Option<Box<Extent>>,
}

impl ColumnIndex {
    /// Whether all rows have the same cell.
    pub(super) fn is_constant(&self) -> bool {
        self.texts.as_ref().is_some_and(|texts| texts.len() == 1) || self.range.is_some_and(|(low, high)| low == high)
    }

    /// The memory that it takes beside its own size, in bytes.
    pub(super) fn memory(&self) -> usize {
        let texts = self.texts.as_ref().map_or(0, |texts| size_of::<Texts>() + texts.bytes());
        texts + self.filter.as_ref().map_or(0, |_| size_of::<Extent>())
    }
}

/// The bytes of the index and the footer, if they are not all within the last `end` bytes of a file.
pub(super) fn needed(end: &[u8]) -> usize {
    let Some((rest, _)) = end.split_last_chunk::<4>() else { return 0 };
    let Some((rest, footer)) = rest.split_last_chunk::<4>() else { return 0 };
    let footer = u32::from_le_bytes(*footer) as usize;
    let with_tail = footer.saturating_add(8 + TAIL);
    let Some(tail) = (rest.len() + 8).checked_sub(with_tail).and_then(|at| end.get(at..at + 4)) else {
        return with_tail;
    };
    let length = tail.try_into().map(u32::from_le_bytes).unwrap_or_default() as usize;
    with_tail.saturating_add(length)
}
