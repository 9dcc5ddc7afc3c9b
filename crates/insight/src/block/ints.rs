//! A column of numbers in memory, as narrow as its range permits.

mod cells;

pub(super) use cells::Cells;
use std::borrow::Cow;

/// A column of numbers. A column whose cells are all equal takes no room. One that is being filled is wide, until [`Ints::narrow`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ints {
    /// The lowest cell; 0 without rows.
    low: i64,
    /// The highest cell; 0 without rows.
    high: i64,
    cells: Cells,
}

impl Default for Ints {
    fn default() -> Self {
        Self { low: 0, high: 0, cells: Cells::Same(0) }
    }
}

impl Ints {
    const PATCHED_ROWS: usize = 4096;

    /// These cells, as narrow as all of them permit.
    pub(super) fn of(values: Vec<i64>) -> Self {
        let Some((low, high)) = bounds(&values) else { return Self::default() };
        Self { low, high, cells: Cells::of(low, high, values) }
    }

    /// These cells, as narrow as most of them permit: for many cells that stay in memory for some time. Most durations are 0, and of the
    /// others most are short.
    pub(super) fn patched(values: Vec<i64>) -> Self {
        let Some((low, high)) = bounds(&values) else { return Self::default() };
        let offset = |value: &i64| value.wrapping_sub(low).cast_unsigned();
        let above = |limit: u64| values.iter().filter(|value| offset(value) > limit).count();
        let widths = [(0, 0), (0xFF, 1), (0xFFFF, 2), (0xFFFF_FFFF, 4), (u64::MAX, 8)];
        let width = |highest: u64| widths.iter().find(|(limit, _)| highest <= *limit).map_or(8, |(_, width)| *width);
        // A patch is a row and its cell.
        let patch = 2 + width(offset(&high));
        let bytes = |(limit, width): &(u64, usize)| values.len() * width + above(*limit) * patch;
        let (best, _) = widths.into_iter().min_by_key(bytes).unwrap_or((u64::MAX, 8));
        let wrong: Vec<usize> = (0..values.len()).filter(|row| offset(&values[*row]) > best).collect();
        let rows: Result<Vec<u16>, _> = wrong.iter().map(|row| u16::try_from(*row)).collect();
        match rows {
            Ok(rows) if !rows.is_empty() => {
                let right = Box::new(Self::of(wrong.iter().map(|row| values[*row]).collect()));
                let mut narrow = values;
                wrong.iter().for_each(|row| narrow[*row] = low);
                let most = bounds(&narrow).map_or(low, |(_, most)| most);
                Self { low, high, cells: Cells::Patched { cells: Box::new(Cells::of(low, most, narrow)), rows, right } }
            }
            _ => Self { low, high, cells: Cells::of(low, high, values) },
        }
    }

    /// Cells that were stored. `None`: they do not fit together.
    pub(super) fn stored(low: i64, cells: Cells) -> Option<Self> {
        let (least, most) = match &cells {
            Cells::Same(_) => (0, 0),
            Cells::Bytes(cells) => (i64::from(*cells.iter().min()?), i64::from(*cells.iter().max()?)),
            Cells::Halves(cells) => (i64::from(*cells.iter().min()?), i64::from(*cells.iter().max()?)),
            Cells::Words(cells) => (i64::from(*cells.iter().min()?), i64::from(*cells.iter().max()?)),
            Cells::Wide(wide) => {
                let (low, high) = (*wide.iter().min()?, *wide.iter().max()?);
                return Some(Self { low, high, cells });
            }
            Cells::Patched { .. } => return None,
        };
        // The lowest cell is the one without an offset.
        (least == 0).then_some(Self { low, high: low.checked_add(most)?, cells })
    }

    /// Appends a cell.
    pub(super) fn push(&mut self, value: i64) {
        match &mut self.cells {
            Cells::Wide(cells) => cells.push(value),
            Cells::Same(rows) if self.low == value => *rows += 1,
            Cells::Same(0) => *self = Self { low: value, high: value, cells: Cells::Same(1) },
            _ => {
                let mut cells = self.to_vec();
                cells.push(value);
                self.cells = Cells::Wide(cells);
            }
        }
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
    }

    /// Makes it as narrow as possible.
    pub(super) fn narrow(&mut self) {
        if let Cells::Wide(cells) = &mut self.cells {
            let mut cells = std::mem::take(cells);
            cells.shrink_to_fit();
            *self = Self::of(cells);
        }
    }

    /// All cells of several columns, one column after the other.
    pub(super) fn join<'a>(columns: impl Iterator<Item = &'a Ints> + Clone) -> Self {
        let mut some = columns.clone().filter(|column| column.rows() > 0);
        let Some(first) = some.next() else { return Self::default() };
        let rows = columns.clone().map(Ints::rows).sum();
        if first.low == first.high && some.all(|column| (column.low, column.high) == (first.low, first.low)) {
            return Self { cells: Cells::Same(rows), ..first.clone() };
        }
        let mut values = Vec::with_capacity(rows);
        columns.for_each(|column| column.append_to(&mut values));
        Self::joined(values)
    }

    /// The cells of a block that was joined.
    pub(super) fn joined(values: Vec<i64>) -> Self {
        // A small block is soon joined with others.
        if values.len() < Self::PATCHED_ROWS { Self::of(values) } else { Self::patched(values) }
    }

    pub(super) fn rows(&self) -> usize {
        self.cells.rows()
    }

    /// The lowest and the highest cell; `None` without rows.
    pub(super) fn range(&self) -> Option<(i64, i64)> {
        (self.rows() > 0).then_some((self.low, self.high))
    }

    /// The lowest cell and the cells, to store them. None are patched.
    pub(super) fn cells(&self) -> (i64, Cow<'_, Cells>) {
        match &self.cells {
            Cells::Patched { .. } => (self.low, Cow::Owned(Cells::of(self.low, self.high, self.to_vec()))),
            cells => (self.low, Cow::Borrowed(cells)),
        }
    }

    /// All cells.
    pub(super) fn to_vec(&self) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.rows() + 1);
        self.append_to(&mut values);
        values
    }

    /// Appends all cells to `values`.
    pub(super) fn append_to(&self, values: &mut Vec<i64>) {
        self.cells.append_to(self.low, values);
    }

    /// All cells as codes. Codes are never negative and never above `u32::MAX`.
    pub(super) fn codes(&self) -> Vec<u32> {
        self.cells.codes(self.low as u32)
    }

    /// The memory that the cells take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.cells.bytes()
    }
}

/// The lowest and the highest value.
fn bounds(values: &[i64]) -> Option<(i64, i64)> {
    Some((*values.iter().min()?, *values.iter().max()?))
}
