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
        let is_recent = tried.is_some_and(|tried| tried <= now && now.0 - tried.0 < ELSEWHERE_MS);
        is_recent && !store.holds(FOLLOW) && store.living() > 1
    }

    /// Whether this node looks for others, too, whose clients it does not know.
    pub(crate) fn follows_for_others(&self) -> bool {
        let store = &self.remotes.store;
        store.holds(FOLLOW) && store.living() > 1
    }
}
