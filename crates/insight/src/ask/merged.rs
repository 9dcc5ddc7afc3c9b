//! One answer from the figures of several nodes. A node sends what adds up: counts, sums, lowest and highest values, distributions and
//! hashes of values. Means, quantiles and ranks are made of the merged figures, so they are those of all events.

use super::answer::{Answer, Cost, Seen};
use super::figures::Figures;
use super::question::Question;
use super::run::Run;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// The answer of one node to a question with [`Question::seed`], as nodes send it to each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeAnswer {
    exact: bool,
    complete: f64,
    from: i64,
    to: i64,
    seen: Seen,
    left_out: u64,
    cost: Cost,
    next: Option<String>,
    unreadable: Vec<String>,
    /// `None`: nothing was seen yet.
    figures: Option<Figures>,
}

impl From<Answer> for NodeAnswer {
    fn from(answer: Answer) -> Self {
        let Answer { exact, complete, from, to, seen, left_out, cost, next, unreadable, figures, .. } = answer;
        Self { exact, complete, from: from.0, to: to.0, seen, left_out, cost, next, unreadable, figures }
    }
}

/// An answer of a node does not fit the question: its program is of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its figures have another form: it runs another version of the program")]
pub struct NotMerged;

impl NodeAnswer {
    /// The handle with which more of it is asked for; `None`: it is complete.
    pub fn next(&self) -> Option<&str> {
        self.next.as_deref().filter(|_| self.complete < 1.0)
    }
}

/// One answer from those of several nodes.
#[derive(Debug)]
pub struct Merged {
    run: Run,
    answer: Answer,
    /// The time of the answers that were added: counts of minutes cover a little more than the question's.
    time: Option<(i64, i64)>,
    all_seen: bool,
}

impl Merged {
    /// Without answers yet.
    pub fn new(question: &Question) -> Self {
        let question = Question { seed: None, ..question.clone() };
        Self { answer: Answer::empty(&question), run: Run::merging(question), time: None, all_seen: true }
    }

    /// Adds the answer of a node.
    ///
    /// # Errors
    /// If it does not fit the question. Then nothing is added.
    pub fn add(&mut self, answer: &NodeAnswer) -> Result<(), NotMerged> {
        if !answer.figures.as_ref().is_none_or(|figures| self.run.merge(figures)) {
            return Err(NotMerged);
        }
        let (from, to) = self.time.unwrap_or((answer.from, answer.to));
        self.time = Some((from.min(answer.from), to.max(answer.to)));
        self.all_seen &= answer.complete >= 1.0;
        let mine = &mut self.answer;
        // A group that a node left out lacks its events in the rows of others.
        mine.exact &= answer.exact && answer.left_out == 0;
        mine.seen = mine.seen.and(answer.seen);
        mine.left_out = mine.left_out.saturating_add(answer.left_out);
        mine.cost.cpu_ms = ((mine.cost.cpu_ms + answer.cost.cpu_ms) * 100.0).round() / 100.0;
        mine.cost.bytes = mine.cost.bytes.saturating_add(answer.cost.bytes);
        mine.unreadable.extend(answer.unreadable.iter().cloned());
        Ok(())
    }

    /// The answer, without a handle.
    pub fn answer(self) -> Answer {
        let Self { mut run, mut answer, time, all_seen } = self;
        if let Some((from, to)) = time {
            (answer.from, answer.to) = (Millis(from), Millis(to));
            run.covers(answer.from, answer.to);
        }
        answer.complete = if all_seen { 1.0 } else { answer.seen.share() };
        answer.unreadable.truncate(Answer::UNREADABLE_MAX);
        answer.rows = run.all_rows();
        answer
    }
}

impl Seen {
    /// Those of two nodes.
    fn and(self, other: Self) -> Self {
        Self {
            events: self.events.saturating_add(other.events),
            of: self.of.saturating_add(other.of),
            segments: self.segments.saturating_add(other.segments),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}
