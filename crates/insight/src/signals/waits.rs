//! How long a request through a group waited for each of its members, beyond the members that had what it wanted.

use telemetry::{MemberRecord, MemberSaid};

/// What a request through a group waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitedFor {
    /// A file that a later member had: the order of the members decides.
    Order,
    /// The answer that nobody has it.
    Nobody,
    /// The parts of a document that is merged from all members.
    Document,
}

/// The wait for members that had nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waits {
    pub(super) what: WaitedFor,
    /// How many of the first members count.
    counts: usize,
    /// The answer without which the request could not end, in nanoseconds.
    base: u64,
    /// The longest answer beyond that one, and the sum of all that are beyond it.
    longest: u64,
    sum: u64,
    /// The place of the longest one, and the next longest.
    longest_at: usize,
    second: u64,
}

impl Waits {
    /// Of the members of a request, in order. `is_document`: it is merged from all of them.
    pub(super) fn of(members: &[MemberRecord], is_document: bool) -> Self {
        let winner = members.iter().position(has);
        let (what, counts, base) = match winner {
            Some(winner) if !is_document => (WaitedFor::Order, winner, members[winner].nanos),
            Some(_) => {
                let parts = members.iter().filter(|member| has(member)).map(|member| member.nanos);
                (WaitedFor::Document, members.len(), parts.max().unwrap_or(0))
            }
            None => (WaitedFor::Nobody, members.len(), 0),
        };
        let mut waits = Self { what, counts, base, longest: 0, sum: 0, longest_at: 0, second: 0 };
        for (at, member) in members.iter().enumerate() {
            let beyond = waits.beyond(at, member);
            if beyond > waits.longest {
                (waits.second, waits.longest, waits.longest_at) = (waits.longest, beyond, at);
            } else {
                waits.second = waits.second.max(beyond);
            }
            waits.sum += beyond;
        }
        waits
    }

    /// How long the request waited for members that had nothing, in nanoseconds.
    pub(super) fn in_vain(&self) -> u64 {
        self.longest
    }

    /// How much shorter the request would have been if this member alone had not been waited for, in nanoseconds: the others answered meanwhile.
    pub(super) fn spared(&self, at: usize) -> u64 {
        if at == self.longest_at { self.longest - self.second } else { 0 }
    }

    fn beyond(&self, at: usize, member: &MemberRecord) -> u64 {
        if at < self.counts && answered(member) && !has(member) { member.nanos.saturating_sub(self.base) } else { 0 }
    }

    /// The part of the wait that this member caused, in nanoseconds. Members are asked at the same time, so the parts of all of them
    /// add up to the longest.
    pub(super) fn part(&self, at: usize, member: &MemberRecord) -> u64 {
        let product = u128::from(self.beyond(at, member)) * u128::from(self.longest);
        product.checked_div(u128::from(self.sum)).and_then(|part| u64::try_from(part).ok()).unwrap_or(0)
    }
}

/// Whether it was asked, and the request waited for its answer.
pub(super) fn answered(member: &MemberRecord) -> bool {
    !matches!(member.said, MemberSaid::NotAsked | MemberSaid::Unknown | MemberSaid::Cancelled)
}

/// Whether its upstream was called.
pub(super) fn called(member: &MemberRecord) -> bool {
    member.flight.is_some() || member.upstream.as_ref().is_some_and(|used| used.calls > 0)
}

/// Whether it had what was asked for.
pub(super) fn has(member: &MemberRecord) -> bool {
    matches!(member.said, MemberSaid::Hit | MemberSaid::Stale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemberSaid::{Cancelled, Hit, NotAsked, NotFound, Timeout};

    fn parts(members: &[(MemberSaid, u64)], is_document: bool) -> (WaitedFor, Vec<u64>) {
        let record =
            |(said, nanos): &(MemberSaid, u64)| MemberRecord { nanos: *nanos, ..MemberRecord::new("a", *said, None) };
        let members: Vec<MemberRecord> = members.iter().map(record).collect();
        let waits = Waits::of(&members, is_document);
        (waits.what, members.iter().enumerate().map(|(at, member)| waits.part(at, member)).collect())
    }

    #[test]
    fn a_file_waits_for_members_before_the_one_that_has_it_and_beyond_its_answer() {
        let slow = [(NotFound, 2000), (NotFound, 30), (Hit, 40), (Cancelled, 2000)];
        assert_eq!(parts(&slow, false), (WaitedFor::Order, vec![1960, 0, 0, 0]));
        let two = [(NotFound, 140), (Timeout, 240), (Hit, 40), (NotAsked, 0)];
        assert_eq!(parts(&two, false), (WaitedFor::Order, vec![66, 133, 0, 0]), "together 200, the longer one");
        assert_eq!(parts(&[(Hit, 40), (NotFound, 2000)], false).1, [0, 0], "a later one is not waited for");
    }

    #[test]
    fn what_nobody_has_waits_for_all_and_a_document_for_all_beyond_its_parts() {
        assert_eq!(parts(&[(NotFound, 300), (NotFound, 100)], false), (WaitedFor::Nobody, vec![225, 75]));
        let document = [(Hit, 10), (NotFound, 500), (Hit, 100)];
        assert_eq!(parts(&document, true), (WaitedFor::Document, vec![0, 400, 0]));
        assert_eq!(parts(&[], false), (WaitedFor::Nobody, vec![]));
    }
}
