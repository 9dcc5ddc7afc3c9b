//! Runs of ops beside the line of an event, and vain runs, without which the answer would have been the same.
//!
//! Whether a run was vain is known only after it: the code that used its result marks it.

use crate::{Event, Op, Tally};
use smallvec::SmallVec;

/// The runs of an event's operations up to a moment.
#[derive(Debug, Clone)]
pub struct RunsSoFar(SmallVec<[(Op, Tally); 8]>);

impl Event {
    /// Adds the operations of another event, which ran at the same time as this one, or as others like it.
    pub fn beside(&mut self, other: &Event) {
        for (op, tally) in other.tallies().chain(other.more.iter().flat_map(|more| more.beside.iter().copied())) {
            let beside = &mut self.more_mut().beside;
            match beside.iter_mut().find(|(ran, _)| *ran == op) {
                Some((_, mine)) => mine.join(tally),
                None => beside.push((op, tally)),
            }
        }
    }

    /// The runs so far, before a piece of work that may change nothing.
    pub fn runs_so_far(&self) -> RunsSoFar {
        RunsSoFar(self.tallies().collect())
    }

    /// Marks all later runs as vain: the work since then changed nothing.
    pub fn was_vain_since(&mut self, before: &RunsSoFar) {
        for (op, tally) in &mut self.ops {
            let earlier = before.0.iter().find(|(ran, _)| ran == op).map(|(_, tally)| *tally).unwrap_or_default();
            tally.vain = earlier.vain.saturating_add(tally.count.saturating_sub(earlier.count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Millis;

    #[test]
    fn what_ran_beside_the_line_takes_none_of_its_time() {
        let (mut event, mut other) = (Event::job("test", Millis(1)), Event::job("folder", Millis(1)));
        event.add(Op::FoldersChange, 10);
        other.add(Op::Commit, 9);
        other.add_all(Op::TruthRead, Tally { count: 1, vain: 1, nanos: 1 });
        event.beside(&other);
        event.beside(&other);
        event.duration = 12;
        let beside = [(Op::Commit, 2, 0, 18), (Op::TruthRead, 2, 2, 2)];
        let beside = beside.map(|(op, count, vain, nanos)| (op, Tally { count, vain, nanos }));
        assert_eq!((event.unaccounted(), event.tallies().count()), (2, 1));
        assert_eq!(event.more_mut().beside, beside);
    }

    #[test]
    fn the_runs_of_work_that_changed_nothing_are_marked_once_also_if_work_within_it_was_vain() {
        let mut event = Event::job("test", Millis(1));
        event.add(Op::TruthRead, 1);
        event.add_all(Op::TruthRead, Tally { count: 1, vain: 1, nanos: 1 });
        event.add(Op::CacheRead, 1);
        let outer = event.runs_so_far();
        event.add(Op::TruthRead, 1);
        let inner = event.runs_so_far();
        event.add(Op::TruthRead, 1);
        event.add(Op::Merge, 1);
        event.was_vain_since(&inner);
        event.was_vain_since(&outer);
        let told = [Op::TruthRead, Op::CacheRead, Op::Merge].map(|op| (event.tally(op).count, event.tally(op).vain));
        assert_eq!(told, [(4, 3), (1, 0), (1, 1)]);
    }
}
