//! Plans which rollups answer a question.

use super::folder::RollupFile;
use super::part::RollupPart;
use super::rollups::{Rollups, Shared};
use super::rows::{DURATIONS, TEXTS};
use super::{HOUR, MINUTE};
use crate::ask::{Measure, Question};
use crate::column::Column;
use crate::part::{Part, Unreadable};
use std::sync::Arc;
use telemetry::Millis;

/// The counts from which a question can be answered.
#[derive(Debug)]
pub struct RollupScan {
    /// They are of events that began at this moment or later: in whole minutes.
    pub from: Millis,
    /// They are of events that began before this moment: in whole minutes, or now.
    pub to: Millis,
    /// The newest first. All are [`Part::aggregated`].
    pub parts: Vec<Arc<dyn Part>>,
    /// Files that cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// Whether they tell of every event what the question needs.
    pub exact: bool,
}

/// Beyond this time whole hours are read from files of hours, which are fewer.
const BY_HOURS: i64 = 6 * HOUR;

/// The columns that a question compares or groups by.
fn columns_of(question: &Question) -> Vec<Column> {
    let mut columns: Vec<Column> = question.by.iter().map(|key| key.0).collect();
    question.filter.columns(&mut columns);
    for measure in &question.measures {
        match measure {
            Measure::Share(filter) => filter.columns(&mut columns),
            Measure::Distinct(column) => columns.push(*column),
            _ => {}
        }
    }
    columns
}

/// Whether rollups have all that a question needs, leaving its times aside.
fn fits(question: &Question, columns: &[Column]) -> bool {
    let keys = columns.iter().all(|column| TEXTS.contains(column) || *column == Column::Status);
    question.compare.is_none() && keys && question.measures.iter().all(measure_fits)
}

fn measure_fits(measure: &Measure) -> bool {
    let is_duration = |column: &Column| DURATIONS.contains(column);
    match measure {
        Measure::Count | Measure::Rate | Measure::Distinct(_) | Measure::Share(_) => true,
        Measure::Sum(column) | Measure::Mean(column) => {
            is_duration(column) || matches!(column, Column::BytesIn | Column::BytesOut)
        }
        Measure::Min(column) => *column == Column::Status,
        Measure::Max(column) => *column == Column::Status || is_duration(column),
        Measure::Quantile(_, column) => is_duration(column),
    }
}

/// Why rollups never answer a question, whatever was counted. `None`: they answer it for as long as they are kept.
pub(crate) fn refusal(question: &Question, now: Millis) -> Option<String> {
    let columns = columns_of(question);
    let counted = |column: &Column| TEXTS.contains(column) || *column == Column::Status;
    if question.compare.is_some() {
        return Some("it compares, and minutes are counted without what a comparison needs".to_owned());
    }
    if let Some(column) = columns.iter().find(|column| !counted(column)) {
        return Some(format!("`{}` is not counted by minute", column.as_str()));
    }
    if let Some(measure) = question.measures.iter().find(|measure| !measure_fits(measure)) {
        return Some(format!("`{measure}` is not counted by minute"));
    }
    if !question.per.is_multiple_of(MINUTE.unsigned_abs()) {
        return Some("`per` is no whole number of minutes".to_owned());
    }
    let from = floor(question.from.0, MINUTE);
    let ends = end(question.to.0, now.0).is_some_and(|to| from < to);
    (!ends).then(|| "it ends within a minute of the past, and only whole minutes are counted".to_owned())
}

/// The columns that are `(other)` in rows for events of repositories that have no row of their own. An answer with one of them needs to know
/// the repository of each event.
const OF_REPOSITORIES: [Column; 3] = [Column::Repository, Column::RepositoryKind, Column::Format];

fn floor(at: i64, unit: i64) -> i64 {
    at.saturating_sub(at.rem_euclid(unit))
}

/// The end of a time in whole minutes, or now: nothing after it is counted. `None`: it lies inside of a minute of the past.
fn end(to: i64, now: i64) -> Option<i64> {
    let whole = floor(to.saturating_add(MINUTE - 1), MINUTE);
    if whole == to {
        return Some(to);
    }
    (to >= now.saturating_sub(MINUTE)).then(|| whole.min(now))
}

impl Rollups {
    /// The minute or hour of the oldest count. `None`: no event was counted.
    pub fn since(&self) -> Option<Millis> {
        let state = self.shared()?.read();
        let files = state.files.minutes.iter().chain(&state.files.hours).map(|file| file.name.from);
        files.chain(state.recent.rows().rows.iter().map(|(key, _)| key.at)).min().map(Millis)
    }

    /// The counts from which a question can be answered. `None`: it needs events, since they have a column, an order of columns or a moment
    /// that counts do not have, or the writer hangs. It waits until the writer has what the census has seen.
    pub fn scan(&self, question: &Question) -> Option<RollupScan> {
        let shared = self.shared()?;
        if !self.is_counting() {
            return None;
        }
        // An event can be asked for as soon as its response was sent.
        if !self.flush() {
            return None;
        }
        RollupScan::of(question, shared, shared.options.clock.now())
    }
}

impl RollupScan {
    /// The counts for a question. `None`: it needs events.
    pub(super) fn of(question: &Question, shared: &Shared, now: Millis) -> Option<Self> {
        let columns = columns_of(question);
        if !fits(question, &columns) || !question.per.is_multiple_of(MINUTE.unsigned_abs()) {
            return None;
        }
        let state = shared.read();
        let by_hours = question.per.is_multiple_of(HOUR.unsigned_abs());
        let minutes_begin = state.files.minutes_begin();
        let is_old = question.from.0 < minutes_begin;
        let from = floor(question.from.0, if is_old { HOUR } else { MINUTE });
        let to = end(question.to.0, now.0)?;
        let ends_inside = to < minutes_begin && to != floor(to, HOUR);
        if from >= to || (is_old && (!by_hours || ends_inside)) {
            return None;
        }
        // Whole hours, and the time before and after them.
        let long = is_old || to.saturating_sub(from) > BY_HOURS;
        let (first, last) = match long && by_hours {
            true => (floor(from + HOUR - 1, HOUR), floor(to, HOUR)),
            false => (to, to),
        };
        let (parts, unreadable) = (Vec::new(), Vec::new());
        let mut counted = Self { from: Millis(from), to: Millis(to), parts, unreadable, exact: true };
        let repositories = columns.iter().any(|column| OF_REPOSITORIES.contains(column));
        counted.add(RollupPart::in_memory(state.recent.rows(), from, to), repositories);
        let files = state.files.clone();
        drop(state);
        let in_hours = files.hours.last().map_or(0, |hours| hours.name.last);
        for file in files.minutes.iter().rev() {
            let times = match file.name.last <= in_hours {
                true => [(from, first.min(to)), (last.max(first), to)],
                false => [(from, to), (to, to)],
            };
            times.into_iter().for_each(|(from, to)| counted.add_file(file, from, to, repositories));
        }
        files.hours.iter().rev().for_each(|file| counted.add_file(file, first, last, repositories));
        Some(counted)
    }

    fn add(&mut self, part: RollupPart, repositories: bool) {
        self.exact &= !(part.folds(Column::Kind) || (repositories && part.folds(Column::Repository)));
        self.parts.push(Arc::new(part));
    }

    fn add_file(&mut self, file: &Arc<RollupFile>, from: i64, to: i64, repositories: bool) {
        if from >= to || !file.name.meets(from, to) {
            return;
        }
        match RollupPart::of_file(file, from, to) {
            Ok(part) => self.add(part, repositories),
            Err(error) => self.unreadable.push(error),
        }
    }
}
