//! One node looks at the indexes of upstreams for all. The others add the rows that it writes.

use crate::upstream::Remote;
use telemetry::Millis;

/// The lease of the node that looks.
const FOLLOW: &str = "follow";
/// A node that saw no change for this number of milliseconds looks itself once: the other one may not reach the upstream.
const ELSEWHERE_MS: i64 = 300_000;

impl Remote {
    /// Whether another node looks at this index, so that this one need not. `tried`: when any node last looked, as far as this one knows.
    pub(crate) fn is_followed_elsewhere(&self, tried: Option<Millis>) -> bool {
        let (store, now) = (&self.remotes.store, self.now());
        tried.is_some_and(|tried| is_recent(tried, now)) && !store.holds(FOLLOW) && store.living() > 1
    }

    /// Whether this node looks for others, too, whose clients it does not know.
    pub(crate) fn follows_for_others(&self) -> bool {
        let store = &self.remotes.store;
        store.holds(FOLLOW) && store.living() > 1
    }
}

/// Whether `tried` is less than [`ELSEWHERE_MS`] ago. An index that was only read from the journal was tried at `i64::MIN`.
fn is_recent(tried: Millis, now: Millis) -> bool {
    (now.0 - ELSEWHERE_MS + 1..=now.0).contains(&tried.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_recent_for_five_minutes_and_one_to_come_is_not() {
        let now = Millis(1_893_456_000_000);
        let ago = |ms| is_recent(Millis(now.0 - ms), now);
        assert!(ago(0) && ago(ELSEWHERE_MS - 1));
        assert!(!ago(ELSEWHERE_MS) && !ago(-1));
        assert!(!is_recent(Millis(i64::MIN), now) && !is_recent(Millis(i64::MAX), now));
    }
}
