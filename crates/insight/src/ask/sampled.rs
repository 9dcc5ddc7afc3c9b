//! Rows of both sides of a comparison, taken evenly from parts.

use super::columns::{Columns, Rows};
use super::question::{Compare, Filter, Question};
use super::selection::{Bits, between, chosen};
use crate::column::{Column, ColumnKind, LINE};
use crate::interner::Interner;
use crate::part::Unreadable;
use telemetry::Millis;

/// The most rows of a side that are looked at.
pub(super) const ROWS_MAX: usize = 1 << 15;

/// With so many rows of each side no further parts are seen: a share then has a standard error of at most 0.6 %.
const ENOUGH: usize = ROWS_MAX / 4;

/// Columns in which two sides are not compared: ids and moments, results of storing, and times, which [`LINE`] shows.
const HIDDEN: &[Column] = &[
    Column::At,
    Column::Id,
    Column::Flight,
    Column::Trace,
    Column::Weight,
    Column::KeptBecause,
    Column::More,
    Column::FirstByte,
    Column::Duration,
    Column::SlowestMemberTime,
];

/// A column tells the same as the other, so a filter on one hides both.
const SAME: &[(Column, Column)] = &[
    (Column::Status, Column::Outcome),
    (Column::Repository, Column::RepositoryKind),
    (Column::Repository, Column::Format),
];

/// Columns of numbers that are compared value by value.
pub(super) const NAMED: &[Column] = &[Column::Status, Column::UpstreamStatus];

/// Rows of both sides.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) sides: [Sums; 2],
    /// For each row its side, 0 or 1, and the events for which it stands.
    pub(super) rows: Vec<(u8, f64)>,
    /// The columns that are compared, with a cell for each row.
    pub(super) columns: Vec<(Column, Cells)>,
    bytes: usize,
}

/// Sums over the rows of one side.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// Events of all rows, sampled or not.
    pub(super) events: u64,
    /// Sampled rows.
    pub(super) rows: usize,
    /// The weights of the sampled rows, and their squares.
    pub(super) weights: f64,
    pub(super) squares: f64,
    /// The duration, then the columns of [`LINE`], in microseconds.
    pub(super) times: Vec<f64>,
}

impl Default for Sums {
    fn default() -> Self {
        Self { events: 0, rows: 0, weights: 0.0, squares: 0.0, times: vec![0.0; LINE.len() + 1] }
    }
}

/// The cells of the sampled rows.
#[derive(Debug)]
pub(super) enum Cells {
    /// Places in a list of texts.
    Texts {
        texts: Interner,
        codes: Vec<u32>,
    },
    Numbers(Vec<i64>),
}

impl Sample {
    /// No rows of the columns in which the filter's events can differ.
    pub(super) fn new(filtered: &[Column]) -> Self {
        let hidden = |column: &Column| {
            let same = SAME
                .iter()
                .any(|(a, b)| (a == column && filtered.contains(b)) || (b == column && filtered.contains(a)));
            same || HIDDEN.contains(column) || LINE.contains(column) || filtered.contains(column)
        };
        let cells = |column: &Column| match column.kind() {
            ColumnKind::Text => (*column, Cells::Texts { texts: Interner::default(), codes: Vec::new() }),
            _ => (*column, Cells::Numbers(Vec::new())),
        };
        let columns = Column::ALL.iter().filter(|column| !hidden(column)).map(cells).collect();
        Self { sides: [Sums::default(), Sums::default()], rows: Vec::new(), columns, bytes: 0 }
    }

    /// Whether both sides have enough rows.
    pub(super) fn is_enough(&self) -> bool {
        self.sides.iter().all(|side| side.rows >= ENOUGH)
    }

    /// An estimate of the memory that is used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.rows.len() * size_of::<(u8, f64)>()
    }

    /// Chooses rows of a part, of each side at most so many. Their cells are not read yet.
    pub(super) fn take(&self, question: &Question, columns: &mut Columns, most: usize) -> Result<Taken, Unreadable> {
        let sides = sides(question, columns)?;
        let weights = columns.numbers(Column::Weight)?;
        let weight = |place: u32| weights[place as usize].max(1);
        let mut taken = Taken::default();
        for (side, bits) in sides.iter().enumerate() {
            let places = match bits.rows() {
                Rows::All(count) => (0..count as u32).collect(),
                Rows::At(places) => places,
            };
            taken.events[side] = places.iter().map(|place| weight(*place).cast_unsigned()).sum::<u64>();
            let room = most.min(ROWS_MAX.saturating_sub(self.sides[side].rows));
            let stride = places.len().div_ceil(room.max(1)).max(1);
            let found = places.len();
            let chosen = places.into_iter().step_by(stride).take(if room > 0 { found } else { 0 });
            let before = taken.places.len();
            taken.places.extend(chosen);
            let chosen = &taken.places[before..];
            let rows = chosen.iter().map(|place| (side as u8, (weight(*place) * stride as i64) as f64));
            taken.rows.extend(rows);
            taken.sampled |= chosen.len() < found;
        }
        Ok(taken)
    }

    /// Reads the next column of the rows that were taken. Returns whether all were read.
    pub(super) fn read(&self, columns: &mut Columns, taken: &mut Taken) -> Result<bool, Unreadable> {
        if taken.places.is_empty() {
            return Ok(true);
        }
        let mut times = [Column::Duration].into_iter().chain(LINE.iter().copied());
        if let Some(column) = times.nth(taken.times.len()) {
            let cells = columns.numbers(column)?;
            taken.times.push(taken.places.iter().map(|place| cells[*place as usize]).collect());
        } else if let Some((column, _)) = self.columns.get(taken.cells.len()) {
            taken.cells.push(picked(columns, *column, &taken.places)?);
        }
        Ok(taken.times.len() > LINE.len() && taken.cells.len() == self.columns.len())
    }

    /// Counts rows, all of whose columns were read.
    pub(super) fn count(&mut self, taken: Taken) {
        self.columns.iter_mut().zip(taken.cells).for_each(|((_, mine), cells)| self.bytes += mine.append(cells));
        for (row, (side, weight)) in taken.rows.into_iter().enumerate() {
            self.rows.push((side, weight));
            self.sides[usize::from(side)].add(weight, taken.times.iter().map(|cells| cells[row]));
        }
        for (side, events) in self.sides.iter_mut().zip(taken.events) {
            side.events += events;
        }
    }
}

/// Rows of a part, while their cells are read.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Their places in the part: first those of one side, then those of the other.
    places: Vec<u32>,
    /// The side of each row, and the events for which it stands.
    rows: Vec<(u8, f64)>,
    /// The events of each side, also of rows that were not taken.
    events: [u64; 2],
    /// Some rows were not taken.
    sampled: bool,
    /// For each column of times the cells.
    times: Vec<Vec<i64>>,
    /// For each column that is compared the cells.
    cells: Vec<Cells>,
}

impl Taken {
    /// Whether each row of both sides was taken.
    pub(super) fn whole(&self) -> bool {
        !self.sampled
    }

    /// An estimate of its memory, in bytes. Its texts are few.
    pub(super) fn bytes(&self) -> usize {
        self.places.len() * (20 + 8 * (self.times.len() + self.cells.len()))
    }
}

impl Sums {
    fn add(&mut self, weight: f64, times: impl Iterator<Item = i64>) {
        self.rows += 1;
        self.weights += weight;
        self.squares += weight * weight;
        self.times.iter_mut().zip(times).for_each(|(sum, time)| *sum += weight * time as f64);
    }

    /// As many rows of the same weight tell as much as these.
    pub(super) fn telling(&self) -> f64 {
        if self.squares > 0.0 { self.weights * self.weights / self.squares } else { 0.0 }
    }

    /// The mean of a time, in milliseconds: 0 is the duration, the others those of [`LINE`].
    pub(super) fn mean(&self, time: usize) -> f64 {
        if self.weights > 0.0 { self.times[time] / self.weights / 1000.0 } else { 0.0 }
    }
}

/// The comparisons with `kind` that hold for every event of a filter which has others, too: the rest is of the same kinds then, as jobs
/// wait for other things than requests.
fn kinds(filter: &Filter) -> Option<Filter> {
    let Filter::All(all) = filter else { return None };
    let is_of_kind = |filter: &&Filter| matches!(filter, Filter::Test { column: Column::Kind, .. });
    let kinds: Vec<Filter> = all.iter().filter(is_of_kind).cloned().collect();
    (kinds.len() < all.len()).then_some(Filter::All(kinds))
}

/// The rows of a part that are of each side.
fn sides(question: &Question, columns: &mut Columns) -> Result<[Bits; 2], Unreadable> {
    let holds = chosen(&question.filter, columns)?;
    let mut selected = between(columns, question.from, question.to)?;
    let mut base = match question.compare {
        Some(Compare::Earlier(by)) => {
            let by = i64::try_from(by).unwrap_or(i64::MAX);
            let earlier = |at: Millis| Millis(at.0.saturating_sub(by));
            let mut base = between(columns, earlier(question.from), earlier(question.to))?;
            base.and(&holds);
            base
        }
        _ => {
            let (mut base, mut rest) = (selected.clone(), holds.clone());
            rest.turn();
            base.and(&rest);
            if let Some(kinds) = kinds(&question.filter) {
                base.and(&chosen(&kinds, columns)?);
            }
            base
        }
    };
    selected.and(&holds);
    // The times of an earlier day and of this one may overlap.
    let mut only = selected.clone();
    only.turn();
    base.and(&only);
    Ok([selected, base])
}

/// The cells of a column at these places.
fn picked(columns: &mut Columns, column: Column, places: &[u32]) -> Result<Cells, Unreadable> {
    if !column.is_text() {
        let cells = columns.numbers(column)?;
        return Ok(Cells::Numbers(places.iter().map(|place| cells[*place as usize]).collect()));
    }
    let (cells, mut texts) = (columns.texts(column)?, Interner::default());
    let code = |place: &u32| texts.intern(&cells.texts[cells.codes[*place as usize] as usize]);
    let codes = places.iter().map(code).collect();
    Ok(Cells::Texts { texts, codes })
}

impl Cells {
    /// Appends cells. Returns the memory that they take, in bytes.
    fn append(&mut self, more: Cells) -> usize {
        match (self, more) {
            (Cells::Numbers(numbers), Cells::Numbers(more)) => {
                numbers.extend_from_slice(&more);
                more.len() * size_of::<i64>()
            }
            (Cells::Texts { texts, codes }, Cells::Texts { texts: more, codes: places }) => {
                let before = texts.bytes();
                let renumbered: Vec<u32> = more.texts().iter().map(|text| texts.intern(text)).collect();
                codes.extend(places.iter().map(|place| renumbered[*place as usize]));
                texts.bytes() - before + places.len() * size_of::<u32>()
            }
            (Cells::Numbers(_), Cells::Texts { .. }) | (Cells::Texts { .. }, Cells::Numbers(_)) => 0,
        }
    }
}
