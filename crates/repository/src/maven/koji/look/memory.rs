//! What a look leaves for the next one: the tags, what each listed, and the history that is known.

use crate::maven::koji::map::KojiMap;
use crate::record::KojiRecord;
use format::koji::answer::Listing;
use format::koji::model::{BuildId, EventId, TagId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use telemetry::Millis;

/// An event is settled when a look saw it at least this number of milliseconds ago. Koji gives ids before commit: a
/// change with a lower id may become visible later, so questions begin at a settled event.
pub(crate) const SETTLED_MS: i64 = 600_000;
/// The whole of each tag is read again after this number of milliseconds, a day. Nothing but that finds archives that
/// were added to a build that is tagged already.
pub(crate) const FULL_EVERY_MS: i64 = 86_400_000;
/// After a start all is read again after this number of milliseconds at the earliest, an hour.
const RESTARTED_MS: i64 = 3_600_000;
/// Two remembered events are at least this number of milliseconds apart, so that hints do not make the list long.
const SEEN_APART_MS: i64 = 30_000;
/// Builds of past listings that are read in one more call of a look that finds nothing else, until all are read.
const PAST_BUILDS: usize = 500;
/// Maximum number of past listings whose builds were not read yet.
const PAST_MAX: usize = 20_000;

/// The known facts about a hub apart from the map. They are not saved: after a start they are those of the map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    /// The settings of the last look.
    pub(crate) record: Option<KojiRecord>,
    /// The tags of the patterns.
    pub(crate) roots: BTreeMap<TagId, Root>,
    /// The known history of these tags and of the tags that they inherit from.
    pub(crate) tags: BTreeMap<TagId, TagHistory>,
    /// The event of the last look.
    pub(crate) last: EventId,
    /// The event after which questions begin.
    pub(crate) settled: Option<EventId>,
    /// The last events that looks saw, and when.
    seen: Vec<(EventId, Millis)>,
    /// Listings that ended before the first look, whose builds the map does not know.
    pub(crate) past: VecDeque<Listing>,
    /// How many times fewer of these builds are read at once, as a power of two.
    past_shift: u32,
    /// When all was last read.
    pub(crate) full: Option<Millis>,
    /// Whether the hub does not know the argument `extra`.
    pub(crate) is_plain: bool,
    /// What was left out, by reason.
    pub(crate) left_out: BTreeMap<&'static str, u64>,
}

/// A tag of the patterns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Root {
    pub(crate) name: String,
    pub(crate) parents: Vec<TagId>,
    /// The builds that it listed, with the tags that have them. `None`: it was not listed yet.
    pub(crate) listed: Option<BTreeSet<(BuildId, TagId)>>,
    /// It has to be listed again.
    pub(crate) is_due: bool,
    /// The hub says that there is no such tag. Its builds stay.
    pub(crate) is_gone: bool,
}

/// The known history of a tag.
#[derive(Debug, Clone, Default)]
pub(crate) struct TagHistory {
    /// The hashes of its rows with an event that is not settled.
    pub(crate) rows: BTreeMap<u64, EventId>,
    /// Whether it had changed since the settled event.
    pub(crate) has_changed: bool,
}

impl Memory {
    /// What the map has from before a start. The first look then asks no more than any other; only tags without
    /// builds, and with inheritance all, are listed once: the map does not have which tags inherit from which.
    pub(crate) fn restored(map: &KojiMap, record: &KojiRecord, now: Millis) -> Self {
        let mut listed: BTreeMap<TagId, BTreeSet<(BuildId, TagId)>> = BTreeMap::new();
        for one in map.taggings() {
            listed.entry(one.tag).or_default().insert((one.build, one.tag));
        }
        let mut memory = Self { settled: map.settled(), last: map.seen(), ..Self::default() };
        for (tag, name) in map.tags() {
            let of = listed.remove(&tag);
            if of.is_some() || record.matches(&name) {
                // A tag without builds may have had another name for a while.
                let listed = of.filter(|_| !record.inherit);
                memory.roots.insert(tag, Root { name, is_due: listed.is_none(), listed, ..Root::default() });
                memory.tags.insert(tag, TagHistory::default());
            }
        }
        let soon = now.0 - FULL_EVERY_MS + RESTARTED_MS;
        let full = map.read_whole().filter(|full| *full <= now);
        memory.full = Some(Millis(full.map_or(soon, |full| full.0.max(soon))));
        memory
    }

    /// The roots and the tags that they inherit from.
    pub(crate) fn all_tags(&self) -> BTreeSet<TagId> {
        let roots = self.roots.iter().filter(|(_, root)| !root.is_gone);
        roots.flat_map(|(tag, root)| std::iter::once(*tag).chain(root.parents.iter().copied())).collect()
    }

    /// Moves the settled event on at the end of a look that began at this moment, and drops the history before it. The
    /// time of a later look does not count: if looks failed for an hour, a change may have been committed after the
    /// last one.
    pub(crate) fn settle(&mut self, now: Millis) {
        let old = |(_, at): &&(EventId, Millis)| at.0 <= now.0 - SETTLED_MS;
        let newest = self.seen.iter().filter(old).map(|(event, _)| *event).max();
        self.settled = self.settled.max(newest);
        if let Some(settled) = self.settled {
            self.seen.retain(|(event, _)| *event > settled);
            self.tags.values_mut().for_each(|known| known.rows.retain(|_, event| *event > settled));
        }
    }

    /// Records the event that a look saw.
    pub(crate) fn see(&mut self, event: EventId, now: Millis) {
        // After the clock was set back, the time begins again.
        self.seen.iter_mut().for_each(|(_, at)| *at = (*at).min(now));
        if self.seen.last().is_none_or(|(_, at)| now.0 - at.0 >= SEEN_APART_MS) {
            self.seen.push((event, now));
        }
        self.last = event;
    }

    /// Forgets all events: those of the hub are others now. It lists each tag again.
    pub(crate) fn forget_events(&mut self) {
        (self.settled, self.last) = (None, EventId::default());
        self.seen.clear();
        self.tags.clear();
        self.roots.values_mut().for_each(|root| root.is_due = true);
    }

    /// Whether all has to be read again.
    pub(crate) fn is_full_due(&self, now: Millis) -> bool {
        self.full.is_none_or(|full| now < full || now.0 - full.0 >= FULL_EVERY_MS)
    }

    /// How many builds of past listings are read at once.
    pub(super) fn past_part(&self) -> usize {
        PAST_BUILDS >> self.past_shift
    }

    /// Reads fewer of them from the next look on, as an answer about so many was too much, and in the end none.
    pub(super) fn read_less_past(&mut self) {
        self.past_shift += 3;
        if self.past_part() == 0 {
            self.past.clear();
            self.past_shift = 0;
        }
    }

    /// Remembers a past listing until its build is read.
    pub(crate) fn remember_past(&mut self, listing: Listing) {
        if self.past.len() < PAST_MAX {
            self.past.push_back(listing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_settled_ten_minutes_after_a_look_saw_it_whatever_the_clock_does() {
        let mut memory = Memory::default();
        for minute in 0..30 {
            let now = Millis(minute * 60_000);
            memory.settle(now);
            let expected = (minute >= 10).then(|| EventId(u64::try_from(minute).unwrap() - 10));
            assert_eq!(memory.settled, expected, "{minute}");
            memory.see(EventId(u64::try_from(minute).unwrap()), now);
            assert!(memory.seen.len() <= 11);
        }
        let back = Millis(0);
        memory.settle(back);
        memory.see(EventId(30), back);
        assert_eq!(memory.settled, Some(EventId(19)));
        memory.settle(Millis(SETTLED_MS - 1));
        assert_eq!(memory.settled, Some(EventId(19)), "all were seen at most ten minutes ago, as far as is known");
        memory.settle(Millis(SETTLED_MS));
        assert_eq!(memory.settled, Some(EventId(29)), "the look of the same moment is not remembered");
    }
}
