//! The cells of a column of numbers, as offsets from the lowest one.

use super::Ints;

/// The cells. Narrow ones are offsets from the lowest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cells {
    /// The number of rows, which have the same cell.
    Same(usize),
    Bytes(Vec<u8>),
    Halves(Vec<u16>),
    Words(Vec<u32>),
    /// The cells themselves.
    Wide(Vec<i64>),
    /// Narrow cells, of which few are wrong, and the right cells of these rows.
    Patched {
        cells: Box<Cells>,
        rows: Vec<u16>,
        right: Box<Ints>,
    },
}

impl Cells {
    /// These cells between `low` and `high`, as narrow as all of them permit.
    pub(super) fn of(low: i64, high: i64, values: Vec<i64>) -> Self {
        let offsets = values.iter().map(|value| value.wrapping_sub(low).cast_unsigned());
        // The casts lose nothing: no offset is above that of the highest.
        match high.wrapping_sub(low).cast_unsigned() {
            0 => Cells::Same(values.len()),
            1..=0xFF => Cells::Bytes(offsets.map(|offset| offset as u8).collect()),
            0x100..=0xFFFF => Cells::Halves(offsets.map(|offset| offset as u16).collect()),
            0x1_0000..=0xFFFF_FFFF => Cells::Words(offsets.map(|offset| offset as u32).collect()),
            _ => Cells::Wide(values),
        }
    }

    pub(super) fn rows(&self) -> usize {
        match self {
            Cells::Same(rows) => *rows,
            Cells::Bytes(cells) => cells.len(),
            Cells::Halves(cells) => cells.len(),
            Cells::Words(cells) => cells.len(),
            Cells::Wide(cells) => cells.len(),
            Cells::Patched { cells, .. } => cells.rows(),
        }
    }

    pub(super) fn append_to(&self, low: i64, values: &mut Vec<i64>) {
        match self {
            Cells::Same(rows) => values.resize(values.len() + rows, low),
            Cells::Bytes(cells) => values.extend(cells.iter().map(|cell| low + i64::from(*cell))),
            Cells::Halves(cells) => values.extend(cells.iter().map(|cell| low + i64::from(*cell))),
            Cells::Words(cells) => values.extend(cells.iter().map(|cell| low + i64::from(*cell))),
            Cells::Wide(cells) => values.extend(cells),
            Cells::Patched { cells, rows, right } => {
                let first = values.len();
                cells.append_to(low, values);
                for (row, right) in rows.iter().zip(right.to_vec()) {
                    values[first + usize::from(*row)] = right;
                }
            }
        }
    }

    pub(super) fn codes(&self, low: u32) -> Vec<u32> {
        match self {
            Cells::Same(rows) => vec![low; *rows],
            Cells::Bytes(cells) => cells.iter().map(|cell| low.wrapping_add(u32::from(*cell))).collect(),
            Cells::Halves(cells) => cells.iter().map(|cell| low.wrapping_add(u32::from(*cell))).collect(),
            Cells::Words(cells) => cells.iter().map(|cell| low.wrapping_add(*cell)).collect(),
            Cells::Wide(cells) => cells.iter().map(|cell| *cell as u32).collect(),
            Cells::Patched { cells, rows, right } => {
                let mut codes = cells.codes(low);
                for (row, right) in rows.iter().zip(right.codes()) {
                    codes[usize::from(*row)] = right;
                }
                codes
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Cells::Same(_) => 0,
            Cells::Bytes(cells) => cells.capacity(),
            Cells::Halves(cells) => cells.capacity() * 2,
            Cells::Words(cells) => cells.capacity() * 4,
            Cells::Wide(cells) => cells.capacity() * 8,
            Cells::Patched { cells, rows, right } => {
                size_of::<Cells>() + cells.bytes() + rows.capacity() * 2 + size_of::<Ints>() + right.bytes()
            }
        }
    }
}
