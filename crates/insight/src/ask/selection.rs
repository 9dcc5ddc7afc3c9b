//! The rows of a part that a filter chooses. Each text of a column is compared once, not once for each row.

use super::columns::{Columns, Rows, turns};
use super::question::{Filter, Is, Value};
use crate::column::Column;
use crate::part::{Part, Unreadable};
use telemetry::Millis;

/// Whether a filter holds for all rows of a part (`true`) or for none (`false`), as far as the part knows without being read.
pub(super) fn holds(filter: &Filter, part: &dyn Part) -> Option<bool> {
    match filter {
        Filter::All(all) => known(all, part, false),
        Filter::Any(any) => known(any, part, true),
        Filter::Not(not) => holds(not, part).map(|holds| !holds),
        Filter::Test { column, is, value: Value::Text(text) } => match is {
            Is::Equal if !part.may_have(*column, text) => Some(false),
            Is::NotEqual if !part.may_have(*column, text) => Some(true),
            _ => None,
        },
        Filter::Test { column, is, value: Value::Number(value) } => {
            let (low, high) = part.range(*column)?;
            match is {
                Is::NotEqual if *value < low || high < *value => Some(true),
                Is::Equal if *value < low || high < *value => Some(false),
                Is::Equal | Is::NotEqual if low != high => None,
                _ => {
                    let ends = [low, high].map(|cell| is.holds_for_order(cell.cmp(value)));
                    (ends[0] == ends[1]).then_some(ends[0])
                }
            }
        }
    }
}

/// Whether some filters hold together: one that is `deciding` decides.
fn known(filters: &[Filter], part: &dyn Part, deciding: bool) -> Option<bool> {
    let mut all_known = true;
    for filter in filters {
        match holds(filter, part) {
            Some(holds) if holds == deciding => return Some(deciding),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(!deciding)
}

/// A bit for each row of a part.
#[derive(Debug, Clone)]
pub(super) struct Bits {
    words: Vec<u64>,
    rows: usize,
}

impl Bits {
    /// The same bit for all rows.
    fn all(rows: usize, bit: bool) -> Self {
        let mut bits = Self { words: vec![if bit { u64::MAX } else { 0 }; rows.div_ceil(64)], rows };
        bits.clip();
        bits
    }

    /// A bit for each value.
    fn of<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> Self {
        let mut words = Vec::with_capacity(values.len().div_ceil(64));
        for turn in turns(values.len()) {
            for chunk in values[turn].chunks(64) {
                let bits = chunk.iter().enumerate().map(|(place, value)| u64::from(test(*value)) << place);
                words.push(bits.fold(0, |word, bit| word | bit));
            }
        }
        Self { words, rows: values.len() }
    }

    /// Clears the bits behind the last row.
    fn clip(&mut self) {
        if let (Some(last), rest @ 1..) = (self.words.last_mut(), self.rows % 64) {
            *last &= (1 << rest) - 1;
        }
    }

    /// Keeps the bits that are also in `other`.
    pub(super) fn and(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine &= theirs);
    }

    /// Adds the bits of `other`.
    fn or(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// Turns each bit.
    pub(super) fn turn(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.clip();
    }

    /// How many bits are set.
    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the bit of this row is set.
    pub(super) fn has(&self, row: usize) -> bool {
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    /// The rows whose bits are set.
    pub(super) fn rows(&self) -> Rows {
        let count = self.count();
        if count == self.rows {
            return Rows::All(count);
        }
        let mut places = Vec::with_capacity(count);
        for (place, word) in self.words.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                places.push(place as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
        Rows::At(places)
    }
}

/// The rows between two moments.
pub(super) fn between(columns: &mut Columns, from: Millis, to: Millis) -> Result<Bits, Unreadable> {
    let span = columns.part().span();
    if from.0 <= span.from && span.to < to.0 {
        return Ok(Bits::all(columns.rows(), true));
    }
    let at = columns.numbers(Column::At)?;
    Ok(Bits::of(&at, |at| from.0 <= at && at < to.0))
}

/// The rows whose cells are greater than a value.
pub(super) fn above(columns: &mut Columns, column: Column, value: i64) -> Result<Bits, Unreadable> {
    let cells = columns.numbers(column)?;
    Ok(Bits::of(&cells, |cell| cell > value))
}

/// The rows for which a filter holds.
pub(super) fn chosen(filter: &Filter, columns: &mut Columns) -> Result<Bits, Unreadable> {
    let rows = columns.rows();
    if let Some(all) = holds(filter, columns.part()) {
        return Ok(Bits::all(rows, all));
    }
    match filter {
        Filter::All(filters) => {
            let mut bits = Bits::all(rows, true);
            for filter in filters {
                bits.and(&chosen(filter, columns)?);
                // The other columns need not be read.
                if bits.count() == 0 {
                    break;
                }
            }
            Ok(bits)
        }
        Filter::Any(filters) => {
            let mut bits = Bits::all(rows, false);
            for filter in filters {
                bits.or(&chosen(filter, columns)?);
            }
            Ok(bits)
        }
        Filter::Not(filter) => {
            let mut bits = chosen(filter, columns)?;
            bits.turn();
            Ok(bits)
        }
        Filter::Test { column, is, value: Value::Text(value) } => {
            let cells = columns.texts(*column)?;
            let fitting: Vec<bool> = cells.texts.iter().map(|text| is.holds_for_text(text, value)).collect();
            Ok(Bits::of(&cells.codes, |code| fitting[code as usize]))
        }
        Filter::Test { column, is, value: Value::Number(value) } => {
            let (cells, value) = (columns.numbers(*column)?, *value);
            Ok(match is {
                Is::Equal => Bits::of(&cells, |cell| cell == value),
                Is::NotEqual => Bits::of(&cells, |cell| cell != value),
                Is::Less => Bits::of(&cells, |cell| cell < value),
                Is::AtMost => Bits::of(&cells, |cell| cell <= value),
                Is::Greater => Bits::of(&cells, |cell| cell > value),
                Is::AtLeast => Bits::of(&cells, |cell| cell >= value),
                Is::StartsWith | Is::EndsWith | Is::Contains => Bits::all(rows, false),
            })
        }
    }
}
