//! A question while it is being answered, part by part, and large parts column by column.

use super::answer::{Answer, NotAnswered};
use super::columns::{Chosen, Columns, Rows};
use super::figure::Figure;
use super::figures::Figures;
use super::progress::{Progress, Steps};
use super::question::{Measure, Question};
use super::selection::{above, between, chosen, holds};
use super::series::Series;
use super::table::Table;
use crate::column::Column;
use crate::part::{Part, Unreadable};
use crate::rollup::RollupScan;
use std::sync::Arc;
use telemetry::{Millis, thread_nanos};

/// The most groups of a question. The others are left out.
const GROUPS_MAX: usize = 1 << 16;
/// The most cells of a series: stretches of all groups together.
const CELLS_MAX: usize = 1 << 17;
/// About the most memory of the figures that are sent to another node. Their JSON is a few times as large.
const FIGURES_BYTES: usize = 2 << 20;
/// A part with at most so many rows is seen in one step. A larger one takes a step for each column: its reading takes some milliseconds.
const STEP_ROWS: usize = 1 << 15;

/// A question while it is being answered.
#[derive(Debug)]
pub(super) struct Run {
    question: Question,
    progress: Progress,
    /// The part that was begun.
    begun: Option<Begun>,
    table: Table,
    series: Option<Series>,
    /// The columns that are read before anything is counted.
    counted: Vec<Column>,
    /// The columns that stay in memory while a part is seen.
    cached: Arc<[Column]>,
}

/// A part of which some columns were read, and nothing was counted yet.
#[derive(Debug)]
struct Begun {
    columns: Columns,
    /// `None`: it is not known yet which rows count.
    chosen: Option<Chosen>,
    /// The number of columns of [`Run::counted`] that were read.
    read: usize,
}

impl Run {
    /// Begins to answer a question from parts of its time, in this order.
    pub(super) fn new(question: Question, parts: Vec<Arc<dyn Part>>) -> Self {
        Self::limited(question, parts, GROUPS_MAX)
    }

    /// Begins to answer a question from counts. The answer tells the time that they cover.
    pub(super) fn of_counts(question: Question, counted: RollupScan) -> Self {
        let RollupScan { from, to, parts, unreadable, exact } = counted;
        let mut run = Self::new(Question { from, to, ..question }, parts);
        run.progress.exact = exact && unreadable.is_empty();
        run.progress.unreadable = unreadable.iter().take(Answer::UNREADABLE_MAX).map(Unreadable::to_string).collect();
        run
    }

    fn limited(question: Question, mut parts: Vec<Arc<dyn Part>>, groups: usize) -> Self {
        let (from, to) = (question.from.0, question.to.0);
        parts.retain(|part| {
            let span = part.span();
            span.rows > 0 && span.from < to && from <= span.to
        });
        let series = Series::new(&question);
        // The measure by which groups are chosen. A series without keys has one group.
        let rank = question.measures.get(question.order.measure).filter(|_| !question.by.is_empty());
        let rank: Vec<Measure> = rank.cloned().into_iter().collect();
        let table = Table::new(&question, if series.is_some() { &rank } else { &question.measures }, groups);
        let counted = counted_columns(&question, &table, series.as_ref());
        let cached = cached_columns(&question, &table, series.as_ref()).into();
        let (progress, begun) = (Progress::new(parts), None);
        Self { question, progress, begun, table, series, counted, cached }
    }

    /// An estimate of the memory of the tables, in bytes.
    fn tables(&self) -> usize {
        self.table.bytes() + self.series.as_ref().map_or(0, Series::bytes)
    }

    /// Begins the next part. `None`: no event of it can be in the answer.
    fn begin(&mut self) -> Option<Begun> {
        let part = self.progress.next()?;
        if self.skips(&*part) {
            self.progress.skip(&*part);
            return None;
        }
        Some(Begun { columns: Columns::new(part, self.cached.clone()), chosen: None, read: 0 })
    }

    /// Whether no event of a part can be in the answer.
    fn skips(&self, part: &dyn Part) -> bool {
        let too_small = |(column, least)| part.range(column).is_some_and(|(_, high)| high <= least);
        holds(&self.question.filter, part) == Some(false) || self.table.least().is_some_and(too_small)
    }

    /// Chooses the rows of a part, then reads a column, then counts. Returns whether the part was seen.
    fn see(&mut self, begun: &mut Begun) -> Result<bool, Unreadable> {
        let Begun { columns, chosen, read } = begun;
        let Some(chosen) = chosen else {
            *chosen = self.choose(columns)?;
            return Ok(chosen.is_none());
        };
        // Everything is read before anything is counted: a part that is not readable counts for no measure.
        if let Some(column) = self.counted.get(*read) {
            *read += 1;
            columns.load(*column)?;
            return Ok(false);
        }
        let series = &mut self.series;
        let mut moved = |renumbered: &[u32]| {
            if let Some(series) = series {
                series.renumber(renumbered);
            }
        };
        let groups = self.table.admit(columns, chosen, &mut moved)?;
        self.table.aggregates.count(columns, chosen, &groups)?;
        if let Some(series) = &mut self.series {
            series.count(columns, chosen, &groups, self.table.groups.len())?;
        }
        Ok(true)
    }

    /// The rows of a part that count. `None`: there are none.
    fn choose(&self, columns: &mut Columns) -> Result<Option<Chosen>, Unreadable> {
        let mut bits = between(columns, self.question.from, self.question.to)?;
        bits.and(&chosen(&self.question.filter, columns)?);
        if let Some((column, least)) = self.table.least() {
            bits.and(&above(columns, column, least)?);
        }
        let rows = bits.rows();
        if rows.len() == 0 {
            return Ok(None);
        }
        Ok(Some(Chosen { weights: weights(columns, &rows)?, rows }))
    }

    /// Drops groups until the tables fit.
    fn fit(&mut self, memory: usize) -> bool {
        let mut dropped = false;
        loop {
            let cells = self.series.as_ref().map_or(0, |series| series.cells().len());
            let groups = self.table.groups.len();
            if groups == 0 || (self.tables() <= memory && cells <= CELLS_MAX) {
                return dropped;
            }
            // A question without keys has one group, which is dropped only if it alone is too large.
            let renumbered = self.table.keep(groups / 2);
            if let Some(series) = &mut self.series {
                series.renumber(&renumbered);
            }
            dropped = true;
        }
    }

    /// The seconds between two moments that are in the question's time.
    fn seconds(&self, from: i64, to: i64) -> f64 {
        (to.min(self.question.to.0).saturating_sub(from.max(self.question.from.0))) as f64 / 1000.0
    }

    /// So many leading groups, the first one first, by the figure of a measure.
    fn leading(&self, measure: usize, most: usize) -> Vec<u32> {
        let groups = &self.table.groups;
        let seconds = self.seconds(i64::MIN, i64::MAX);
        let rank = |group: u32| self.table.aggregates.figure(measure, group as usize, seconds).rank();
        let mut ranked: Vec<(f64, u32)> = (0..groups.len() as u32).map(|group| (rank(group), group)).collect();
        let ascending = self.question.order.ascending;
        ranked.sort_unstable_by(|a, b| {
            let order = a.0.total_cmp(&b.0);
            let order = if ascending { order } else { order.reverse() };
            order.then_with(|| groups.compare(a.1, b.1))
        });
        ranked.truncate(most);
        ranked.into_iter().map(|(_, group)| group).collect()
    }

    /// The rows.
    pub(super) fn all_rows(&self) -> Vec<Vec<Figure>> {
        if self.series.is_some() { self.series_rows() } else { self.rows() }
    }

    /// The figures of the groups that lead, as far as they are sent to another node, and the number of events in the others.
    fn figures(&self) -> (Figures, u64) {
        let groups = self.table.groups.len();
        let measure = if self.series.is_some() { 0 } else { self.question.order.measure };
        let most = FIGURES_BYTES / (self.tables() / groups.max(1)).max(1);
        // No other node has a group of one event, so those count that can be in the answer.
        let leading = self.leading(measure, if self.table.is_unique() { self.question.limit } else { groups });
        let (sent, others) = leading.split_at(leading.len().min(most));
        let left_out = others.iter().map(|group| self.table.aggregates.events(*group as usize)).sum();
        (Figures::of(&self.table, self.series.as_ref(), sent), left_out)
    }

    /// A question that is answered from the figures of several nodes.
    pub(super) fn merging(question: Question) -> Self {
        Self::limited(question, Vec::new(), usize::MAX)
    }

    /// The figures are of this time.
    pub(super) fn covers(&mut self, from: Millis, to: Millis) {
        (self.question.from, self.question.to) = (from, to);
    }

    /// Adds the figures of a node. Returns whether they are of this question.
    pub(super) fn merge(&mut self, figures: &Figures) -> bool {
        figures.add_to(&mut self.table, self.series.as_mut())
    }

    /// The rows of a question without a series.
    fn rows(&self) -> Vec<Vec<Figure>> {
        let seconds = self.seconds(i64::MIN, i64::MAX);
        let measures = |group: usize| {
            (0..self.question.measures.len()).map(move |measure| self.table.aggregates.figure(measure, group, seconds))
        };
        // Without keys there is one row, even if there are no events.
        if self.question.by.is_empty() {
            return vec![measures(0).collect()];
        }
        let leading = self.leading(self.question.order.measure, self.question.limit);
        let row = |group: u32| self.table.groups.figures(group).chain(measures(group as usize)).collect();
        leading.into_iter().map(row).collect()
    }

    /// The rows of a series: in the order of time, then of the rank of their groups.
    fn series_rows(&self) -> Vec<Vec<Figure>> {
        let Some(series) = &self.series else { return Vec::new() };
        let mut rank = vec![None; self.table.groups.len()];
        // The table counts only the measure of the order.
        self.leading(0, self.question.limit)
            .iter()
            .zip(0..)
            .for_each(|(group, place): (&u32, usize)| rank[*group as usize] = Some(place));
        let cells = series.cells().iter().enumerate();
        let mut cells: Vec<_> =
            cells.filter_map(|(place, cell)| Some((cell.stretch, rank[cell.group as usize]?, place))).collect();
        cells.sort_unstable();
        let row = |(stretch, _, place): (i64, usize, usize)| {
            let from = stretch.saturating_mul(series.per());
            let seconds = self.seconds(from, from.saturating_add(series.per()));
            let at = Figure::cell(Column::At, from);
            let keys = self.table.groups.figures(series.cells()[place].group);
            let measures =
                (0..self.question.measures.len()).map(|measure| series.aggregates.figure(measure, place, seconds));
            [at].into_iter().chain(keys).chain(measures).collect()
        };
        cells.into_iter().map(row).collect()
    }
}

impl Steps for Run {
    fn is_done(&self) -> bool {
        self.progress.is_at_end() && self.begun.is_none()
    }

    fn is_within_part(&self) -> bool {
        self.begun.is_some()
    }

    fn memory(&self) -> usize {
        self.tables() + self.begun.as_ref().map_or(0, |begun| begun.columns.memory())
    }

    fn step(&mut self, memory: usize) -> bool {
        let began = thread_nanos();
        let Some(mut begun) = self.begun.take().or_else(|| self.begin()) else { return false };
        let rows = begun.columns.rows();
        let dropped = loop {
            match self.see(&mut begun) {
                Ok(false) if rows <= STEP_ROWS => {}
                Ok(false) => {
                    self.begun = Some(begun);
                    break false;
                }
                seen => {
                    self.progress.end(&begun.columns, seen.err());
                    break self.fit(memory);
                }
            }
        };
        self.progress.cpu_nanos += thread_nanos().saturating_sub(began);
        dropped
    }

    fn answer(&mut self) -> Result<Answer, NotAnswered> {
        let began = thread_nanos();
        let (figures, more_left_out) = self.question.seed.map(|_| self.figures()).unzip();
        let rows = if figures.is_some() { Vec::new() } else { self.all_rows() };
        self.progress.cpu_nanos += thread_nanos().saturating_sub(began);
        let is_done = self.is_done() || self.progress.seen.of == 0;
        let left_out = self.table.left_out() + more_left_out.unwrap_or_default();
        Ok(Answer { rows, left_out, figures, ..self.progress.answer(&self.question, is_done) })
    }
}

/// The weights of rows. `None`: each stands for itself.
fn weights(columns: &mut Columns, rows: &Rows) -> Result<Option<Vec<i64>>, Unreadable> {
    let span = columns.part().span();
    if span.events == span.rows as u64 {
        return Ok(None);
    }
    let cells = columns.numbers(Column::Weight)?;
    Ok(Some(rows.pick(&cells).into_owned()))
}

/// The columns that stay in memory while a part is seen: those of keys and measures, and the ones that a filter reads repeatedly.
fn cached_columns(question: &Question, table: &Table, series: Option<&Series>) -> Vec<Column> {
    let mut columns = counted_columns(question, table, series);
    let (mut filtered, mut once) = (vec![Column::At], Vec::new());
    question.filter.columns(&mut filtered);
    for column in filtered {
        let list = if once.contains(&column) { &mut columns } else { &mut once };
        list.push(column);
    }
    columns
}

/// The columns of keys and measures.
fn counted_columns(question: &Question, table: &Table, series: Option<&Series>) -> Vec<Column> {
    let mut columns: Vec<Column> = question.by.iter().map(|key| key.0).collect();
    table.columns(&mut columns);
    if let Some(series) = series {
        series.aggregates.columns(&mut columns);
        columns.push(Column::At);
    }
    columns
}

#[cfg(test)]
mod tests;
