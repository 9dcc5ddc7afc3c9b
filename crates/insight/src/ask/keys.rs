//! The keys of the chosen rows of one part, folded into one number for each row.

use super::columns::{Columns, Rows, turns};
use crate::column::Column;
use crate::hash::FastMap;
use crate::part::{Coded, Unreadable};
use std::sync::Arc;

/// Numbers below this index an array; larger ones are numbered again through a hash table.
const ARRAY: usize = 1 << 18;
/// The number of a value that has none yet.
const NONE: u32 = u32::MAX;

/// One key column of the chosen rows: a code for each row, below `size`.
#[derive(Debug)]
pub(super) struct Local {
    codes: Vec<u32>,
    size: usize,
    values: Values,
}

/// The values of codes.
#[derive(Debug)]
enum Values {
    Texts(Arc<Coded>),
    /// The code of 0.
    From(i64),
    Listed(Vec<i64>),
}

/// The value of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyValue<'l> {
    Text(&'l str),
    Number(i64),
}

impl Local {
    /// The codes of a column.
    pub(super) fn of(column: Column, columns: &mut Columns, rows: &Rows) -> Result<Self, Unreadable> {
        if column.is_text() {
            let cells = columns.texts(column)?;
            let codes = rows.pick(&cells.codes).into_owned();
            return Ok(Self { codes, size: cells.texts.len(), values: Values::Texts(cells) });
        }
        let cells = columns.numbers(column)?;
        Ok(Self::numbers(&rows.pick(&cells)))
    }

    /// Codes for numbers.
    pub(super) fn numbers(cells: &[i64]) -> Self {
        let (low, high) =
            cells.iter().fold((i64::MAX, i64::MIN), |(low, high), cell| (low.min(*cell), high.max(*cell)));
        let width = high.checked_sub(low).and_then(|width| usize::try_from(width).ok());
        if let Some(width) = width.filter(|width| *width < ARRAY) {
            let mut codes = Vec::with_capacity(cells.len());
            turns(cells.len()).for_each(|turn| codes.extend(cells[turn].iter().map(|cell| (cell - low) as u32)));
            return Self { codes, size: width + 1, values: Values::From(low) };
        }
        let (mut places, mut listed) = (FastMap::<i64, u32>::default(), Vec::new());
        let mut codes = Vec::with_capacity(cells.len());
        for turn in turns(cells.len()) {
            codes.extend(cells[turn].iter().map(|cell| {
                *places.entry(*cell).or_insert_with(|| {
                    listed.push(*cell);
                    listed.len() as u32 - 1
                })
            }));
        }
        Self { codes, size: listed.len(), values: Values::Listed(listed) }
    }

    /// Codes below `size` that are their own values.
    pub(super) fn coded(codes: Vec<u32>, size: usize) -> Self {
        Self { codes, size, values: Values::From(0) }
    }

    /// The code of a row.
    pub(super) fn code(&self, row: usize) -> usize {
        self.codes[row] as usize
    }

    /// The value of a code.
    pub(super) fn value(&self, code: usize) -> KeyValue<'_> {
        match &self.values {
            Values::Texts(coded) => KeyValue::Text(&coded.texts[code]),
            Values::From(low) => KeyValue::Number(low + code as i64),
            Values::Listed(listed) => KeyValue::Number(listed[code]),
        }
    }

    /// How many codes there may be.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

/// Rows with the same keys have the same number.
#[derive(Debug)]
pub(super) struct Folded {
    /// The number of each row.
    pub(super) numbers: Vec<u32>,
    /// For each number that occurs, a row that has it; others have `None`.
    pub(super) first: Vec<Option<u32>>,
}

/// Folds the keys of rows.
pub(super) fn fold(keys: &[Local], rows: usize) -> Folded {
    let (mut numbers, mut size) = match keys.first() {
        Some(key) => (key.codes.clone(), key.size),
        None => (vec![0; rows], 1),
    };
    for key in keys.iter().skip(1) {
        size = join(&mut numbers, size, key);
    }
    if size > ARRAY.max(rows) {
        size = renumber(&mut numbers, |number, _| number.into());
    }
    let mut first = vec![None; size];
    for turn in turns(rows) {
        for row in turn.rev() {
            first[numbers[row] as usize] = Some(row as u32);
        }
    }
    Folded { numbers, first }
}

/// Joins the numbers of rows with another key. Returns the number above all new ones.
fn join(numbers: &mut [u32], size: usize, key: &Local) -> usize {
    let product = size.saturating_mul(key.size);
    if product <= ARRAY {
        for turn in turns(numbers.len()) {
            for row in turn {
                numbers[row] = numbers[row] * key.size as u32 + key.codes[row];
            }
        }
        return product;
    }
    renumber(numbers, |number, row| u64::from(number) << 32 | u64::from(key.codes[row]))
}

/// Numbers rows by the order in which values occur. Returns how many there are.
fn renumber(numbers: &mut [u32], value: impl Fn(u32, usize) -> u64) -> usize {
    let mut places = FastMap::<u64, u32>::default();
    // Neighbours often have the same keys.
    let mut last = (0, NONE);
    for turn in turns(numbers.len()) {
        for row in turn {
            let value = value(numbers[row], row);
            if last.1 == NONE || last.0 != value {
                let next = places.len() as u32;
                last = (value, *places.entry(value).or_insert(next));
            }
            numbers[row] = last.1;
        }
    }
    places.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn rows_have_the_same_number_exactly_if_they_have_the_same_keys(
            rows in prop::collection::vec((0..9_i64, prop_oneof![0..5_i64, any::<i64>()], -3..3_i64), 0..300),
            wide in any::<bool>(),
        ) {
            let scale = if wide { 1 << 40 } else { 1 };
            let column = |take: fn(&(i64, i64, i64)) -> i64| Local::numbers(&rows.iter().map(take).collect::<Vec<_>>());
            let scaled: Vec<i64> = rows.iter().map(|row| row.0 * scale).collect();
            let keys = [Local::numbers(&scaled), column(|row| row.1), column(|row| row.2)];
            let folded = fold(&keys, rows.len());
            let mut known: HashMap<(i64, i64, i64), u32> = HashMap::new();
            for (row, number) in rows.iter().zip(&folded.numbers) {
                prop_assert_eq!(*known.entry(*row).or_insert(*number), *number);
            }
            let used = folded.first.iter().flatten().count();
            prop_assert_eq!(used, known.len());
            for (number, row) in folded.first.iter().enumerate() {
                if let Some(row) = row {
                    prop_assert_eq!(folded.numbers[*row as usize] as usize, number);
                }
            }
            for (row, values) in rows.iter().enumerate() {
                prop_assert_eq!(keys[1].value(keys[1].code(row)), KeyValue::Number(values.1));
            }
        }
    }

    #[test]
    fn without_keys_all_rows_have_one_number() {
        assert_eq!((fold(&[], 3).numbers, fold(&[], 3).first), (vec![0; 3], vec![Some(0)]));
        assert_eq!(fold(&[], 0).first, [None]);
    }
}
