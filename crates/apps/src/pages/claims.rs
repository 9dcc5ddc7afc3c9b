//! The right to have a page written again, which one request at a time uses. The store gives it to one of all servers that read from it;
//! this table keeps the requests of this one from asking for it again and again.

use super::servers::Version;
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Tick, lock};

/// The most pages that are written again at once, or were a moment ago. A stale page beyond it is sent as it is.
const CLAIMS_MAX: usize = 256;
/// How long nobody asks after another server got the right.
const AFTER_LOSS: Duration = Duration::from_secs(1);
/// How long other servers have had the right, and the page is stale still, when it is claimed all the same: a server that got the right may
/// have lost it, such as with the client that asked.
const LOST_MAX: Duration = Duration::from_secs(10);
/// How long nobody tries again after the application failed. The right stays here then: the store gives it once.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The claims of one application, by the key of the page.
#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<HashMap<Bytes, State>>);

#[derive(Debug, Clone, Copy)]
enum State {
    /// A claim is in progress.
    Open,
    /// Nobody may claim before this moment. `mine`: the store has given the right to this server.
    Rests {
        until: Tick,
        mine: bool,
        /// The stale version for which others have the right, and since when.
        lost: Option<(Version, Tick)>,
    },
}

/// A claim in progress.
#[derive(Debug)]
pub(crate) struct Claim {
    claims: Arc<Claims>,
    key: Bytes,
    /// The store has given the right before.
    pub(crate) mine: bool,
    version: Option<Version>,
    lost: Option<(Version, Tick)>,
    next: Option<State>,
}

impl Claims {
    /// Begins a claim for a stale version. `won`: the store has given the right. `None`: there is one, or was a moment ago, or there are too many.
    pub(crate) fn begin(
        self: &Arc<Self>,
        key: &Bytes,
        version: Option<Version>,
        won: bool,
        now: Tick,
    ) -> Option<Claim> {
        let mut all = lock(&self.0);
        let rests = |state: &State| !matches!(state, State::Rests { until, .. } if *until <= now);
        let (mine, lost) = match all.get(key) {
            Some(State::Open) => return None,
            Some(state) if rests(state) && !won => return None,
            Some(State::Rests { mine, lost, .. }) => {
                let lost = lost.filter(|(lost, _)| Some(*lost) == version);
                (*mine || won || lost.is_some_and(|(_, since)| now >= later(since, LOST_MAX)), lost)
            }
            None => (won, None),
        };
        if all.len() >= CLAIMS_MAX {
            all.retain(|_, state| rests(state));
        }
        if all.len() >= CLAIMS_MAX {
            return None;
        }
        all.insert(key.clone(), State::Open);
        Some(Claim { claims: self.clone(), key: key.clone(), mine, version, lost, next: None })
    }
}

impl Claim {
    /// Another server has the right.
    pub(crate) fn lost(mut self, now: Tick) {
        let lost = self.lost.or_else(|| self.version.map(|version| (version, now)));
        self.next = Some(State::Rests { until: later(now, AFTER_LOSS), mine: false, lost });
    }

    /// The page was written meanwhile, and the next time is this server's.
    pub(crate) fn rests(mut self, now: Tick) {
        self.next = Some(State::Rests { until: later(now, AFTER_LOSS), mine: true, lost: None });
    }

    /// The page could not be written.
    pub(crate) fn failed(mut self, now: Tick) {
        self.next = Some(State::Rests { until: later(now, AFTER_FAILURE), mine: true, lost: None });
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut all = lock(&self.claims.0);
        match self.next {
            Some(state) => all.insert(self.key.clone(), state),
            None => all.remove(&self.key),
        };
    }
}

fn later(now: Tick, by: Duration) -> Tick {
    Tick(now.0.saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_claims_at_a_time_and_after_a_loss_or_a_failure_nobody_for_a_while_without_the_right() {
        let (claims, key) = (Arc::<Claims>::default(), Bytes::from_static(b"a"));
        let at = |seconds| later(Tick(7), Duration::from_secs(seconds));
        let begin = |seconds| claims.begin(&key, None, false, at(seconds));
        let first = begin(0).unwrap();
        assert!(
            !first.mine && begin(0).is_none() && claims.begin(&Bytes::from_static(b"b"), None, false, at(0)).is_some()
        );
        drop(first);
        begin(0).unwrap().lost(at(0));
        assert!(begin(0).is_none());
        let again = begin(1).unwrap();
        assert!(!again.mine);
        again.failed(at(1));
        assert!(begin(5).is_none() && begin(6).unwrap().mine);
        begin(6).unwrap().lost(at(6));
        let won = claims.begin(&key, None, true, at(6)).unwrap();
        assert!(won.mine && claims.begin(&key, None, true, at(6)).is_none(), "one at a time");
    }

    #[test]
    fn a_page_that_stays_stale_although_others_have_the_right_is_claimed_after_ten_seconds() {
        let (claims, key) = (Arc::<Claims>::default(), Bytes::from_static(b"a"));
        let at = |seconds| later(Tick(7), Duration::from_secs(seconds));
        let version = |cas| Some(Version { instance: 1, cas });
        for second in 0..10 {
            let claim = claims.begin(&key, version(5), false, at(second)).unwrap();
            assert!(!claim.mine);
            claim.lost(at(second));
        }
        let claim = claims.begin(&key, version(5), false, at(10)).unwrap();
        assert!(claim.mine);
        claim.lost(at(10));
        assert!(!claims.begin(&key, version(6), false, at(100)).unwrap().mine, "another version");
    }

    #[test]
    fn the_table_is_bounded_and_forgets_what_has_ended() {
        let claims = Arc::<Claims>::default();
        let key = |n: usize| Bytes::from(n.to_string());
        for n in 0..CLAIMS_MAX {
            claims.begin(&key(n), None, false, Tick(0)).unwrap().lost(Tick(0));
        }
        assert!(claims.begin(&key(CLAIMS_MAX), None, false, Tick(0)).is_none());
        let open = claims.begin(&key(CLAIMS_MAX), None, false, later(Tick(0), AFTER_LOSS)).unwrap();
        assert_eq!(lock(&claims.0).len(), 1);
        drop(open);
    }
}
