//! How an answer from an upstream was obtained, for the event of the request.

use crate::content::{Content, Source};
use crate::error::{Error, Result};
use crate::upstream::Remote;
use telemetry::{Event, EventId, MemberRecord, MemberSaid, Reason, Tick};

/// How an answer was obtained.
#[derive(Debug, Default)]
pub(crate) struct FetchTrace {
    /// The fetch that it started or followed.
    pub(crate) flight: Option<EventId>,
    /// Why it is stale.
    pub(crate) stale: Option<Reason>,
    /// Whether the upstream declared no checksum.
    pub(crate) unverified: bool,
    /// The exceptions that make it visible before its cooldown ends.
    pub(crate) let_through: Option<String>,
    /// What policy leaves out of a document that lists versions.
    pub(crate) left_out: Option<String>,
    /// What an index of the upstream says of the file, or why it has none.
    pub(crate) told: Option<String>,
}

impl FetchTrace {
    /// Writes the result into the event. The work began at `began`.
    pub(crate) fn finish(mut self, remote: &Remote, began: Tick, found: &Result<Content>, event: &mut Event) {
        let detail = match found {
            Err(Error::Upstream(failure)) => Some(failure.detail()),
            Err(Error::Hidden(why)) => Some(why.to_string()),
            _ => self.let_through.take().or_else(|| self.left_out.take()),
        };
        event.detail = detail.into_iter().chain(self.told.take()).collect::<Vec<_>>().join("; ");
        let (said, reason) = match (found, self.stale) {
            (Ok(_), None) => (MemberSaid::Hit, self.unverified.then_some(Reason::Unverified)),
            (Ok(_), Some(reason)) => (MemberSaid::Stale, Some(reason)),
            (Err(Error::Unasked), _) => (MemberSaid::Unknown, None),
            (Err(error), _) if error.is_absence() => (MemberSaid::NotFound, Some(error.reason())),
            (Err(error @ Error::Hidden(_)), _) => (MemberSaid::Blocked, Some(error.reason())),
            (Err(error), _) if error.reason() == Reason::UpstreamTimeout => (MemberSaid::Timeout, Some(error.reason())),
            (Err(error), _) => (MemberSaid::Failed, Some(error.reason())),
        };
        let until = match found {
            // What still arrives becomes no page, which does not limit how long it is good for.
            Ok(content) => content.fresh_until.filter(|_| !matches!(content.source, Source::Growing(_))),
            Err(error) => error.fresh_until(),
        };
        event.absorb(MemberRecord {
            until,
            nanos: Tick::now().since(began),
            flight: self.flight,
            ..MemberRecord::new(&remote.repository.record.name, said, reason)
        });
    }
}
