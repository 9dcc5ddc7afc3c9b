//! Freshness without invalidation: a fixed array of counters that writers raise and readers compare.
//!
//! The slot of a unit is a hash of its repository and name. A collision only costs a miss. At start every slot has the number of the last
//! change. After COMMIT and before the reply, the writer raises the slot of each changed unit. During COMMIT some readers see the old
//! rows and others the new ones, so from before COMMIT until then no stamp of these units holds ([`Changing`]): a client that has seen a new
//! row in one answer sees it in every other.

use crate::journal::record::{RepositoryId, Seq};
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use telemetry::Millis;

/// A thing that an answer may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit<'a> {
    /// One unit of a repository.
    Of(RepositoryId, &'a str),
    /// Any entry of a repository.
    All(RepositoryId),
    /// The repositories and all settings.
    Settings,
    /// The settings of a repository, and of each that shares a group with it, directly or through others: what the answers of a
    /// repository depend on.
    SettingsOf(RepositoryId),
    /// Which upstream a repository has.
    Upstream(RepositoryId),
    /// The tokens.
    Tokens,
}

/// The state that an answer was made from: at most four slots with their values, and the moment when the answer expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    slots: [(u32, u64); Self::SLOTS],
    used: u8,
    /// The next moment at which the answer could differ without any change. It must not be served from then on.
    pub fresh_until: Millis,
}

impl Stamp {
    /// The most units that an answer may depend on.
    pub const SLOTS: usize = 4;

    /// The same stamp, valid only until `moment`.
    pub fn until(mut self, moment: Millis) -> Stamp {
        self.fresh_until = self.fresh_until.min(moment);
        self
    }

    /// A stamp that holds while both hold. `None`: together they have more than [`Stamp::SLOTS`] slots.
    pub fn join(mut self, other: &Stamp) -> Option<Stamp> {
        for slot in &other.slots[..usize::from(other.used)] {
            *self.slots.get_mut(usize::from(self.used))? = *slot;
            self.used += 1;
        }
        self.fresh_until = self.fresh_until.min(other.fresh_until);
        Some(self)
    }
}

/// Added to a slot for each commit that is changing it.
const CHANGING: u64 = 1 << 48;

/// The units that a commit is changing. No stamp of them holds until this is dropped.
#[derive(Debug)]
pub(crate) struct Changing {
    revisions: Arc<Revisions>,
    slots: HashSet<usize>,
}

impl Changing {
    /// Adds a unit, before the commit.
    pub(crate) fn add(&mut self, unit: Unit<'_>) {
        let slot = self.revisions.slot(&unit);
        if self.slots.insert(slot) {
            self.revisions.slots[slot].fetch_add(CHANGING, Ordering::AcqRel);
        }
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        for slot in &self.slots {
            self.revisions.slots[*slot].fetch_sub(CHANGING, Ordering::AcqRel);
        }
    }
}

/// The counters.
#[derive(Debug)]
pub struct Revisions {
    slots: Box<[AtomicU64]>,
    hasher: ahash::RandomState,
}

impl Revisions {
    /// The number of slots.
    pub const SLOTS: usize = 1 << 20;

    /// Counters that all start at `last`.
    pub fn new(last: Seq) -> Self {
        Self { slots: (0..Self::SLOTS).map(|_| AtomicU64::new(last.0)).collect(), hasher: ahash::RandomState::new() }
    }

    fn slot(&self, unit: &impl Hash) -> usize {
        (self.hasher.hash_one(unit) as usize) & (Self::SLOTS - 1)
    }

    /// A stamp with the current values of `units`. Take it before reading the rows for the answer.
    pub fn stamp<const N: usize>(&self, units: [Unit<'_>; N], fresh_until: Millis) -> Stamp {
        const { assert!(N <= Stamp::SLOTS) };
        let mut slots = [(0, 0); Stamp::SLOTS];
        for (place, unit) in slots.iter_mut().zip(&units) {
            let slot = self.slot(unit);
            *place = (slot as u32, self.slots[slot].load(Ordering::Acquire));
        }
        Stamp { slots, used: N as u8, fresh_until }
    }

    /// Whether none of the stamp's units has changed or is being changed, and it has not expired.
    pub fn holds(&self, stamp: &Stamp, now: Millis) -> bool {
        self.holds_at(stamp, || now)
    }

    /// The same, which reads the clock only for a stamp that expires.
    pub fn holds_at(&self, stamp: &Stamp, now: impl FnOnce() -> Millis) -> bool {
        (stamp.fresh_until == Millis(i64::MAX) || now() < stamp.fresh_until)
            && stamp.slots[..usize::from(stamp.used)]
                .iter()
                .all(|(slot, value)| *value < CHANGING && self.slots[*slot as usize].load(Ordering::Acquire) == *value)
    }

    /// Begins a commit that changes no unit yet.
    pub(crate) fn changing(self: &Arc<Self>) -> Changing {
        Changing { revisions: self.clone(), slots: HashSet::new() }
    }

    /// Raises `unit`: earlier stamps of it no longer hold. The writer calls this after COMMIT and before the reply. A download
    /// that got other bytes from an upstream also calls it, before they are served.
    pub fn raise(&self, unit: Unit<'_>) {
        self.slots[self.slot(&unit)].fetch_add(1, Ordering::AcqRel);
    }

    /// Raises the settings of these repositories. First those of all: a reader that sees one of them raised sees that, too, and does
    /// not take the table of repositories for a present one.
    pub(crate) fn raise_settings(&self, of: impl IntoIterator<Item = RepositoryId>) {
        self.raise(Unit::Settings);
        of.into_iter().for_each(|id| self.raise(Unit::SettingsOf(id)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const LATER: Millis = Millis(i64::MAX);

    #[test]
    fn a_stamp_holds_until_one_of_its_units_is_raised() {
        let revisions = Revisions::new(Seq(7));
        let repository = RepositoryId(1);
        let units = [Unit::Of(repository, "rack"), Unit::All(repository)];
        let stamp = revisions.stamp(units, LATER);
        assert!(revisions.holds(&stamp, Millis(0)));
        revisions.raise(Unit::Of(repository, "rack"));
        assert!(!revisions.holds(&stamp, Millis(0)));
        assert!(revisions.holds(&revisions.stamp(units, LATER), Millis(0)));
    }

    #[test]
    fn no_stamp_of_a_unit_holds_while_a_commit_changes_it() {
        let revisions = Arc::new(Revisions::new(Seq(7)));
        let unit = Unit::Of(RepositoryId(1), "rack");
        let stamp = || revisions.stamp([unit], LATER);
        let holds = |stamp: &Stamp| revisions.holds(stamp, Millis(0));
        let before = stamp();
        let mut changing = revisions.changing();
        changing.add(unit);
        changing.add(unit);
        let meanwhile = stamp();
        assert!(!holds(&before) && !holds(&meanwhile));
        drop(changing);
        assert!(holds(&before) && !holds(&meanwhile), "nothing was changed");
        let mut changing = revisions.changing();
        changing.add(unit);
        revisions.raise(unit);
        drop(changing);
        assert!(!holds(&before) && !holds(&meanwhile) && holds(&stamp()));
    }

    #[test]
    fn joined_stamps_hold_while_both_do_and_are_four_slots_at_most() {
        let revisions = Revisions::new(Seq(0));
        let one = |unit: Unit<'_>, until: i64| revisions.stamp([unit], Millis(until));
        let both = one(Unit::Settings, 10).join(&one(Unit::Tokens, 20)).unwrap();
        assert!(revisions.holds(&both, Millis(9)) && !revisions.holds(&both, Millis(10)));
        let four = both.join(&both).unwrap();
        assert!(four.join(&both).is_none());
        revisions.raise(Unit::Tokens);
        assert!(!revisions.holds(&both, Millis(0)));
    }

    #[test]
    fn a_stamp_ends_at_its_time() {
        let revisions = Revisions::new(Seq(0));
        let stamp = revisions.stamp([Unit::Settings], Millis(10));
        assert!(revisions.holds(&stamp, Millis(9)));
        assert!(!revisions.holds(&stamp, Millis(10)));
    }
}
