//! Figures of groups and of their members: how often each was asked, its answers, and how long requests waited for it.

use super::prefixes::{PrefixesSeen, prefix};
use super::request_kinds::{Kinds, Waited};
use super::waits::{WaitedFor, Waits, answered, called, has};
use super::worst::Worst;
use std::collections::HashMap;
use telemetry::{Glance, Kind, Layer, MemberSaid, Op};

/// The most members with figures of their own, of all groups together.
const MEMBERS_MAX: usize = 4096;
/// The most prefixes of names with figures of their own, of all members together.
const PREFIXES_MAX: usize = 512;

/// How many further members and prefixes may have figures.
#[derive(Debug, Clone)]
struct Space {
    members: usize,
    prefixes: usize,
}

/// The figures of one member of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemberSeen {
    /// Requests that waited for its answer.
    pub(crate) asked: u64,
    /// Those for which its upstream was called.
    pub(crate) called: u64,
    /// Those for which it had something.
    pub(crate) hits: u64,
    /// Those for which it had nothing.
    pub(crate) not_found: u64,
    /// Those for which it failed, or gave no answer in time.
    pub(crate) failed: u64,
    /// Those of the failed ones that the group answered with an error of the server.
    pub(crate) failed_answers: u64,
    /// Files that a later member had, and that waited for its answer.
    pub(crate) held_up: u64,
    /// The time that these waited beyond the answer of the later member, in nanoseconds.
    pub(crate) order_nanos: u64,
    /// The time that requests for what nobody has waited for it, in nanoseconds.
    pub(crate) nobody_nanos: u64,
    /// The time that documents waited for it beyond the members that have parts of them, in nanoseconds.
    pub(crate) document_nanos: u64,
    /// The time that requests waited for it until it failed, in nanoseconds.
    pub(crate) failed_nanos: u64,
    /// How much shorter these would have been if it alone had not been asked, in nanoseconds: files that a later member had, and all that waited
    /// in vain.
    pub(crate) order_spared: u64,
    pub(crate) vain_spared: u64,
    /// The request that waited longest because of the order.
    pub(crate) worst_order: Worst,
    /// The request that waited longest in vain, for any reason.
    pub(crate) worst: Worst,
    /// The request that waited longest until it failed.
    pub(crate) worst_failed: Worst,
    /// By the beginning of names.
    pub(crate) prefixes: PrefixesSeen,
}

impl MemberSeen {
    /// The time that requests waited for answers of it that had nothing, in nanoseconds.
    pub(crate) fn vain_nanos(&self) -> u64 {
        self.order_nanos + self.nobody_nanos + self.document_nanos
    }

    /// Counts an answer. Returns whether its event is worth storing.
    fn see(&mut self, event: &Glance<'_>, waits: &Waits, at: usize, space: &mut usize) -> bool {
        let Some(record) = event.members.get(at) else { return false };
        let (id, part) = (event.figures.id, waits.part(at, record));
        let called = called(record);
        self.asked += 1;
        self.called += u64::from(called);
        if matches!(record.said, MemberSaid::Failed | MemberSaid::Timeout) {
            self.failed += 1;
            self.failed_answers += u64::from(event.figures.status >= 500);
            self.failed_nanos += part;
            return self.worst_failed.see(part.max(1), id);
        }
        let prefix = prefix(event.package).and_then(|prefix| self.prefixes.of_mut(prefix, space));
        if has(record) {
            self.hits += 1;
            match prefix {
                Some(prefix) => prefix.hits += 1,
                None => self.prefixes.missed_hit(),
            }
            return false;
        }
        self.not_found += u64::from(record.said == MemberSaid::NotFound);
        if let Some(prefix) = prefix.filter(|_| called && record.said == MemberSaid::NotFound) {
            let folder = event.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            match waits.what {
                WaitedFor::Order => {
                    prefix.others += 1;
                    prefix.others_folders.add(folder);
                }
                WaitedFor::Nobody => {
                    prefix.missing += 1;
                    prefix.missing_nanos += part;
                    prefix.missing_folders.add(folder);
                    prefix.missing_paths.add(event.path);
                    let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
                    prefix.missing_groups.add(event.package.split_once(':').map_or(above, |(group, _)| group));
                }
                WaitedFor::Document => {}
            }
        }
        if part == 0 {
            return false;
        }
        let mut shows = self.worst.see(part, id);
        self.vain_spared += waits.spared(at);
        match waits.what {
            WaitedFor::Order => {
                self.held_up += 1;
                self.order_nanos += part;
                self.order_spared += waits.spared(at);
                shows |= self.worst_order.see(part, id);
            }
            WaitedFor::Nobody => self.nobody_nanos += part,
            WaitedFor::Document => self.document_nanos += part,
        }
        shows
    }

    fn add(&mut self, other: &Self, space: &mut usize) {
        self.asked += other.asked;
        self.called += other.called;
        self.hits += other.hits;
        self.not_found += other.not_found;
        self.failed += other.failed;
        self.failed_answers += other.failed_answers;
        self.held_up += other.held_up;
        self.order_nanos += other.order_nanos;
        self.nobody_nanos += other.nobody_nanos;
        self.document_nanos += other.document_nanos;
        self.failed_nanos += other.failed_nanos;
        self.order_spared += other.order_spared;
        self.vain_spared += other.vain_spared;
        self.worst_order.add(&other.worst_order);
        self.worst.add(&other.worst);
        self.worst_failed.add(&other.worst_failed);
        self.prefixes.add(&other.prefixes, space);
    }
}

/// The figures of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupSeen {
    /// Requests for which members were asked.
    pub(crate) requests: u64,
    /// The most members that one of them asked.
    pub(crate) asked_most: u64,
    /// Requests that asked three members or more, and the members that these asked.
    pub(crate) wide: u64,
    pub(crate) wide_asked: u64,
    /// The time that these took to ask, beyond the slowest member, in nanoseconds: members that waited for others.
    pub(crate) serial_nanos: u64,
    /// The request that lost most so.
    pub(crate) worst_serial: Worst,
    /// Requests by what they waited for, and by whether an upstream was called.
    kinds: Kinds,
    /// Its members, by name.
    pub(crate) members: Vec<(Box<str>, MemberSeen)>,
}

impl GroupSeen {
    /// Requests that found something, by kind, and what they waited for members that had nothing. Those for what nobody has are of the kind
    /// `missing`, and their number is 0: the repository counts them.
    pub(crate) fn in_vain(&self) -> impl Iterator<Item = (&'static str, Waited)> {
        self.kinds.in_vain()
    }

    /// Requests that asked three members or more, by whether an upstream was called, and how long they asked.
    pub(crate) fn wide_by_call(&self) -> impl Iterator<Item = (&'static str, Waited)> {
        self.kinds.wide()
    }

    /// The figures of a member.
    pub(crate) fn member(&self, name: &str) -> Option<&MemberSeen> {
        self.members.iter().find(|(known, _)| **known == *name).map(|(_, seen)| seen)
    }

    fn see(&mut self, event: &Glance<'_>, space: &mut Space) -> bool {
        let is_document = matches!(event.figures.file, "metadata" | "folder");
        let waits = Waits::of(event.members, is_document);
        let (mut shows, mut asked, mut slowest) = (false, 0, 0);
        for (at, record) in event.members.iter().enumerate().filter(|(_, record)| answered(record)) {
            asked += 1;
            slowest = slowest.max(record.nanos);
            // Members come in their order, so most are found where they are expected.
            let expected = self.members.get(at).is_some_and(|(known, _)| **known == *record.member).then_some(at);
            let find = || self.members.iter().position(|(known, _)| **known == *record.member);
            let place = match expected.or_else(find) {
                Some(place) => place,
                None if space.members == 0 => continue,
                None => {
                    space.members -= 1;
                    self.members.push((record.member.as_str().into(), MemberSeen::default()));
                    self.members.len() - 1
                }
            };
            shows |= self.members[place].1.see(event, &waits, at, &mut space.prefixes);
        }
        self.requests += u64::from(asked > 0);
        self.kinds.see(event.members, &waits);
        self.asked_most = self.asked_most.max(asked);
        if asked >= 3 {
            let asking = event.ops.iter().find(|(op, _)| *op == Op::MembersAsk).map_or(0, |(_, tally)| tally.nanos);
            let serial = asking.saturating_sub(slowest);
            self.kinds.asked_many(event.members, asking);
            self.wide += 1;
            self.wide_asked += asked;
            self.serial_nanos += serial;
            shows |= self.worst_serial.see(serial, event.figures.id);
        }
        shows
    }

    fn add(&mut self, other: &Self, space: &mut Space) {
        self.requests += other.requests;
        self.asked_most = self.asked_most.max(other.asked_most);
        self.wide += other.wide;
        self.wide_asked += other.wide_asked;
        self.serial_nanos += other.serial_nanos;
        self.worst_serial.add(&other.worst_serial);
        self.kinds.add(&other.kinds);
        for (at, (name, theirs)) in other.members.iter().enumerate() {
            let expected = self.members.get(at).is_some_and(|(known, _)| known == name).then_some(at);
            let find = || self.members.iter().position(|(known, _)| known == name);
            match expected.or_else(find) {
                Some(at) => self.members[at].1.add(theirs, &mut space.prefixes),
                None if space.members == 0 => {}
                None => {
                    space.members -= 1;
                    let mut mine = MemberSeen::default();
                    mine.add(theirs, &mut space.prefixes);
                    self.members.push((name.clone(), mine));
                }
            }
        }
    }
}

/// The groups that were asked, by name.
#[derive(Debug, Clone)]
pub(crate) struct MembersSeen {
    pub(crate) groups: HashMap<Box<str>, GroupSeen>,
    space: Space,
}

impl Default for MembersSeen {
    fn default() -> Self {
        Self { groups: HashMap::new(), space: Space { members: MEMBERS_MAX, prefixes: PREFIXES_MAX } }
    }
}

impl MembersSeen {
    /// The figures of a group.
    pub(crate) fn group(&self, name: &str) -> Option<&GroupSeen> {
        self.groups.get(name)
    }

    /// The figures of a member of a group.
    pub(crate) fn of(&self, group: &str, member: &str) -> Option<&MemberSeen> {
        self.group(group)?.member(member)
    }

    /// All members, each with its group.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str, &MemberSeen)> {
        self.groups
            .iter()
            .flat_map(|(group, seen)| seen.members.iter().map(move |(name, member)| (&**group, &**name, member)))
    }

    /// Counts an event. Returns whether it is worth storing.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> bool {
        let is_group = event.figures.layer == Layer::Group && event.figures.kind == Kind::Request;
        if !is_group || event.members.is_empty() || event.repository.is_empty() {
            return false;
        }
        let Self { groups, space } = self;
        match groups.get_mut(event.repository) {
            Some(seen) => seen.see(event, space),
            None if space.members == 0 => false,
            None => groups.entry(event.repository.into()).or_default().see(event, space),
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, theirs) in &other.groups {
            match self.groups.get_mut(name) {
                Some(mine) => mine.add(theirs, &mut self.space),
                None if self.space.members == 0 => {}
                None => self.groups.entry(name.clone()).or_default().add(theirs, &mut self.space),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Event, EventId, Figures, MemberRecord};

    /// A request for a file of `org.example:lamp` through the group `company`.
    fn event(number: u64, members: &[(&str, MemberSaid, u64)]) -> Event {
        let record = |(name, said, nanos): &(&str, MemberSaid, u64)| MemberRecord {
            nanos: *nanos,
            flight: Some(EventId(7)),
            ..MemberRecord::new(*name, *said, None)
        };
        let mut event = Event::default();
        (event.id, event.layer) = (EventId(number), Layer::Group);
        (event.kind, event.path) = (Kind::Request, format!("/repository/company/org/example/lamp/{number}/x.pom"));
        event.subject.repository = "company".into();
        event.subject.package = "org.example:lamp".into();
        event.members = members.iter().map(record).collect();
        event
    }

    fn see(seen: &mut MembersSeen, event: &Event) -> bool {
        seen.see(&Glance::of(event, &Figures::of(event)))
    }

    #[test]
    fn a_member_has_what_it_answered_and_how_long_files_of_later_ones_waited_for_it() {
        use MemberSaid::{Hit, NotFound};
        let mut seen = MembersSeen::default();
        assert!(see(&mut seen, &event(1, &[("slow", NotFound, 2_000_000_000), ("central", Hit, 5_000_000)])));
        assert!(!see(&mut seen, &event(2, &[("slow", NotFound, 1_000_000_000), ("central", Hit, 5_000_000)])));
        see(&mut seen, &event(3, &[("slow", NotFound, 80), ("central", NotFound, 20)]));
        let mut twice = seen.clone();
        twice.add(&seen);
        let slow = twice.of("company", "slow").unwrap();
        assert_eq!((slow.asked, slow.hits, slow.not_found, slow.held_up), (6, 0, 6, 4));
        assert_eq!((slow.order_nanos, slow.nobody_nanos), (2 * 2_990_000_000, 2 * 64));
        assert_eq!(slow.worst_order.event, Some(EventId(1)));
        let prefix = &slow.prefixes.list[0];
        assert_eq!((&*prefix.0, prefix.1.others, prefix.1.others_folders.count()), ("org.example", 4, 2));
        assert_eq!((prefix.1.missing, prefix.1.missing_paths.count()), (2, 1));
        assert_eq!(twice.of("company", "central").unwrap().hits, 4);
    }

    #[test]
    fn the_table_has_a_limit_and_known_members_are_counted_beyond_it() {
        let mut seen = MembersSeen::default();
        for number in 0..5000 {
            see(&mut seen, &event(1, &[(&format!("m{number}"), MemberSaid::Hit, 1)]));
        }
        see(&mut seen, &event(1, &[("m7", MemberSaid::Hit, 1)]));
        let company = seen.group("company").unwrap();
        assert_eq!((company.members.len(), company.member("m7").unwrap().hits), (MEMBERS_MAX, 2));
        assert_eq!(company.requests, 5001);
    }
}
