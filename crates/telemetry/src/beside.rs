//! The operations beside the line of an event.

use crate::Event;

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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Millis, Op, Tally};

    #[test]
    fn what_ran_beside_the_line_takes_none_of_its_time() {
        let (mut event, mut other) = (Event::job("test", Millis(1)), Event::job("folder", Millis(1)));
        event.add(Op::FoldersChange, 10);
        other.add(Op::Commit, 9);
        other.add_vain(Op::TruthRead, 1);
        event.beside(&other);
        event.beside(&other);
        event.duration = 12;
        let beside = [(Op::Commit, 2, 0, 18), (Op::TruthRead, 2, 2, 2)];
        let beside = beside.map(|(op, count, vain, nanos)| (op, Tally { count, vain, nanos }));
        assert_eq!((event.unaccounted(), event.tallies().count()), (2, 1));
        assert_eq!(event.more_mut().beside, beside);
    }
}
