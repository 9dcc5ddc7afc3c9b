//! The figures of groups while they are counted. All are additive: they can be shown before all events were seen.

use super::cells::{Aggregate, Cells, outside};
use super::columns::{Chosen, Columns, turns};
use super::distinct::Distinct;
use super::distribution::Distribution;
use super::figure::Figure;
use super::question::Measure;
use super::selection::chosen;
use crate::column::{Column, ColumnKind};
use crate::hash::Seed;
use crate::part::Unreadable;
use std::hash::BuildHasher;
use std::sync::Arc;

/// The group of an event that is in no row.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// The figures of all groups of a question. Groups are numbered from 0.
#[derive(Debug)]
pub(crate) struct Aggregates {
    measures: Vec<Measure>,
    /// The first is [`Aggregate::Events`].
    needs: Vec<Aggregate>,
    cells: Vec<Cells>,
    groups: usize,
    bytes: usize,
    seed: Seed,
}

impl Aggregates {
    /// Nothing counted yet.
    pub(crate) fn new(measures: &[Measure]) -> Self {
        let mut needs = vec![Aggregate::Events];
        for measure in measures {
            let need = need(measure);
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        let cells = needs.iter().map(|need| match need {
            Aggregate::Events | Aggregate::Share(_) => Cells::Counts(Vec::new()),
            Aggregate::Sum(_) | Aggregate::Least(_) | Aggregate::Most(_) => Cells::Sums(Vec::new()),
            Aggregate::Distribution(_) => Cells::Distributions(Vec::new()),
            Aggregate::Distinct(_) => Cells::Distincts(Vec::new()),
        });
        let cells = cells.collect();
        Self { measures: measures.to_vec(), needs, cells, groups: 0, bytes: 0, seed: Seed::default() }
    }

    /// Values are hashed with this seed, which other nodes take as well.
    pub(super) fn seeded(self, seed: Option<u64>) -> Self {
        Self { seed: seed.map_or(self.seed, Seed::shared), ..self }
    }

    /// The counts of these groups.
    pub(super) fn of(&self, groups: &[u32]) -> Vec<Cells> {
        self.cells.iter().map(|cells| cells.of(groups)).collect()
    }

    /// Whether these are such counts, of so many groups.
    pub(super) fn fits(&self, groups: usize, counted: &[Cells]) -> bool {
        let is_alike = |(mine, other): (&Cells, &Cells)| {
            std::mem::discriminant(mine) == std::mem::discriminant(other) && other.len() == groups
        };
        self.cells.len() == counted.len() && self.cells.iter().zip(counted).all(is_alike)
    }

    /// Adds counts that fit: those of each place to the group with its number here.
    pub(super) fn merge(&mut self, groups: &[u32], counted: &[Cells]) {
        for ((need, mine), other) in self.needs.iter().zip(&mut self.cells).zip(counted) {
            self.bytes += mine.merge(need, groups, other);
        }
    }

    /// The columns that are read, some of them repeatedly.
    pub(super) fn columns(&self, columns: &mut Vec<Column>) {
        for need in &self.needs {
            match need {
                Aggregate::Events => {}
                Aggregate::Share(filter) => filter.columns(columns),
                Aggregate::Sum(column)
                | Aggregate::Least(column)
                | Aggregate::Most(column)
                | Aggregate::Distribution(column)
                | Aggregate::Distinct(column) => columns.push(*column),
            }
        }
    }

    /// Makes room for so many groups.
    pub(crate) fn grow(&mut self, groups: usize) {
        for (need, cells) in self.needs.iter().zip(&mut self.cells) {
            match cells {
                Cells::Counts(counts) => counts.resize(groups, 0),
                Cells::Sums(sums) => sums.resize(groups, first(need)),
                Cells::Distributions(distributions) => distributions.resize_with(groups, Distribution::default),
                Cells::Distincts(distincts) => distincts.resize_with(groups, Distinct::default),
            }
        }
        self.bytes += groups.saturating_sub(self.groups) * self.group_bytes();
        self.groups = groups;
    }

    /// The bytes of a group that has counted nothing.
    fn group_bytes(&self) -> usize {
        self.cells
            .iter()
            .map(|cells| match cells {
                Cells::Counts(_) | Cells::Sums(_) => size_of::<u64>(),
                Cells::Distributions(_) => size_of::<Distribution>(),
                Cells::Distincts(_) => size_of::<Distinct>(),
            })
            .sum()
    }

    /// An estimate of the memory that is used, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts the chosen rows of a part, each for its group.
    pub(super) fn count(
        &mut self,
        columns: &mut Columns,
        chosen_rows: &Chosen,
        groups: &[u32],
    ) -> Result<(), Unreadable> {
        let Chosen { rows, weights } = chosen_rows;
        let weights = weights.as_deref();
        let part = columns.shared_part();
        let aggregated = part.aggregated();
        for (need, cells) in self.needs.iter().zip(&mut self.cells) {
            match (need, cells) {
                (Aggregate::Events, Cells::Counts(counts)) => each(groups, weights, |_, group, weight| {
                    counts[group] += weight;
                }),
                (Aggregate::Share(filter), Cells::Counts(counts)) => {
                    let holds = chosen(filter, columns)?;
                    each(groups, weights, |row, group, weight| {
                        counts[group] += if holds.has(rows.place(row)) { weight } else { 0 };
                    });
                }
                (Aggregate::Sum(column), Cells::Sums(sums)) => {
                    let cells = columns.numbers(*column)?;
                    let cells = rows.pick(&cells);
                    // Aggregated cells are sums already.
                    let weights = weights.filter(|_| aggregated.is_none());
                    each(groups, weights, |row, group, weight| {
                        sums[group] = sums[group].saturating_add(cells[row].saturating_mul(weight.cast_signed()));
                    });
                }
                (Aggregate::Least(column), Cells::Sums(least)) => {
                    let cells = columns.numbers(*column)?;
                    let cells = rows.pick(&cells);
                    each(groups, None, |row, group, _| least[group] = least[group].min(cells[row]));
                }
                (Aggregate::Most(column), Cells::Sums(most)) => {
                    let cells = match aggregated.filter(|_| column.kind() == ColumnKind::Duration) {
                        Some(aggregated) => Arc::new(aggregated.highest(*column)?),
                        None => columns.numbers(*column)?,
                    };
                    let cells = rows.pick(&cells);
                    each(groups, None, |row, group, _| most[group] = most[group].max(cells[row]));
                }
                (Aggregate::Distribution(column), Cells::Distributions(distributions)) if aggregated.is_some() => {
                    let buckets =
                        aggregated.map(|aggregated| aggregated.buckets(*column)).transpose()?.unwrap_or_default();
                    let mut bytes = 0;
                    each(groups, None, |row, group, _| {
                        bytes += buckets.get(rows.place(row)).map_or(0, |buckets| distributions[group].merge(buckets));
                    });
                    self.bytes += bytes;
                }
                (Aggregate::Distribution(column), Cells::Distributions(distributions)) => {
                    let cells = columns.numbers(*column)?;
                    let cells = rows.pick(&cells);
                    let mut bytes = 0;
                    each(groups, weights, |row, group, weight| bytes += distributions[group].add(cells[row], weight));
                    self.bytes += bytes;
                }
                (Aggregate::Distinct(column), Cells::Distincts(distincts)) => {
                    let mut bytes = 0;
                    if column.is_text() {
                        let cells = columns.texts(*column)?;
                        let hashes: Vec<u64> = cells.texts.iter().map(|text| self.seed.hash_one(text)).collect();
                        let none = cells.texts.iter().position(|text| text.is_empty());
                        let codes = rows.pick(&cells.codes);
                        each(groups, None, |row, group, _| {
                            let code = codes[row] as usize;
                            if Some(code) != none {
                                bytes += distincts[group].add(hashes[code]);
                            }
                        });
                    } else {
                        let cells = columns.numbers(*column)?;
                        let cells = rows.pick(&cells);
                        let is_id = column.kind() == ColumnKind::Id;
                        each(groups, None, |row, group, _| {
                            if !(is_id && cells[row] == 0) {
                                bytes += distincts[group].add(self.seed.hash_one(cells[row]));
                            }
                        });
                    }
                    self.bytes += bytes;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Events of a group.
    pub(crate) fn events(&self, group: usize) -> u64 {
        self.scan(&Aggregate::Events, group)
    }

    /// The figure of a measure, by its place in the question, of a group whose events began within so many seconds.
    pub(crate) fn figure(&self, measure: usize, group: usize, seconds: f64) -> Figure {
        let events = self.events(group);
        let Some(measure) = self.measures.get(measure) else { return Figure::None };
        let whole = |count: u64| Figure::Whole(i64::try_from(count).unwrap_or(i64::MAX));
        match measure {
            Measure::Count => whole(events),
            Measure::Rate if seconds > 0.0 => Figure::rounded(events as f64 / seconds),
            Measure::Sum(column) => Figure::cell(*column, self.sum(&Aggregate::Sum(*column), group)),
            Measure::Distinct(_) => whole(self.distinct(&need(measure), group)),
            _ if events == 0 => Figure::None,
            Measure::Mean(column) => {
                let sum = self.sum(&Aggregate::Sum(*column), group) as f64;
                let unit = if column.kind() == ColumnKind::Duration { 1000.0 } else { 1.0 };
                Figure::rounded(sum / events as f64 / unit)
            }
            Measure::Min(column) | Measure::Max(column) => Figure::cell(*column, self.sum(&need(measure), group)),
            Measure::Quantile(part, column) => {
                match self.distribution(&need(measure), group).and_then(|s| s.quantile(*part)) {
                    Some(value) => Figure::cell(*column, i64::try_from(value).unwrap_or(i64::MAX)),
                    None => Figure::None,
                }
            }
            Measure::Share(_) => Figure::rounded(self.scan(&need(measure), group) as f64 / events as f64),
            Measure::Rate => Figure::None,
        }
    }

    /// The sum of a column that a measure needs.
    pub(super) fn sum_of(&self, column: Column, group: usize) -> i64 {
        self.sum(&Aggregate::Sum(column), group)
    }

    /// The greatest cell of a column of which a measure needs it.
    pub(super) fn most_of(&self, column: Column, group: usize) -> i64 {
        self.sum(&Aggregate::Most(column), group)
    }

    fn cells(&self, need: &Aggregate) -> Option<&Cells> {
        self.needs.iter().position(|mine| mine == need).map(|place| &self.cells[place])
    }

    fn scan(&self, need: &Aggregate, group: usize) -> u64 {
        let Some(Cells::Counts(counts)) = self.cells(need) else { return 0 };
        counts.get(group).copied().unwrap_or(0)
    }

    fn sum(&self, need: &Aggregate, group: usize) -> i64 {
        let Some(Cells::Sums(sums)) = self.cells(need) else { return 0 };
        sums.get(group).copied().unwrap_or(0)
    }

    fn distinct(&self, need: &Aggregate, group: usize) -> u64 {
        let Some(Cells::Distincts(distincts)) = self.cells(need) else { return 0 };
        distincts.get(group).map_or(0, Distinct::count)
    }

    fn distribution(&self, need: &Aggregate, group: usize) -> Option<&Distribution> {
        let Some(Cells::Distributions(distributions)) = self.cells(need) else { return None };
        distributions.get(group)
    }

    /// Keeps these groups, in this order.
    pub(crate) fn keep(&mut self, groups: &[u32]) {
        fn kept<T: Default>(all: &mut Vec<T>, groups: &[u32]) {
            *all = groups.iter().map(|group| std::mem::take(&mut all[*group as usize])).collect();
        }
        for cells in &mut self.cells {
            match cells {
                Cells::Counts(counts) => kept(counts, groups),
                Cells::Sums(sums) => kept(sums, groups),
                Cells::Distributions(distributions) => kept(distributions, groups),
                Cells::Distincts(distincts) => kept(distincts, groups),
            }
        }
        self.groups = groups.len();
        self.bytes = self.groups * self.group_bytes() + self.cells.iter().map(outside).sum::<usize>();
    }
}

/// The aggregate of a measure.
fn need(measure: &Measure) -> Aggregate {
    match measure {
        Measure::Count | Measure::Rate => Aggregate::Events,
        Measure::Sum(column) | Measure::Mean(column) => Aggregate::Sum(*column),
        Measure::Min(column) => Aggregate::Least(*column),
        Measure::Max(column) => Aggregate::Most(*column),
        Measure::Quantile(_, column) => Aggregate::Distribution(*column),
        Measure::Distinct(column) => Aggregate::Distinct(*column),
        Measure::Share(filter) => Aggregate::Share(filter.clone()),
    }
}

/// The sum, least or greatest cell of no events.
fn first(need: &Aggregate) -> i64 {
    match need {
        Aggregate::Least(_) => i64::MAX,
        Aggregate::Most(_) => i64::MIN,
        _ => 0,
    }
}

/// Calls `count` with the place, the group and the weight of each row that has a group.
fn each(groups: &[u32], weights: Option<&[i64]>, mut count: impl FnMut(usize, usize, u64)) {
    for turn in turns(groups.len()) {
        match weights {
            None => turn.for_each(|row| {
                if groups[row] != NO_GROUP {
                    count(row, groups[row] as usize, 1);
                }
            }),
            Some(weights) => turn.for_each(|row| {
                if groups[row] != NO_GROUP {
                    count(row, groups[row] as usize, weights[row].max(0).cast_unsigned());
                }
            }),
        }
    }
}
