//! The part of one member of a group in an event.

use crate::{EventId, Millis, Op, Reason, Tally, UpstreamUse};

crate::closed_list! {
    /// The result of one member of a group, or of a single repository.
    pub enum MemberSaid {
        /// It has the file.
        Hit = "hit",
        /// It proved that it does not have the file.
        NotFound = "not_found",
        /// A policy of the member hides the file.
        Blocked = "blocked",
        /// It gave its last known answer, because its upstream failed.
        Stale = "stale",
        /// It did not answer in time.
        Timeout = "timeout",
        /// It failed.
        Failed = "failed",
        /// It was cancelled before it answered.
        Cancelled = "cancelled",
        /// It is unknown whether it has the file. Explaining an answer asks no upstream.
        Unknown = "unknown",
        /// No request was sent to it: it is known not to have the file, or another member was queried instead.
        NotAsked = "not_asked",
    }
}

impl MemberSaid {
    /// Whether the member did not answer reliably.
    pub(crate) fn is_unsure(self) -> bool {
        matches!(self, MemberSaid::Failed | MemberSaid::Timeout | MemberSaid::Stale)
    }
}

/// The part of one member in an answer. A branch returns it, and the event absorbs it in the order of the members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRecord {
    /// The member's name.
    pub member: String,
    /// Its result.
    pub said: MemberSaid,
    /// Why, if there is a reason.
    pub reason: Option<Reason>,
    /// Details for operators: the cause of a failure, or the rule that hides or admits a version.
    pub detail: String,
    /// Until when the result is valid, if that is known.
    pub until: Option<Millis>,
    /// The time that it took, in nanoseconds.
    pub nanos: u64,
    /// The ops that it ran.
    pub ops: Vec<(Op, Tally)>,
    /// The event of the download from its upstream that it started or waited for.
    pub flight: Option<EventId>,
    /// The calls to upstreams.
    pub upstream: Option<Box<UpstreamUse>>,
}

impl MemberRecord {
    /// A record without costs.
    pub fn new(member: impl Into<String>, said: MemberSaid, reason: Option<Reason>) -> Self {
        let (member, detail, ops) = (member.into(), String::new(), Vec::new());
        Self { member, said, reason, detail, until: None, nanos: 0, ops, flight: None, upstream: None }
    }
}
