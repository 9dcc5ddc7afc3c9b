//! A tenth of the rows of a segment, which stand for all of them.

use crate::column::Column;
use crate::interner::Interner;
use crate::part::{Coded, Part, Span, Unreadable};
use crate::random::Random;
use std::sync::Arc;
use telemetry::Because;

/// Rows of a part, chosen so that they stand for all of its rows.
#[derive(Debug)]
pub(super) struct Thinned<'p> {
    of: &'p dyn Part,
    /// The places of the rows, in order.
    rows: Vec<usize>,
    /// How many events each row stands for.
    weights: Vec<i64>,
    span: Span,
}

/// Of so many rows one stays.
const EACH: usize = 10;
/// Rows that are stored for one of these reasons stay.
const STAY: &[Because] =
    &[Because::Failed, Because::Member, Because::Slow, Because::Traced, Because::Job, Because::Evidence];

impl<'p> Thinned<'p> {
    /// Chooses one of ten rows each time, with a probability in proportion to its weight, and gives it the weight of all ten. So the sum of
    /// the weights stays the same, and so does the expected value of every other sum.
    pub(super) fn of(part: &'p dyn Part) -> Result<Self, Unreadable> {
        let (weights, because) = (part.numbers(Column::Weight)?, part.texts(Column::KeptBecause)?);
        let names: Vec<&str> = STAY.iter().map(|because| because.as_str()).collect();
        let stays: Vec<bool> = because.texts.iter().map(|text| names.contains(&text)).collect();
        let stays = |row: usize| because.codes.get(row).is_some_and(|code| stays.get(*code as usize) == Some(&true));
        let mut thinned = Self { of: part, rows: Vec::new(), weights: Vec::new(), span: part.span() };
        let (mut group, mut random) = (Vec::with_capacity(EACH), Random::default());
        for (row, weight) in weights.iter().enumerate() {
            if stays(row) {
                thinned.rows.push(row);
                thinned.weights.push(*weight);
                continue;
            }
            group.push((row, *weight));
            if group.len() == EACH {
                thinned.choose(&mut group, &mut random);
            }
        }
        if !group.is_empty() {
            thinned.choose(&mut group, &mut random);
        }
        thinned.in_order();
        thinned.span.rows = thinned.rows.len();
        Ok(thinned)
    }

    fn choose(&mut self, group: &mut Vec<(usize, i64)>, random: &mut Random) {
        let weight = |(_, weight): &(usize, i64)| (*weight).max(1).cast_unsigned();
        let all: u64 = group.iter().map(weight).sum();
        let mut left = random.below(all);
        let chosen = group.iter().find(|row| {
            let before = left;
            left = left.wrapping_sub(weight(row));
            before < weight(row)
        });
        if let Some((row, _)) = chosen {
            self.rows.push(*row);
            self.weights.push(all.cast_signed());
        }
        group.clear();
    }

    /// Sorts the rows by their places: the row of a group may lie before rows that stay.
    fn in_order(&mut self) {
        let mut both: Vec<(usize, i64)> = self.rows.drain(..).zip(self.weights.drain(..)).collect();
        both.sort_unstable();
        (self.rows, self.weights) = both.into_iter().unzip();
    }
}

impl Part for Thinned<'_> {
    fn span(&self) -> Span {
        self.span
    }

    fn may_have(&self, column: Column, text: &str) -> bool {
        self.of.may_have(column, text)
    }

    fn range(&self, column: Column) -> Option<(i64, i64)> {
        // A weight may be larger than all before.
        if column == Column::Weight { None } else { self.of.range(column) }
    }

    fn texts(&self, column: Column) -> Result<Coded, Unreadable> {
        let before = self.of.texts(column)?;
        let (all, sample) = (Because::All.as_str(), Because::Sample.as_str());
        // Only the texts that still occur.
        let mut texts = Interner::default();
        let mut codes = Vec::with_capacity(self.rows.len());
        for (row, weight) in self.rows.iter().zip(&self.weights) {
            let code = before.codes.get(*row).copied().unwrap_or_default() as usize;
            let text = match &before.texts[code] {
                text if column == Column::KeptBecause && *weight > 1 && text == all => sample,
                text => text,
            };
            codes.push(texts.intern(text));
        }
        Ok(Coded { texts: Arc::new(texts.into_texts()), codes })
    }

    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        if column == Column::Weight {
            return Ok(self.weights.clone());
        }
        let before = self.of.numbers(column)?;
        Ok(self.rows.iter().map(|row| before.get(*row).copied().unwrap_or_default()).collect())
    }

    fn bytes(&self, column: Column) -> u64 {
        self.of.bytes(column)
    }
}

#[cfg(test)]
mod tests;
