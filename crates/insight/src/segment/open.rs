//! A segment that is read: its index is in memory, and columns are read from the file when a question needs them.

use super::index::{self, ColumnIndex, Extent, Index};
use super::{numbers, schema, texts};
use crate::column::Column;
use crate::disk;
use crate::part::{Coded, Part, Span, Unreadable};
use crate::texts::Texts;
use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bytes at the end of a file that are read first.
const FIRST_READ: u64 = 64 << 10;

/// A segment. Its file is open only while a column is read.
#[derive(Debug)]
pub struct Segment {
    path: PathBuf,
    span: Span,
    bytes: u64,
    columns: Box<[Option<ColumnIndex>]>,
}

impl Segment {
    /// Opens a segment: reads its index. It is [`Unreadable`] if the file cannot be read, is damaged, or was written by a newer program
    /// whose form this one does not know.
    pub fn open(path: &Path) -> Result<Self, Unreadable> {
        let failed = |error: std::io::Error| Unreadable::file(path, error);
        let file = disk::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        let mut end = read_end(&file, bytes, FIRST_READ).map_err(failed)?;
        let needed = index::needed(&end) as u64;
        if needed > end.len() as u64 && needed <= index::LARGEST {
            end = read_end(&file, bytes, needed).map_err(failed)?;
        }
        let index = Index::decode(&end, bytes).map_err(|cause| Unreadable::file(path, cause))?;
        let span = Span { rows: index.rows, events: index.events, from: index.from, to: index.to };
        Ok(Self { path: path.to_owned(), span, bytes, columns: index.by_column() })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of its file.
    pub fn file_bytes(&self) -> u64 {
        self.bytes
    }

    /// The memory that it takes, in bytes.
    pub fn memory(&self) -> u64 {
        let columns: usize = self.columns.iter().flatten().map(ColumnIndex::memory).sum();
        (size_of::<Self>() + self.path.as_os_str().len() + size_of_val(&*self.columns) + columns) as u64
    }

    fn known(&self, column: Column) -> Option<&ColumnIndex> {
        self.columns[column as usize].as_ref()
    }

    fn unreadable(&self, column: Column, cause: impl std::fmt::Display) -> Unreadable {
        Unreadable { what: format!("{}, column `{}`", self.path.display(), column.as_str()), cause: cause.to_string() }
    }

    /// Reads a part of the file and compares its checksum.
    fn read(&self, column: Column, place: Extent) -> Result<Bytes, Unreadable> {
        let failed = |error: std::io::Error| self.unreadable(column, error);
        let file = disk::open(&self.path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length != self.bytes {
            return Err(self.unreadable(column, format!("the file has {length} bytes and had {}", self.bytes)));
        }
        // The place lies within the file, so the file's size limits the memory.
        let mut bytes = vec![0; place.bytes as usize];
        file.read_exact_at(&mut bytes, place.at).map_err(failed)?;
        match crc32fast::hash(&bytes) == place.crc {
            true => Ok(bytes.into()),
            false => Err(self.unreadable(column, "its bytes are damaged")),
        }
    }

    /// The pages of a column.
    fn pages(&self, column: Column, known: &ColumnIndex) -> Result<SerializedPageReader<Bytes>, Unreadable> {
        let bytes = self.read(column, known.pages)?;
        let wrong = |error| self.unreadable(column, error);
        let chunk = ColumnChunkMetaData::builder(schema::described(column).map_err(wrong)?)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_total_compressed_size(bytes.len() as i64)
            .set_data_page_offset(0)
            .set_num_values(self.span.rows as i64)
            .build()
            .map_err(wrong)?;
        SerializedPageReader::new(Arc::new(bytes), &chunk, self.span.rows, None).map_err(wrong)
    }
}

impl Part for Segment {
    fn span(&self) -> Span {
        self.span
    }

    fn may_have(&self, column: Column, text: &str) -> bool {
        // A segment that is older than the column has no text there.
        let Some(known) = self.known(column) else { return text.is_empty() };
        match (&known.texts, &known.filter) {
            (Some(texts), _) => texts.iter().any(|known| known == text),
            (None, Some(place)) => {
                let filter = self.read(column, **place).ok().and_then(|bytes| Sbbf::from_bytes(&bytes).ok());
                filter.is_none_or(|filter| filter.check(text))
            }
            (None, None) => true,
        }
    }

    fn range(&self, column: Column) -> Option<(i64, i64)> {
        if column.is_text() {
            return None;
        }
        self.known(column).map_or(Some((0, 0)), |known| known.range)
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        if !column.is_text() {
            return Ok(Coded::default());
        }
        let rows = self.span.rows;
        let constant = |text: &str| Coded { texts: Arc::new(Texts::from_iter([text])), codes: vec![0; rows] };
        let Some(known) = self.known(column) else { return Ok(constant("")) };
        if let Some(texts) = known.texts.as_ref().filter(|texts| texts.len() == 1) {
            return Ok(constant(&texts[0]));
        }
        texts::read(self.pages(column, known)?, rows).map_err(|error| self.unreadable(column, error))
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        if column.is_text() {
            return Ok(Vec::new());
        }
        let rows = self.span.rows;
        let Some(known) = self.known(column) else { return Ok(vec![0; rows]) };
        match known.range {
            Some((lowest, highest)) if lowest == highest => Ok(vec![lowest; rows]),
            _ => {
                numbers::read(column, self.pages(column, known)?, rows).map_err(|error| self.unreadable(column, error))
            }
        }
    }

    fn text(&self, column: Column, row: usize) -> Result<String, Unreadable> {
        let Some(known) = self.known(column).filter(|_| column.is_text() && row < self.span.rows) else {
            return Ok(String::new());
        };
        if let Some(texts) = known.texts.as_ref().filter(|texts| texts.len() == 1) {
            return Ok(texts[0].to_owned());
        }
        texts::read_one(self.pages(column, known)?, row).map_err(|error| self.unreadable(column, error))
    }

    fn number(&self, column: Column, row: usize) -> Result<i64, Unreadable> {
        let Some(known) = self.known(column).filter(|_| !column.is_text() && row < self.span.rows) else {
            return Ok(0);
        };
        if let Some((low, high)) = known.range
            && low == high
        {
            return Ok(low);
        }
        let wrong = |cause| self.unreadable(column, cause);
        numbers::read_one(column, self.pages(column, known)?, row).map_err(wrong)
    }

    fn bytes(&self, column: Column) -> u64 {
        self.known(column).filter(|known| !known.is_constant()).map_or(0, |known| known.pages.bytes)
    }
}

/// The last bytes of a file: `most` at most.
fn read_end(file: &File, length: u64, most: u64) -> std::io::Result<Vec<u8>> {
    let most = length.min(most);
    let mut end = vec![0; most as usize];
    file.read_exact_at(&mut end, length - most)?;
    Ok(end)
}
