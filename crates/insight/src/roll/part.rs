//! Counted rows as a part of the stored events, so that questions read them like any other part.

use super::buckets::Buckets;
use super::counts::Counts;
use super::folder::RollFile;
use super::parquet::{CountsFile, SPREADS};
use super::rows::{Key, Rows, TEXTS};
use crate::column::Column;
use crate::part::{Coded, Part, Rolled, Span, Unreadable};
use crate::texts::Texts;
use ::parquet::errors::ParquetError;
use std::sync::Arc;

/// The rows in memory that began in some time.
#[derive(Debug)]
pub(super) struct MemoryPart {
    texts: Arc<Texts>,
    rows: Vec<(Key, Counts)>,
    span: Span,
}

impl MemoryPart {
    /// Copies the rows that began in `from..to`.
    pub(super) fn of(all: &Rows, from: i64, to: i64) -> Self {
        let rows: Vec<_> = all.rows.iter().filter(|(key, _)| (from..to).contains(&key.at)).cloned().collect();
        let times = rows.iter().map(|(key, _)| key.at);
        let (first, last) = (times.clone().min().unwrap_or_default(), times.max().unwrap_or_default());
        let events = rows.iter().map(|(_, counts)| counts.events).sum();
        let span = Span { rows: rows.len(), events, from: first, to: last };
        Self { texts: Arc::new(all.texts.iter().collect()), rows, span }
    }

    /// The rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&Key, &Counts)> {
        self.rows.iter().map(|(key, counts)| (key, counts))
    }

    /// The text of a place.
    pub(super) fn text(&self, place: u32) -> &str {
        &self.texts[place as usize]
    }
}

impl Part for MemoryPart {
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
        let codes = self.rows.iter().map(|(key, _)| key.texts[place]).collect();
        Ok(Coded { texts: self.texts.clone(), codes })
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
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
        Ok(self.rows.iter().map(|(key, counts)| cell(key, counts).cast_signed()).collect())
    }

    fn bytes(&self, _: Column) -> u64 {
        0
    }

    fn rolled(&self) -> Option<&dyn Rolled> {
        Some(self)
    }
}

impl Rolled for MemoryPart {
    fn buckets(&self, column: Column) -> Result<Vec<Buckets>, Unreadable> {
        let place = spread(column)?;
        Ok(self.rows.iter().map(|(_, counts)| counts.spread(place).clone()).collect())
    }

    fn highest(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        let place = spread(column)?;
        let highest = self.rows.iter().map(|(_, counts)| counts.spread(place).highest());
        Ok(highest.map(|highest| i64::try_from(highest).unwrap_or(i64::MAX)).collect())
    }
}

/// The rows of a file that began in some time.
#[derive(Debug)]
pub(super) struct FilePart {
    file: Arc<RollFile>,
    /// The places of the rows. `None`: all of them.
    places: Option<Vec<u32>>,
    span: Span,
}

impl FilePart {
    /// The rows that began in `from..to`. A file that lies partly outside of it is read.
    pub(super) fn of(file: &Arc<RollFile>, from: i64, to: i64) -> Result<Self, Unreadable> {
        let name = &file.name;
        let rows = usize::try_from(name.rows).unwrap_or_default();
        let span = Span { rows, events: name.events, from: name.from, to: name.to };
        if from <= name.from && name.to < to {
            return Ok(Self { file: file.clone(), places: None, span });
        }
        let all = Self { file: file.clone(), places: None, span };
        let (at, events) = (all.numbers(Column::At)?, all.numbers(Column::Weight)?);
        let inside = |place: &u32| (from..to).contains(&at[*place as usize]);
        let places: Vec<u32> = (0..at.len() as u32).filter(inside).collect();
        let events = places.iter().map(|place| events[*place as usize].max(0).cast_unsigned()).sum();
        let span =
            Span { rows: places.len(), events, from: name.from.max(from), to: name.to.min(to.saturating_sub(1)) };
        Ok(Self { file: file.clone(), places: Some(places), span })
    }

    fn read<T>(&self, read: impl FnOnce(&CountsFile) -> Result<T, ParquetError>) -> Result<T, Unreadable> {
        let unreadable =
            |error: ParquetError| Unreadable { what: self.file.path.display().to_string(), cause: error.to_string() };
        read(&self.file.open()?).map_err(unreadable)
    }

    fn pick<T: Clone>(&self, all: Vec<T>) -> Vec<T> {
        match &self.places {
            None => all,
            Some(places) => places.iter().map(|place| all[*place as usize].clone()).collect(),
        }
    }
}

impl Part for FilePart {
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
        let Coded { texts, codes } = self.read(|file| file.texts(place))?;
        Ok(Coded { texts, codes: self.pick(codes) })
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        let cells = self.read(|file| match column {
            Column::At => file.at().map(Some),
            Column::Status => file.status().map(Some),
            Column::Weight => file.events().map(Some),
            Column::BytesIn => file.bytes(false).map(Some),
            Column::BytesOut => file.bytes(true).map(Some),
            _ => spread(column).ok().map(|place| file.sums(place)).transpose(),
        })?;
        Ok(self.pick(cells.ok_or_else(|| not_counted(column))?))
    }

    fn bytes(&self, _: Column) -> u64 {
        self.file.bytes
    }

    fn rolled(&self) -> Option<&dyn Rolled> {
        Some(self)
    }
}

impl Rolled for FilePart {
    fn buckets(&self, column: Column) -> Result<Vec<Buckets>, Unreadable> {
        let place = spread(column)?;
        Ok(self.pick(self.read(|file| file.spreads(place))?))
    }

    fn highest(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        let place = spread(column)?;
        Ok(self.pick(self.read(|file| file.highest(place))?))
    }
}

/// The place of a duration in [`SPREADS`].
fn spread(column: Column) -> Result<usize, Unreadable> {
    SPREADS.iter().position(|own| *own == column).ok_or_else(|| not_counted(column))
}

fn not_counted(column: Column) -> Unreadable {
    Unreadable { what: format!("column `{}`", column.as_str()), cause: "it is not counted by minute".to_owned() }
}
