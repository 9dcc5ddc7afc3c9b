//! The columns in which two sides differ, the most telling one first.
//!
//! A difference is a value, or a least number, that events of one side have more often. Its score is the correlation of having it and
//! being selected, as if one event of ten were selected. So a value that nearly all selected events have and few others is in front of one
//! that half of the others have as well, and of one that few selected events have.

use super::figure::Figure;
use super::sampled::{Cells, NAMED, Sample};
use crate::column::{Column, ColumnKind};

/// The part of the events that counts as selected in scores.
const SELECTED: f64 = 0.1;
/// Differences of so many standard errors are noise.
const NOISE: f64 = 3.0;
/// Values that hold for nearly the same events tell the same: the part of the events that they share.
const SAME: f64 = 0.9;
/// Values that fewer of the selected events have are not told.
const SUPPORT: f64 = 0.02;
/// Names that a person can act on. If two columns tell the same, the one that comes first here is in front.
const CAUSES: &[Column] = &[
    Column::SlowestMember,
    Column::UpstreamHost,
    Column::Reason,
    Column::UpstreamStatus,
    Column::AnsweredBy,
    Column::Repository,
    Column::Package,
    Column::Token,
    Column::Client,
];
/// A name of [`CAUSES`] is in front of an amount if its score, so many times larger, is the higher one: the member that was slow is in front of the number of
/// calls that its requests made.
const NAME: f64 = 1.1;
/// A column with more different values than this, for each row, names its rows one by one.
const UNIQUE: f64 = 0.9;

/// The names of the figures of a difference.
pub(super) const NAMES: [&str; 7] = ["column", "value", "score", "share", "base_share", "lift", "same"];

/// A value, or a least number, that one side has more often.
#[derive(Debug)]
struct Difference {
    /// The place of its column in the sample.
    column: usize,
    value: Has,
    score: f64,
    /// The parts of the sides that have it.
    shares: [f64; 2],
    /// Columns that tell the same.
    same: Vec<Column>,
}

/// Which rows have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Has {
    Code(u32),
    Number(i64),
    AtLeast(i64),
}

/// The rows of the answer: at most so many differences.
pub(super) fn rows(sample: &Sample, limit: usize) -> Vec<Vec<Figure>> {
    let mut all: Vec<Difference> = (0..sample.columns.len()).filter_map(|column| best(sample, column)).collect();
    let rank = |difference: &Difference| {
        difference.score * if CAUSES.contains(&sample.columns[difference.column].0) { NAME } else { 1.0 }
    };
    all.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let mut told: Vec<Difference> = Vec::new();
    for difference in all {
        match told.iter_mut().find(|earlier| same(sample, earlier, &difference)) {
            Some(earlier) => earlier.fold(difference, sample),
            None => told.push(difference),
        }
    }
    told.truncate(limit);
    told.iter().map(|difference| figures(sample, difference)).collect()
}

impl Difference {
    /// Adds a difference that tells the same.
    fn fold(&mut self, mut other: Difference, sample: &Sample) {
        let column = |difference: &Difference| sample.columns[difference.column].0;
        let cause = |difference: &Difference| CAUSES.iter().position(|cause| *cause == column(difference));
        if cause(&other).unwrap_or(CAUSES.len()) < cause(self).unwrap_or(CAUSES.len()) {
            std::mem::swap(self, &mut other);
            self.same = std::mem::take(&mut other.same);
        }
        self.same.push(column(&other));
    }
}

/// The most telling value of a column.
fn best(sample: &Sample, place: usize) -> Option<Difference> {
    let (column, cells) = &sample.columns[place];
    let candidates: Vec<(Has, [f64; 2])> = match cells {
        Cells::Texts { texts, codes, .. } => {
            if sample.rows.len() > 20 && texts.texts().len() as f64 > UNIQUE * sample.rows.len() as f64 {
                return None;
            }
            let mut counts = vec![[0.0; 2]; texts.texts().len()];
            for (code, (side, weight)) in codes.iter().zip(&sample.rows) {
                counts[*code as usize][usize::from(*side)] += weight;
            }
            // That a text is missing is told only by the texts that are there.
            let named = counts.into_iter().zip(0..).filter(|(_, code)| !texts.texts()[*code as usize].is_empty());
            named.map(|(counts, code)| (Has::Code(code), counts)).collect()
        }
        Cells::Numbers(numbers) if NAMED.contains(column) => {
            let mut counts = std::collections::BTreeMap::<i64, [f64; 2]>::new();
            for (number, (side, weight)) in numbers.iter().zip(&sample.rows) {
                counts.entry(*number).or_default()[usize::from(*side)] += weight;
            }
            let named = counts.into_iter().filter(|(number, _)| *number != 0);
            named.map(|(number, counts)| (Has::Number(number), counts)).collect()
        }
        Cells::Numbers(numbers) => {
            // Counts of rows by the bits of their numbers, then sums from the greatest.
            let mut counts = [[0.0; 2]; 64];
            for (number, (side, weight)) in numbers.iter().zip(&sample.rows) {
                counts[64 - number.max(&0).leading_zeros() as usize][usize::from(*side)] += weight;
            }
            for bits in (1..63).rev() {
                let [selected, base] = counts[bits + 1];
                counts[bits][0] += selected;
                counts[bits][1] += base;
            }
            (1..63).map(|bits| (Has::AtLeast(1 << (bits - 1)), counts[bits])).collect()
        }
    };
    let scored = candidates.into_iter().filter_map(|(value, counts)| {
        let share = |side: usize| counts[side] / sample.sides[side].weights.max(1.0);
        let shares = [share(0), share(1)];
        Some(Difference { column: place, value, score: score(sample, shares)?, shares, same: Vec::new() })
    });
    scored.max_by(|a, b| a.score.total_cmp(&b.score))
}

/// The score of a value that these parts of the sides have. `None`: the selected side does not have it more often.
fn score(sample: &Sample, [selected, base]: [f64; 2]) -> Option<f64> {
    let variance = |share: f64, side: usize| share * (1.0 - share) / sample.sides[side].telling().max(1.0);
    let noise = NOISE * (variance(selected, 0) + variance(base, 1)).sqrt();
    let difference = selected - base - noise;
    let both = SELECTED * selected + (1.0 - SELECTED) * base;
    let spread = (both * (1.0 - both)).sqrt();
    (difference > 0.0 && spread > 0.0 && selected >= SUPPORT)
        .then(|| difference * (SELECTED * (1.0 - SELECTED)).sqrt() / spread)
}

/// Whether a row has the value of a difference.
fn has(sample: &Sample, difference: &Difference, row: usize) -> bool {
    match (&sample.columns[difference.column].1, difference.value) {
        (Cells::Texts { codes, .. }, Has::Code(code)) => codes[row] == code,
        (Cells::Numbers(numbers), Has::Number(number)) => numbers[row] == number,
        (Cells::Numbers(numbers), Has::AtLeast(least)) => numbers[row] >= least,
        _ => false,
    }
}

/// Whether two differences hold for nearly the same events.
fn same(sample: &Sample, a: &Difference, b: &Difference) -> bool {
    let (mut both, mut one) = (0.0, 0.0);
    for (row, (side, weight)) in sample.rows.iter().enumerate() {
        // A side whose sample was full early stands for all its events.
        let side = &sample.sides[usize::from(*side)];
        let weight = weight * side.events as f64 / side.weights.max(1.0);
        let (a, b) = (has(sample, a, row), has(sample, b, row));
        both += if a && b { weight } else { 0.0 };
        one += if a || b { weight } else { 0.0 };
    }
    both > SAME * one
}

fn figures(sample: &Sample, difference: &Difference) -> Vec<Figure> {
    let (column, cells) = &sample.columns[difference.column];
    let value = match (difference.value, cells) {
        (Has::Code(code), Cells::Texts { texts, .. }) => texts.texts()[code as usize].to_owned(),
        (Has::AtLeast(least), _) if column.kind() == ColumnKind::Duration => format!(">= {}", least as f64 / 1000.0),
        (Has::AtLeast(least), _) => format!(">= {least}"),
        (Has::Number(number), _) => number.to_string(),
        (Has::Code(_), Cells::Numbers(_)) => String::new(),
    };
    let [share, base] = difference.shares;
    let same: Vec<&str> = difference.same.iter().map(|column| column.as_str()).collect();
    vec![
        Figure::Text(column.as_str().into()),
        Figure::Text(value.into()),
        Figure::rounded(difference.score),
        Figure::rounded(share),
        Figure::rounded(base),
        if base > 0.0 { Figure::rounded(share / base) } else { Figure::None },
        Figure::Text(same.join(", ").into()),
    ]
}
