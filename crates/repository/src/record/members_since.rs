//! Since when each member of a group stands where it stands.
//!
//! A change of the members gives its moment to new members, and to those that moved. Those that moved are as few as explain the new order:
//! all others keep their order among themselves. Where more than one choice is as few, those moved that stand further ahead than before.
//! So the order of two members was decided by somebody at the later of their two moments, and a change that is about other members never
//! renews it.

use super::RepositoryRecord;
use telemetry::Millis;

impl RepositoryRecord {
    /// Since when the member at this place stands there. Groups whose members were never changed keep no moments: since they were made.
    pub fn member_since(&self, at: usize) -> Millis {
        self.members_since.get(at).copied().unwrap_or(self.created)
    }

    /// Dates the members of this record, which follows `before`, at the moment `now` of the change.
    pub(crate) fn date_members(&mut self, before: &Self, now: Millis) {
        if self.members == before.members {
            return;
        }
        // Where each member stood.
        let stood: Vec<Option<usize>> =
            self.members.iter().map(|name| before.members.iter().position(|member| member == name)).collect();
        let kept = longest_run(&stood);
        self.members_since = (0..stood.len())
            .map(|at| match stood[at] {
                Some(stood) if kept.contains(&at) => before.member_since(stood),
                _ => now,
            })
            .collect();
    }
}

/// The indexes of a longest increasing run of the numbers that are there. Of several, the one whose last numbers come last.
fn longest_run(numbers: &[Option<usize>]) -> Vec<usize> {
    // For each index, the length of the longest run that ends there, and the index before it in that run.
    let mut ends: Vec<(usize, Option<usize>)> = Vec::new();
    let mut last: Option<usize> = None;
    for (at, number) in numbers.iter().enumerate() {
        let fits = |before: &usize| numbers[*before].is_some() && numbers[*before] < *number;
        let before = (0..at).filter(fits).max_by_key(|before| ends[*before].0);
        ends.push((before.map_or(0, |before| ends[before].0) + usize::from(number.is_some()), before));
        if number.is_some() && last.is_none_or(|last| ends[last].0 <= ends[at].0) {
            last = Some(at);
        }
    }
    let mut run: Vec<usize> = std::iter::successors(last, |at| ends[*at].1).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use store::RepositoryKind;

    const NOW: Millis = Millis(1_000);

    fn group(members: &str) -> RepositoryRecord {
        let members = members.chars().map(String::from).collect();
        RepositoryRecord { members, ..RepositoryRecord::new("g", "gem", RepositoryKind::Group, Millis(1)) }
    }

    /// The moments after these lists of members came one after another, the first at 1, the others at 2, 3 and so on.
    fn dated(lists: &[&str]) -> Vec<i64> {
        let mut record = group(lists[0]);
        for (at, members) in (2..).zip(&lists[1..]) {
            let before = std::mem::replace(&mut record, group(members));
            record.members_since.clone_from(&before.members_since);
            record.date_members(&before, Millis(at));
        }
        (0..record.members.len()).map(|at| record.member_since(at).0).collect()
    }

    #[test]
    fn new_members_and_those_that_moved_are_dated_anew() {
        for (lists, moments) in [
            (&["abc"][..], &[1, 1, 1][..]),
            (&["abc", "abc"], &[1, 1, 1]),
            // A member comes, at any place, or goes.
            (&["ab", "abc"], &[1, 1, 2]),
            (&["ab", "cab"], &[2, 1, 1]),
            (&["ab", "acb"], &[1, 2, 1]),
            (&["abc", "ac"], &[1, 1]),
            (&["abc", "ac", "acb"], &[1, 1, 3]),
            // One moves, to the front or to the end; of two that change places the one that stands ahead now.
            (&["abcd", "dabc"], &[2, 1, 1, 1]),
            (&["abcd", "bcda"], &[1, 1, 1, 2]),
            (&["ab", "ba"], &[2, 1]),
            (&["abc", "acb"], &[1, 2, 1]),
            (&["abc", "cba"], &[2, 2, 1]),
            // All at once, and one after another.
            (&["abcd", "xdby"], &[2, 2, 1, 2]),
            (&["abc", "bac", "bacd", "bcd"], &[2, 1, 3]),
            (&["a", "b"], &[2]),
        ] {
            assert_eq!(dated(lists), moments, "{lists:?}");
        }
    }

    fn shuffled(text: &str) -> impl Strategy<Value = String> {
        Just(text.chars().collect::<Vec<char>>()).prop_shuffle().prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn members_that_keep_their_moments_keep_their_order_and_so_do_most(
            before in shuffled("abcdefgh"),
            after in shuffled("efghijkl"),
        ) {
            let (old, mut new) = (group(&before), group(&after));
            new.date_members(&old, NOW);
            prop_assert_eq!(new.members_since.len(), new.members.len());
            let kept: Vec<usize> = (0..new.members.len()).filter(|at| new.member_since(*at) != NOW).collect();
            let stood = |at: &usize| before.find(&new.members[*at]);
            prop_assert!(kept.iter().all(|at| stood(at).is_some()));
            prop_assert!(kept.is_sorted_by(|one, other| stood(one) < stood(other)));
            // No longer run of members keeps its order: all subsets of those that stay are tried.
            let stay: Vec<usize> = (0..new.members.len()).filter(|at| stood(at).is_some()).collect();
            let longest = (0_u32..1 << stay.len())
                .map(|set| stay.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, at)| stood(at)).collect::<Vec<_>>())
                .filter(|run| run.is_sorted())
                .map(|run| run.len())
                .max();
            prop_assert_eq!(Some(kept.len()), longest);
        }
    }
}
