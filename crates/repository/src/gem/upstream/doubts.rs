//! The `/info` files that do not match the index: the reason, and when each may be requested again.

use crate::upstream::failure::Failure;
use std::collections::HashMap;
use std::sync::Mutex;
use telemetry::{Millis, lock};

/// Milliseconds until the next request after each failed attempt.
const AGAIN_MS: [i64; 5] = [2_000, 5_000, 10_000, 30_000, 60_000];
/// Maximum number of remembered gems. Any other mismatching file is requested whenever a client requests it.
const GEMS_MAX: usize = 10_000;

/// The gems whose `/info` does not match.
#[derive(Debug, Default)]
pub(crate) struct Doubts(Mutex<HashMap<String, Doubt>>);

/// The mismatch of a gem's `/info`.
#[derive(Debug, Clone)]
pub(crate) struct Doubt {
    /// The MD5 in the index.
    listed: String,
    /// The number of failed attempts.
    asked: usize,
    /// The earliest time of the next request.
    pub(crate) again: Millis,
    /// Why the received file does not match the index.
    pub(crate) why: Failure,
}

impl Doubts {
    /// The mismatch of a gem with this MD5 in the index, until the next request is due.
    pub(crate) fn find(&self, name: &str, listed: &str, now: Millis) -> Option<Doubt> {
        let doubts = lock(&self.0);
        let most = AGAIN_MS.last().copied().unwrap_or_default();
        // After the clock was set back, the request is due at once.
        let holds = |doubt: &&Doubt| doubt.listed == listed && now < doubt.again && doubt.again.0 - now.0 <= most;
        doubts.get(name).filter(holds).cloned()
    }

    /// Records a failed attempt.
    pub(crate) fn add(&self, name: &str, listed: &str, why: Failure, now: Millis) {
        let mut doubts = lock(&self.0);
        let known = doubts.get(name).filter(|doubt| doubt.listed == listed);
        // Two tasks requested it at the same time.
        if known.is_some_and(|doubt| now < doubt.again) {
            return;
        }
        let before = known.map_or(0, |doubt| doubt.asked);
        if doubts.len() >= GEMS_MAX && !doubts.contains_key(name) {
            doubts.retain(|_, doubt| now < doubt.again);
            if doubts.len() >= GEMS_MAX {
                return;
            }
        }
        let after = AGAIN_MS[before.min(AGAIN_MS.len() - 1)];
        let again = Millis(now.0.saturating_add(after));
        doubts.insert(name.to_owned(), Doubt { listed: listed.to_owned(), asked: before + 1, again, why });
    }

    /// The gems whose `/info` may be requested again.
    pub(crate) fn due(&self, now: Millis) -> Vec<String> {
        let doubts = lock(&self.0);
        // After the last attempt the next request waits for a client.
        let due = |doubt: &Doubt| now >= doubt.again && doubt.asked <= AGAIN_MS.len();
        doubts.iter().filter(|(_, doubt)| due(doubt)).map(|(name, _)| name.clone()).collect()
    }

    /// Records that the file matches the index.
    pub(crate) fn settle(&self, name: &str) {
        lock(&self.0).remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Reason;

    #[test]
    fn it_is_asked_for_again_after_longer_and_longer_and_at_once_where_the_index_says_another() {
        let doubts = Doubts::default();
        let why = || Failure::new(Reason::UpstreamBehind, String::new());
        let mut now = Millis(1_000_000);
        for wait in [2_000, 5_000, 10_000, 30_000, 60_000, 60_000] {
            assert!(doubts.find("lamp", "a", now).is_none());
            doubts.add("lamp", "a", why(), now);
            now = Millis(now.0 + wait);
            assert!(doubts.find("lamp", "a", Millis(now.0 - 1)).is_some(), "{wait}");
        }
        doubts.add("lamp", "a", why(), now);
        assert!(doubts.find("lamp", "b", now).is_none() && doubts.find("lamp", "a", now).is_some());
        assert!(doubts.find("lamp", "a", Millis(0)).is_none(), "the clock was set back");
        doubts.settle("lamp");
        assert!(doubts.find("lamp", "a", now).is_none());
    }
}
