//! Whether a backend can be used: what its connections and its health path told.

use std::time::Duration;
use telemetry::{Millis, Tick};

/// How long a backend that refused a connection gets no requests. Then one request tries it again.
const REFUSED: Duration = Duration::from_secs(1);
/// So many checks in a row must fail before a backend counts as unhealthy. One alone may be a pause of its garbage collection.
const FAILURES: u32 = 2;

/// What a look at the health path showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Check {
    /// 2xx or 3xx.
    Healthy,
    /// 503: it finishes its requests, and wants no new ones.
    Draining,
    /// Any other status, or none. The text says why.
    Failed(String),
}

/// In which order backends are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It can be used.
    Usable,
    /// It is down.
    Down,
    /// It asked for no new requests.
    Draining,
}

/// The health of a backend, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// It refused the last connection, and is not tried before this.
    refused_until: Option<Tick>,
    /// Checks that failed, since the last one that did not.
    failures: u32,
    unhealthy: bool,
    draining: bool,
    /// When it began to be down.
    since: Option<Millis>,
    /// The last failure, and when it was.
    last: Option<(Millis, String)>,
}

impl Health {
    /// Whether nothing speaks against it.
    pub(super) fn is_good(&self) -> bool {
        self.refused_until.is_none() && !self.unhealthy && !self.draining
    }

    pub(super) fn rank(&self, now: Tick) -> Rank {
        match self {
            _ if self.draining => Rank::Draining,
            _ if self.unhealthy || self.refused_until.is_some_and(|until| now < until) => Rank::Down,
            _ => Rank::Usable,
        }
    }

    /// A request tries it now. Another one that has a choice does not until this one had time to fail.
    pub(super) fn tried(&mut self, now: Tick) {
        if self.refused_until.is_some() {
            self.refused_until = Some(now.plus(REFUSED));
        }
    }

    /// It accepted a connection.
    pub(super) fn connected(&mut self) {
        self.refused_until = None;
    }

    /// It refused a connection, or the handshake failed.
    pub(super) fn refused(&mut self, now: Tick, at: Millis, why: String) {
        self.down(at, why);
        self.refused_until = Some(now.plus(REFUSED));
    }

    /// It gave no whole response. That alone is no reason not to use it: the fault may be that of one request.
    pub(super) fn failed(&mut self, at: Millis, why: String) {
        self.last = Some((at, why));
    }

    /// What its health path told.
    pub(super) fn checked(&mut self, check: Check, at: Millis) {
        if let Check::Failed(why) = check {
            self.down(at, why);
            self.failures = self.failures.saturating_add(1);
            self.unhealthy |= self.failures >= FAILURES;
            return;
        }
        (self.failures, self.unhealthy, self.draining) = (0, false, check == Check::Draining);
        self.refused_until = None;
    }

    /// A failure that may be one of several.
    fn down(&mut self, at: Millis, why: String) {
        if self.is_good() {
            self.since = Some(at);
        }
        self.last = Some((at, why));
    }

    /// Why it gets no requests, or its last failure.
    pub(super) fn trouble(&self) -> Option<String> {
        if self.draining {
            return Some("its health path answers 503, so it gets no new requests".to_owned());
        }
        let (at, why) = self.last.as_ref()?;
        Some(match self.since.filter(|_| !self.is_good()) {
            Some(since) => format!("down since {since}: {why}"),
            None => format!("last failure at {at}: {why}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Millis = Millis(1);

    fn seconds(seconds: u64) -> Tick {
        Tick(seconds * 1_000_000_000 + 1)
    }

    fn failed(health: &mut Health) {
        health.checked(Check::Failed("500".to_owned()), AT);
    }

    #[test]
    fn a_backend_that_refuses_gets_one_request_a_second_until_it_accepts_one() {
        let mut health = Health::default();
        assert!(health.is_good() && health.trouble().is_none());
        health.refused(seconds(0), AT, "nothing listens".to_owned());
        assert_eq!((health.rank(Tick(1_000_000_000)), health.is_good()), (Rank::Down, false));
        assert_eq!(health.rank(seconds(1)), Rank::Usable);
        health.tried(seconds(1));
        assert_eq!([health.rank(seconds(1)), health.rank(seconds(2))], [Rank::Down, Rank::Usable]);
        health.refused(seconds(2), Millis(1001), "refused".to_owned());
        assert_eq!(health.trouble().unwrap(), format!("down since {AT}: refused"));
        health.connected();
        assert_eq!((health.rank(seconds(1)), health.is_good()), (Rank::Usable, true));
        assert!(health.trouble().unwrap().starts_with("last failure at "));
        health.tried(seconds(3));
        assert!(health.is_good());
    }

    #[test]
    fn two_checks_in_a_row_must_fail_and_one_that_does_not_is_enough() {
        let mut health = Health::default();
        failed(&mut health);
        health.checked(Check::Healthy, AT);
        failed(&mut health);
        assert_eq!(health.rank(seconds(0)), Rank::Usable);
        failed(&mut health);
        assert_eq!((health.rank(seconds(99)), health.is_good()), (Rank::Down, false));
        health.checked(Check::Healthy, AT);
        assert_eq!((health.rank(seconds(0)), health.is_good()), (Rank::Usable, true));
    }

    #[test]
    fn a_backend_that_drains_comes_last_until_it_is_healthy() {
        let mut health = Health::default();
        health.checked(Check::Draining, AT);
        assert_eq!((health.rank(seconds(0)), health.is_good()), (Rank::Draining, false));
        // It may then stop to answer at all: it still has requests under way.
        failed(&mut health);
        failed(&mut health);
        assert_eq!(health.rank(seconds(0)), Rank::Draining);
        health.checked(Check::Healthy, AT);
        assert_eq!(health.rank(seconds(0)), Rank::Usable);
    }

    #[test]
    fn a_failed_response_is_told_and_changes_nothing() {
        let mut health = Health::default();
        health.failed(AT, "cut".to_owned());
        assert!(health.is_good() && health.trouble().unwrap().ends_with(": cut"));
    }
}
