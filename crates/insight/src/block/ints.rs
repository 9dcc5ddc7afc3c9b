//! A column of numbers in memory, as narrow as its range permits.

/// A column of numbers. A column whose cells are all equal takes no room. One that is being filled is wide, until [`Ints::narrow`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ints {
    /// The lowest cell; 0 without rows.
    low: i64,
    /// The highest cell; 0 without rows.
    high: i64,
    cells: Cells,
}

/// The cells. Narrow ones are offsets from the lowest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cells {
    /// So many rows with the same cell.
    Same(usize),
    Bytes(Vec<u8>),
    Halves(Vec<u16>),
    Words(Vec<u32>),
    /// The cells themselves.
    Wide(Vec<i64>),
}

impl Default for Ints {
    fn default() -> Self {
        Self { low: 0, high: 0, cells: Cells::Same(0) }
    }
}

impl Ints {
    /// These cells, as narrow as possible.
    pub(super) fn of(values: Vec<i64>) -> Self {
        let (Some(&low), Some(&high)) = (values.iter().min(), values.iter().max()) else { return Self::default() };
        let offsets = values.iter().map(|value| value.wrapping_sub(low).cast_unsigned());
        // The casts lose nothing: no offset is above that of the highest.
        let cells = match high.wrapping_sub(low).cast_unsigned() {
            0 => Cells::Same(values.len()),
            1..=0xFF => Cells::Bytes(offsets.map(|offset| offset as u8).collect()),
            0x100..=0xFFFF => Cells::Halves(offsets.map(|offset| offset as u16).collect()),
            0x1_0000..=0xFFFF_FFFF => Cells::Words(offsets.map(|offset| offset as u32).collect()),
            _ => Cells::Wide(values),
        };
        Self { low, high, cells }
    }

    /// Cells that were stored. `None`: they do not fit together.
    pub(super) fn stored(low: i64, cells: Cells) -> Option<Self> {
        let high = match &cells {
            Cells::Same(_) => low,
            Cells::Bytes(cells) => low.checked_add(i64::from(*cells.iter().max()?))?,
            Cells::Halves(cells) => low.checked_add(i64::from(*cells.iter().max()?))?,
            Cells::Words(cells) => low.checked_add(i64::from(*cells.iter().max()?))?,
            Cells::Wide(wide) => {
                let (low, high) = (*wide.iter().min()?, *wide.iter().max()?);
                return Some(Self { low, high, cells });
            }
        };
        Some(Self { low, high, cells })
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
        Self::of(values)
    }

    pub(super) fn rows(&self) -> usize {
        match &self.cells {
            Cells::Same(rows) => *rows,
            Cells::Bytes(cells) => cells.len(),
            Cells::Halves(cells) => cells.len(),
            Cells::Words(cells) => cells.len(),
            Cells::Wide(cells) => cells.len(),
        }
    }

    /// The lowest and the highest cell; `None` without rows.
    pub(super) fn range(&self) -> Option<(i64, i64)> {
        (self.rows() > 0).then_some((self.low, self.high))
    }

    /// The lowest cell and the cells, to store them.
    pub(super) fn cells(&self) -> (i64, &Cells) {
        (self.low, &self.cells)
    }

    /// All cells.
    pub(super) fn to_vec(&self) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.rows() + 1);
        self.append_to(&mut values);
        values
    }

    /// Appends all cells to `values`.
    pub(super) fn append_to(&self, values: &mut Vec<i64>) {
        let low = self.low;
        match &self.cells {
            Cells::Same(rows) => values.resize(values.len() + rows, low),
            Cells::Bytes(cells) => values.extend(cells.iter().map(|cell| low + i64::from(*cell))),
            Cells::Halves(cells) => values.extend(cells.iter().map(|cell| low + i64::from(*cell))),
            Cells::Words(cells) => values.extend(cells.iter().map(|cell| low + i64::from(*cell))),
            Cells::Wide(cells) => values.extend(cells),
        }
    }

    /// All cells as codes. Codes are never negative and never above `u32::MAX`.
    pub(super) fn codes(&self) -> Vec<u32> {
        let low = self.low as u32;
        match &self.cells {
            Cells::Same(rows) => vec![low; *rows],
            Cells::Bytes(cells) => cells.iter().map(|cell| low + u32::from(*cell)).collect(),
            Cells::Halves(cells) => cells.iter().map(|cell| low + u32::from(*cell)).collect(),
            Cells::Words(cells) => cells.iter().map(|cell| low + *cell).collect(),
            Cells::Wide(cells) => cells.iter().map(|cell| *cell as u32).collect(),
        }
    }

    /// The memory that the cells take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match &self.cells {
            Cells::Same(_) => 0,
            Cells::Bytes(cells) => cells.capacity(),
            Cells::Halves(cells) => cells.capacity() * 2,
            Cells::Words(cells) => cells.capacity() * 4,
            Cells::Wide(cells) => cells.capacity() * 8,
        }
    }
}
