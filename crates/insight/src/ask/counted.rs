//! Answers a question from counts at once, on the caller's thread.

use super::answer::Answer;
use super::progress::Steps;
use super::question::Question;
use super::run::Run;
use crate::rollup::RollupScan;

/// Memory for the groups of such an answer, in bytes.
const MEMORY: usize = 4 << 20;

/// The answer from counts. `None`: it needs events, or a comparison.
pub(crate) fn answer(question: Question, counted: RollupScan) -> Option<Answer> {
    let mut run = Run::of_counts(question, counted);
    while !run.is_done() {
        run.step(MEMORY);
    }
    run.answer().ok()
}
