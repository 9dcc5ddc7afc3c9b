//! RollupScan rows as a part of the stored events, so that questions read them like any other part.

use super::OTHER;
use super::buckets::Buckets;
use super::counts::Counts;
use super::folder::RollupFile;
use super::parquet::{CountsFile, DURATIONS};
use super::rows::{Key, Rows, TEXTS};
use crate::column::Column;
use crate::part::{Aggregated, Coded, Part, Span, Unreadable};
use crate::texts::Texts;
use ::parquet::errors::ParquetError;
use std::sync::Arc;

/// The counted rows in memory, or of a file, that began in some time.
#[derive(Debug)]
pub(super) struct RollupPart {
    rows: Source,
    span: Span,
}

/// Where the rows are.
#[derive(Debug)]
enum Source {
    Memory {
        texts: Arc<Texts>,
        rows: Vec<(Key, Counts)>,
    },
    /// A file, and the places of the rows in it. `None`: all of them.
    File(Arc<RollupFile>, Option<Vec<u32>>),
}

impl RollupPart {
    /// Copies the rows that began in `from..to`.
    pub(super) fn in_memory(all: &Rows, from: i64, to: i64) -> Self {
        let rows: Vec<_> = all.rows.iter().filter(|(key, _)| (from..to).contains(&key.at)).cloned().collect();
        let times = rows.iter().map(|(key, _)| key.at);
        let (first, last) = (times.clone().min().unwrap_or_default(), times.max().unwrap_or_default());
        let events = rows.iter().map(|(_, counts)| counts.events).sum();
        let span = Span { rows: rows.len(), events, from: first, to: last };
        Self { rows: Source::Memory { texts: Arc::new(all.texts.iter().collect()), rows }, span }
    }

    /// The rows of a file that began in `from..to`. A file that lies partly outside of it is read.
    pub(super) fn of_file(file: &Arc<RollupFile>, from: i64, to: i64) -> Result<Self, Unreadable> {
        let name = &file.name;
        let rows = usize::try_from(name.rows).unwrap_or_default();
        let span = Span { rows, events: name.events, from: name.from, to: name.to };
        let all = Self { rows: Source::File(file.clone(), None), span };
        if from <= name.from && name.to < to {
            return Ok(all);
        }
        let (at, events) = (all.numbers(Column::At)?, all.numbers(Column::Weight)?);
        let inside = |place: &u32| (from..to).contains(&at[*place as usize]);
        let places: Vec<u32> = (0..at.len() as u32).filter(inside).collect();
        let events = places.iter().map(|place| events[*place as usize].max(0).cast_unsigned()).sum();
        let span =
            Span { rows: places.len(), events, from: name.from.max(from), to: name.to.min(to.saturating_sub(1)) };
        Ok(Self { rows: Source::File(file.clone(), Some(places)), span })
    }

    /// Whether a row has [`OTHER`] in a column: the kind, or the repository.
    pub(super) fn folds(&self, column: Column) -> bool {
        if let Source::File(file, places) = &self.rows {
            let events = if column == Column::Kind { file.name.unknown } else { file.name.folded };
            if events == 0 || places.is_none() {
                return events > 0;
            }
        }
        let has = |Coded { texts, codes }: Coded| codes.iter().any(|code| &texts[*code as usize] == OTHER);
        self.texts(column).map_or(true, has)
    }
}

/// Reads cells of all rows of a file, and picks those of some places.
fn read<T: Clone>(
    file: &RollupFile,
    places: Option<&Vec<u32>>,
    read: impl FnOnce(&CountsFile) -> Result<Vec<T>, ParquetError>,
) -> Result<Vec<T>, Unreadable> {
    let unreadable =
        |error: ParquetError| Unreadable { what: file.path.display().to_string(), cause: error.to_string() };
    let all = read(&file.open()?).map_err(unreadable)?;
    match places {
        None => Ok(all),
        Some(places) => Ok(places.iter().map(|place| all[*place as usize].clone()).collect()),
    }
}

impl Part for RollupPart {
    fn span(&self) -> Span {
        self.span
    }

    fn may_have(&self, _: Column, _: &str) -> bool {
        true
    }

    fn range(&self, _: Column) -> Option<(i64, i64)> {
        None
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        let place = TEXTS.iter().position(|own| *own == column).ok_or_else(|| not_counted(column))?;
        match &self.rows {
            Source::Memory { texts, rows } => {
                let codes = rows.iter().map(|(key, _)| key.texts[place]).collect();
                Ok(Coded { texts: texts.clone(), codes })
            }
            Source::File(file, places) => {
                let mut texts = Arc::default();
                let codes = read(file, places.as_ref(), |file| {
                    let coded = file.texts(place)?;
                    texts = coded.texts;
                    Ok(coded.codes)
                })?;
                Ok(Coded { texts, codes })
            }
        }
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        match &self.rows {
            Source::Memory { rows, .. } => {
                let cell: fn(&Key, &Counts) -> u64 = match column {
                    Column::At => |key, _| key.at.cast_unsigned(),
                    Column::Status => |key, _| key.status.into(),
                    Column::Weight => |_, counts| counts.events,
                    Column::BytesIn => |_, counts| counts.bytes_in,
                    Column::BytesOut => |_, counts| counts.bytes_out,
                    Column::FirstByte => |_, counts| counts.first_byte.sum(),
                    Column::Duration => |_, counts| counts.duration.sum(),
                    _ => return Err(not_counted(column)),
                };
                Ok(rows.iter().map(|(key, counts)| cell(key, counts).cast_signed()).collect())
            }
            Source::File(file, places) => {
                let cells: fn(&CountsFile) -> Result<Vec<i64>, ParquetError> = match column {
                    Column::At => CountsFile::at,
                    Column::Status => CountsFile::status,
                    Column::Weight => CountsFile::events,
                    Column::BytesIn => |file| file.bytes(false),
                    Column::BytesOut => |file| file.bytes(true),
                    Column::FirstByte => |file| file.sums(0),
                    Column::Duration => |file| file.sums(1),
                    _ => return Err(not_counted(column)),
                };
                read(file, places.as_ref(), cells)
            }
        }
    }

    fn bytes(&self, _: Column) -> u64 {
        match &self.rows {
            Source::Memory { .. } => 0,
            Source::File(file, _) => file.bytes,
        }
    }

    fn aggregated(&self) -> Option<&dyn Aggregated> {
        Some(self)
    }
}

impl Aggregated for RollupPart {
    fn buckets(&self, column: Column) -> Result<Vec<Buckets>, Unreadable> {
        let place = distribution(column)?;
        match &self.rows {
            Source::Memory { rows, .. } => {
                Ok(rows.iter().map(|(_, counts)| counts.distribution(place).clone()).collect())
            }
            Source::File(file, places) => read(file, places.as_ref(), |file| file.distributions(place)),
        }
    }

    fn highest(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        let place = distribution(column)?;
        match &self.rows {
            Source::Memory { rows, .. } => {
                let highest = rows.iter().map(|(_, counts)| counts.distribution(place).highest());
                Ok(highest.map(|highest| i64::try_from(highest).unwrap_or(i64::MAX)).collect())
            }
            Source::File(file, places) => read(file, places.as_ref(), |file| file.highest(place)),
        }
    }
}

/// The place of a duration in [`DURATIONS`].
fn distribution(column: Column) -> Result<usize, Unreadable> {
    DURATIONS.iter().position(|own| *own == column).ok_or_else(|| not_counted(column))
}

fn not_counted(column: Column) -> Unreadable {
    Unreadable { what: format!("column `{}`", column.as_str()), cause: "it is not counted by minute".to_owned() }
}
