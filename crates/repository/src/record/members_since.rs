//! The moment since when each member of a group has had its place.
//!
//! A change of the members dates the new and the moved members. The smallest possible number of members counts as
//! moved: all others keep their relative order. If several choices are equally small, the members that are now further
//! ahead than before count as moved. So the relative order of two members was decided at the later of their two dates,
//! and a change that concerns other members does not renew it.

use super::RepositoryRecord;
use telemetry::Millis;

impl RepositoryRecord {
    /// The moment since when the member at index `at` has had its place in the order. If the members never changed, it is
    /// the creation of the group.
    pub fn member_since(&self, at: usize) -> Millis {
        self.members_since.get(at).copied().unwrap_or(self.created)
    }

    /// Dates the members of this record, which replaces `before` at the moment `now`.
    pub(crate) fn date_members(&mut self, before: &Self, now: Millis) {
        if self.members == before.members {
            return;
        }
        // The old index of each member.
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

/// The indexes of a longest increasing subsequence, ignoring gaps. Of several, the one whose last elements come last.
fn longest_run(numbers: &[Option<usize>]) -> Vec<usize> {
    // For each index: the length of the longest subsequence that ends there, and the previous index in it.
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

    /// The dates after these lists of members were set in turn, the first at 1, the next at 2, and so on.
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
            // A member is added at any place, or removed.
            (&["ab", "abc"], &[1, 1, 2]),
            (&["ab", "cab"], &[2, 1, 1]),
            (&["ab", "acb"], &[1, 2, 1]),
            (&["abc", "ac"], &[1, 1]),
            (&["abc", "ac", "acb"], &[1, 1, 3]),
            // One member moves to the front or to the end. If two swap places, the one that is now ahead moved.
            (&["abcd", "dabc"], &[2, 1, 1, 1]),
            (&["abcd", "bcda"], &[1, 1, 1, 2]),
            (&["ab", "ba"], &[2, 1]),
            (&["abc", "acb"], &[1, 2, 1]),
            (&["abc", "cba"], &[2, 2, 1]),
            // All members move at once, or one after another.
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
            // No longer subsequence keeps its order: the test tries all subsets of the members that stay.
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
