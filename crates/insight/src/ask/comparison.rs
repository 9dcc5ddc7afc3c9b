//! A comparison while it is being made, part by part, and column by column.

use super::answer::{Answer, NotAnswered};
use super::columns::Columns;
use super::compare::{Compared, Side, Step};
use super::differences;
use super::progress::{Progress, Steps};
use super::question::{Compare, Question};
use super::sampled::{ROWS_MAX, Sample, Taken};
use super::selection::holds;
use crate::column::{Column, LINE};
use crate::part::Part;
use std::sync::Arc;
use telemetry::{Millis, thread_nanos};

/// The fewest stored events of each side that are compared.
const ROWS_MIN: usize = 30;
/// The parts over which the rows of a side are spread, if there are as many.
const PARTS: usize = 8;

/// A comparison while it is being made. It sees parts in an order that spreads them over the time, until both sides have enough rows.
#[derive(Debug)]
pub(super) struct Comparison {
    question: Question,
    progress: Progress,
    /// The part that was begun.
    begun: Option<(Columns, Taken)>,
    sample: Sample,
    /// The columns that stay in memory while a part is seen.
    cached: Arc<[Column]>,
}

impl Comparison {
    /// Begins a comparison.
    pub(super) fn new(question: Question, mut parts: Vec<Arc<dyn Part>>) -> Self {
        let earlier = match question.compare {
            Some(Compare::Earlier(by)) => i64::try_from(by).unwrap_or(i64::MAX),
            _ => 0,
        };
        let (from, to) = (question.from.0, question.to.0);
        parts.retain(|part| {
            let span = part.span();
            let within = |by: i64| span.from < to.saturating_sub(by) && from.saturating_sub(by) <= span.to;
            span.rows > 0 && (within(0) || within(earlier))
        });
        let mut filtered = Vec::new();
        question.filter.columns(&mut filtered);
        let sample = Sample::new(&filtered);
        let cached: Vec<Column> = filtered.iter().copied().chain([Column::At, Column::Weight]).collect();
        let progress = Progress::new(interleaved(parts));
        Self { question, progress, begun: None, sample, cached: cached.into() }
    }

    /// Begins the next part.
    fn begin(&mut self) {
        let Some(part) = self.progress.next() else { return };
        // With the rest nearly every part has rows of the other side, so parts are skipped only where none counts.
        let earlier = matches!(self.question.compare, Some(Compare::Earlier(_)));
        if earlier && holds(&self.question.filter, &*part) == Some(false) {
            return self.progress.skip(&*part);
        }
        let mut columns = Columns::new(part, self.cached.clone());
        match self.sample.take(&self.question, &mut columns, ROWS_MAX / PARTS) {
            Ok(taken) => self.begun = Some((columns, taken)),
            Err(error) => self.progress.end(&columns, Some(error)),
        }
    }

    /// By how much the time to compare with is earlier, in milliseconds.
    fn earlier(&self) -> u64 {
        if let Some(Compare::Earlier(by)) = self.question.compare { by } else { 0 }
    }

    /// Refuses a side with too few rows. Its time is earlier by so many milliseconds than that of the question.
    fn enough(&self, rows: usize, earlier: u64, [one, many]: [&str; 2], hint: &str) -> Result<(), NotAnswered> {
        let [from, to] = [self.question.from, self.question.to].map(|at| Millis(at.0.saturating_sub_unsigned(earlier)));
        let is_within = |part: &Arc<dyn Part>| part.span().from < to.0 && from.0 <= part.span().to;
        let few = match rows {
            ROWS_MIN.. => return Ok(()),
            0 if !self.progress.parts.iter().any(is_within) => {
                format!("no event is stored of the time from {from} to {to}")
            }
            0 => format!("no stored event {one}"),
            1 => format!("only 1 stored event {one}"),
            _ => format!("only {rows} stored events {many}"),
        };
        let message = format!("{few}; a comparison needs {ROWS_MIN} events of each side");
        Err(NotAnswered::TooFew { message, hint: hint.to_owned() })
    }
}

impl Steps for Comparison {
    fn is_done(&self) -> bool {
        let is_enough = self.progress.next >= PARTS && self.sample.is_enough();
        self.begun.is_none() && (self.progress.is_at_end() || is_enough)
    }

    fn is_within_part(&self) -> bool {
        self.begun.is_some()
    }

    fn memory(&self) -> usize {
        self.sample.bytes() + self.begun.as_ref().map_or(0, |(columns, taken)| columns.memory() + taken.bytes())
    }

    fn step(&mut self, _memory: usize) -> bool {
        let began = thread_nanos();
        match self.begun.take() {
            None => self.begin(),
            Some((mut columns, mut taken)) => match self.sample.read(&mut columns, &mut taken) {
                Ok(true) => {
                    self.progress.exact &= taken.whole();
                    self.sample.count(taken);
                    self.progress.end(&columns, None);
                }
                Ok(false) => self.begun = Some((columns, taken)),
                Err(error) => self.progress.end(&columns, Some(error)),
            },
        }
        self.progress.cpu_nanos += thread_nanos().saturating_sub(began);
        false
    }

    fn answer(&mut self) -> Result<Answer, NotAnswered> {
        let began = thread_nanos();
        let [selected, base] = &self.sample.sides;
        if self.is_done() {
            let hint = "choose a longer time or another filter";
            self.enough(selected.rows, 0, ["matches the filter", "match the filter"], hint)?;
            let (words, hint) = match self.question.compare {
                Some(Compare::Earlier(_)) => (
                    ["matches the filter in the earlier time", "match the filter in the earlier time"],
                    "choose a longer time, an earlier one of which events are stored, or `compare rest`, which needs none",
                ),
                _ => (
                    ["is there to compare with", "are there to compare with"],
                    "choose a longer time, or a filter that fewer events match",
                ),
            };
            self.enough(base.rows, self.earlier(), words, hint)?;
        }
        let side = |side: usize| {
            let sums = &self.sample.sides[side];
            Side { events: sums.events, sample: sums.rows as u64, duration_ms: sums.mean(0) }
        };
        let step = |(column, time): (&Column, usize)| Step {
            column: *column,
            selected: selected.mean(time),
            base: base.mean(time),
        };
        let compared = Compared { selected: side(0), base: side(1), line: LINE.iter().zip(1..).map(step).collect() };
        let some = selected.rows >= ROWS_MIN && base.rows >= ROWS_MIN;
        let rows = if some { differences::rows(&self.sample, self.question.limit) } else { Vec::new() };
        self.progress.cpu_nanos += thread_nanos().saturating_sub(began);
        let answer = self.progress.answer(&self.question, self.is_done());
        Ok(Answer {
            names: differences::NAMES.iter().map(|name| (*name).to_owned()).collect(),
            rows,
            exact: answer.exact && self.begun.is_none() && self.progress.is_at_end(),
            compared: Some(compared),
            ..answer
        })
    }
}

/// The parts in an order whose every beginning is spread over all of them: by the mirrored bits of their places.
fn interleaved(parts: Vec<Arc<dyn Part>>) -> Vec<Arc<dyn Part>> {
    let mut parts: Vec<(u32, Arc<dyn Part>)> =
        parts.into_iter().zip(0_u32..).map(|(part, n)| (n.reverse_bits(), part)).collect();
    parts.sort_by_key(|(place, _)| *place);
    parts.into_iter().map(|(_, part)| part).collect()
}

#[cfg(test)]
mod tests;
