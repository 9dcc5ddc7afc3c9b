//! Rows of rollups as a part of the stored events, so that questions read them like any other part.

use super::OTHER;
use super::buckets::Buckets;
use super::counts::Counts;
use super::folder::RollupFile;
use super::parquet::CountsFile;
use super::rows::{DURATIONS, Key, NUMBERS, Rows, TEXTS, number, whole};
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
        Self { rows: Source::Memory { texts: Arc::new(all.texts.texts().clone()), rows }, span }
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

impl RollupPart {
    /// Cells of the rows in memory, or of all rows of the file, of which those of the part are picked.
    fn cells<T: Clone>(
        &self,
        of_row: impl Fn(&(Key, Counts)) -> T,
        of_file: impl FnOnce(&CountsFile) -> Result<Vec<T>, ParquetError>,
    ) -> Result<Vec<T>, Unreadable> {
        match &self.rows {
            Source::Memory { rows, .. } => Ok(rows.iter().map(of_row).collect()),
            Source::File(file, places) => {
                let all = of_file(&file.open()?).map_err(|error| Unreadable::file(&file.path, error))?;
                Ok(match places {
                    None => all,
                    Some(places) => places.iter().map(|place| all[*place as usize].clone()).collect(),
                })
            }
        }
    }
}

impl Part for RollupPart {
    fn span(&self) -> Span {
        self.span
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        let place = TEXTS.iter().position(|own| *own == column).ok_or_else(|| not_counted(column))?;
        let mut texts = match &self.rows {
            Source::Memory { texts, .. } => texts.clone(),
            Source::File(..) => Arc::default(),
        };
        let codes = self.cells(
            |(key, _)| key.texts[place],
            |file| {
                let coded = file.texts(place)?;
                texts = coded.texts;
                Ok(coded.codes)
            },
        )?;
        Ok(Coded { texts, codes })
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        if column != Column::At && !NUMBERS.contains(&column) {
            duration(column)?;
        }
        self.cells(|row| number(row, column).unwrap_or_default(), |file| file.numbers(column))
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
        duration(column)?;
        self.cells(|(_, counts)| counts.distribution(column).clone(), |file| file.distributions(column))
    }

    fn highest(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        duration(column)?;
        self.cells(|(_, counts)| whole(counts.distribution(column).highest()), |file| file.highest(column))
    }
}

/// Fails for a column that is no duration of a rollup.
fn duration(column: Column) -> Result<(), Unreadable> {
    if DURATIONS.contains(&column) { Ok(()) } else { Err(not_counted(column)) }
}

fn not_counted(column: Column) -> Unreadable {
    Unreadable { what: format!("column `{}`", column.as_str()), cause: "it is not counted by minute".to_owned() }
}
