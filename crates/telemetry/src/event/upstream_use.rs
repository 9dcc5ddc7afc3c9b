//! The part of an event about upstreams: the calls that it made, and the fetches that it waited for.

use crate::{Event, EventId, Text};

/// The calls to upstreams that an event made itself, or that the fetches made for which it waited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamUse {
    /// The host of the settings that was called last, as `name:port`. The targets of redirects are not named.
    pub host: Text,
    /// The status of the last response; 0 if the last call had none.
    pub status: u16,
    /// Calls that were made.
    pub calls: u32,
    /// The calls among them to hosts that no setting names: redirects lead to them.
    pub redirected: u32,
    /// Connections that were opened for them.
    pub connects: u32,
    /// Pauses that the upstream asked for and that were waited for.
    pub pauses: u32,
    /// Calls over a connection that an earlier call had left open.
    pub reused: u32,
    /// Who closed the connection that an earlier call had left open, if one was opened because of that.
    pub closed_by: Option<ClosedBy>,
    /// Bytes of the bodies of responses.
    pub bytes: u64,
    /// The event of the fetch that it waited for last.
    pub flight: Option<EventId>,
    /// How often an event waited for this fetch.
    pub followed: u32,
    /// The first events that waited for this fetch.
    pub followers: Vec<EventId>,
}

crate::closed_list! {
    /// Who closed an idle connection.
    pub enum ClosedBy {
        /// This server: it was idle for too long, the pool was full, or the rest of a response was not wanted.
        Us = "us",
        /// The upstream, in an orderly way.
        Upstream = "upstream",
        /// It broke off.
        Error = "error",
    }
}

impl UpstreamUse {
    /// The most followers that are recorded by their ids.
    pub const FOLLOWERS_MAX: usize = 8;

    /// A call to a host begins; `None`: no setting names the host.
    pub fn begin(&mut self, host: Option<&Text>) {
        match host {
            Some(host) => self.host = host.clone(),
            None => self.redirected += 1,
        }
        (self.calls, self.status) = (self.calls + 1, 0);
    }

    /// The event `by` waits for the fetch that has this record.
    pub fn follow(&mut self, by: EventId) {
        self.followed = self.followed.saturating_add(1);
        if self.followers.len() < Self::FOLLOWERS_MAX {
            self.followers.push(by);
        }
    }

    /// Adds the calls of a fetch or of a member.
    pub fn add(&mut self, other: &UpstreamUse) {
        if !other.host.is_empty() {
            (self.host, self.status) = (other.host.clone(), other.status);
        }
        self.calls = self.calls.saturating_add(other.calls);
        self.redirected = self.redirected.saturating_add(other.redirected);
        self.connects = self.connects.saturating_add(other.connects);
        self.reused = self.reused.saturating_add(other.reused);
        self.pauses = self.pauses.saturating_add(other.pauses);
        self.closed_by = other.closed_by.or(self.closed_by);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.flight = other.flight.or(self.flight);
    }
}

impl Event {
    /// The part about upstreams, made now if there is none.
    pub fn upstream_mut(&mut self) -> &mut UpstreamUse {
        self.more_mut().upstream.get_or_insert_default()
    }

    /// The part about upstreams, if it has one.
    pub fn upstream(&self) -> Option<&UpstreamUse> {
        self.more.as_ref().and_then(|more| more.upstream.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_add_up_and_the_last_host_of_the_settings_is_named() {
        let mut sum = UpstreamUse::default();
        sum.begin(Some(&"a.test:443".into()));
        sum.status = 302;
        sum.begin(None);
        let host: &str = &sum.host;
        assert_eq!((host, sum.status, sum.calls, sum.redirected), ("a.test:443", 0, 2, 1));
        let other = UpstreamUse {
            host: "b.test:80".into(),
            status: 200,
            calls: 1,
            connects: 1,
            pauses: 2,
            closed_by: Some(ClosedBy::Upstream),
            bytes: 7,
            flight: Some(EventId(3)),
            ..UpstreamUse::default()
        };
        sum.add(&other);
        sum.add(&UpstreamUse::default());
        let expected = UpstreamUse { calls: 3, redirected: 1, ..other };
        assert_eq!(sum, expected);
    }

    #[test]
    fn a_crowd_of_followers_is_counted_and_the_first_ones_are_named() {
        let mut used = UpstreamUse::default();
        (0..20).for_each(|id| used.follow(EventId(id)));
        assert_eq!((used.followed, used.followers.len()), (20, UpstreamUse::FOLLOWERS_MAX));
        assert_eq!(used.followers[1], EventId(1));
    }
}
