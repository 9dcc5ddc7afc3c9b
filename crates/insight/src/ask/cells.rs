//! The counts of the groups of a question for one aggregate, which other nodes can add.

use super::distinct::Distinct;
use super::distribution::Distribution;
use super::question::Filter;
use crate::column::Column;
use serde::{Deserialize, Serialize};

/// A figure that is counted for each group. Several measures share one: all quantiles of a column need the same values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Aggregate {
    /// Events.
    Events,
    /// The sum of a column's cells.
    Sum(Column),
    /// The least cell.
    Least(Column),
    /// The greatest cell.
    Most(Column),
    /// How often cells occur.
    Distribution(Column),
    /// How many cells differ.
    Distinct(Column),
    /// The events for which a filter holds.
    Share(Filter),
}

/// The counts for a need, for each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Cells {
    Counts(Vec<u64>),
    Sums(Vec<i64>),
    Distributions(Vec<Distribution>),
    Distincts(Vec<Distinct>),
}

impl Cells {
    /// Those of these groups.
    pub(super) fn of(&self, groups: &[u32]) -> Self {
        fn picked<T: Clone>(all: &[T], groups: &[u32]) -> Vec<T> {
            groups.iter().map(|group| all[*group as usize].clone()).collect()
        }
        match self {
            Self::Counts(counts) => Self::Counts(picked(counts, groups)),
            Self::Sums(sums) => Self::Sums(picked(sums, groups)),
            Self::Distributions(distributions) => Self::Distributions(picked(distributions, groups)),
            Self::Distincts(distincts) => Self::Distincts(picked(distincts, groups)),
        }
    }

    /// The number of groups.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Counts(counts) => counts.len(),
            Self::Sums(sums) => sums.len(),
            Self::Distributions(distributions) => distributions.len(),
            Self::Distincts(distincts) => distincts.len(),
        }
    }

    /// Adds the cells of another node, each to that of its group. Returns the bytes of memory that this took.
    pub(super) fn merge(&mut self, need: &Aggregate, groups: &[u32], other: &Cells) -> usize {
        let to = groups.iter().map(|group| *group as usize);
        match (self, other) {
            (Self::Counts(counts), Self::Counts(other)) => {
                to.zip(other).for_each(|(group, more)| counts[group] = counts[group].saturating_add(*more));
                0
            }
            (Self::Sums(sums), Self::Sums(other)) => {
                to.zip(other).for_each(|(group, more)| {
                    let sum = &mut sums[group];
                    *sum = match need {
                        Aggregate::Least(_) => *more.min(sum),
                        Aggregate::Most(_) => *more.max(sum),
                        _ => sum.saturating_add(*more),
                    };
                });
                0
            }
            (Self::Distributions(distributions), Self::Distributions(other)) => {
                to.zip(other).map(|(group, more)| distributions[group].join(more)).sum()
            }
            (Self::Distincts(distincts), Self::Distincts(other)) => {
                to.zip(other).map(|(group, more)| distincts[group].join(more)).sum()
            }
            _ => 0,
        }
    }
}

/// The memory behind the cells of groups, in bytes.
pub(super) fn outside(cells: &Cells) -> usize {
    match cells {
        Cells::Counts(_) | Cells::Sums(_) => 0,
        Cells::Distributions(distributions) => distributions.iter().map(Distribution::bytes).sum(),
        Cells::Distincts(distincts) => distincts.iter().map(Distinct::bytes).sum(),
    }
}
