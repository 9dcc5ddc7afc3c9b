//! Figures of the members of groups: how often each was asked, its answers, and how long requests waited for it.

use std::collections::HashMap;
use telemetry::Glance;

/// The figures of one member of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemberSeen {
    /// How often it was asked.
    pub(crate) asked: u64,
}

/// The members that were asked, by the names of group and member.
#[derive(Debug, Clone, Default)]
pub(crate) struct MembersSeen(pub(crate) HashMap<(Box<str>, Box<str>), MemberSeen>);

impl MembersSeen {
    pub(crate) fn see(&mut self, _event: &Glance<'_>) {}

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, theirs) in &other.0 {
            self.0.entry(key.clone()).or_default().asked += theirs.asked;
        }
    }
}
