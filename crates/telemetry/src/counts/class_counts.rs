//! Requests by their cost class: how they ended, and how long they took.

use crate::histogram::durations::RoundDurations;
use crate::{Class, Outcome};

/// The figures of one cost class.
#[derive(Debug, Clone)]
pub(crate) struct ClassCounts {
    pub(crate) durations: RoundDurations,
    pub(crate) outcomes: [u64; Outcome::COUNT],
}

/// The figures of all cost classes.
#[derive(Debug, Clone)]
pub(crate) struct Classes(Vec<ClassCounts>);

impl Default for Classes {
    fn default() -> Self {
        let nothing = ClassCounts { durations: RoundDurations::default(), outcomes: [0; Outcome::COUNT] };
        Self(vec![nothing; Class::COUNT])
    }
}

impl Classes {
    /// The figures of a class.
    pub(crate) fn of(&self, class: Class) -> &ClassCounts {
        &self.0[class as usize]
    }

    /// Counts a request. `limit` is the index of the first limit that its duration does not exceed.
    pub(crate) fn add(&mut self, class: Class, outcome: Outcome, nanos: u64, limit: usize) {
        let counts = &mut self.0[class as usize];
        counts.durations.record(nanos, limit);
        counts.outcomes[outcome as usize] += 1;
    }

    /// Adds the figures of others.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.durations.merge(&theirs.durations);
            mine.outcomes.iter_mut().zip(&theirs.outcomes).for_each(|(mine, theirs)| *mine += theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_in_its_class_alone_and_two_tables_add_up() {
        let (mut one, mut other) = (Classes::default(), Classes::default());
        one.add(Class::Downloads, Outcome::Answered, 2_000, 0);
        other.add(Class::Downloads, Outcome::Failed, 3_000_000_000, 19);
        other.add(Class::Uploads, Outcome::Answered, 5, 0);
        one.merge(&other);
        let downloads = one.of(Class::Downloads);
        assert_eq!((downloads.durations.count, downloads.durations.nanos), (2, 3_000_002_000));
        let outcome = |outcome: Outcome| downloads.outcomes[outcome as usize];
        assert_eq!([Outcome::Answered, Outcome::Failed, Outcome::Shed].map(outcome), [1, 1, 0]);
        assert_eq!([Class::Uploads, Class::Admin].map(|class| one.of(class).durations.count), [1, 0]);
    }
}
