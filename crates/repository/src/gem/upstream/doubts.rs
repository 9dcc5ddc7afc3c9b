//! Files of `/info` that are not the ones that the index says: why, and when each may be asked for again.

use crate::upstream::failure::Failure;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use telemetry::Millis;

/// The upstream is asked again after so many milliseconds, each time that it did not help.
const AGAIN_MS: [i64; 5] = [2_000, 5_000, 10_000, 30_000, 60_000];
/// Most gems that are remembered. One that is not is asked for whenever a client asks.
const GEMS_MAX: usize = 10_000;

/// The gems whose `/info` is in doubt.
#[derive(Debug, Default)]
pub(crate) struct Doubts(Mutex<HashMap<String, Doubt>>);

/// What is wrong with the `/info` of a gem.
#[derive(Debug, Clone)]
pub(crate) struct Doubt {
    /// The MD5 that the index said.
    listed: String,
    /// How often it was asked for in vain.
    asked: usize,
    /// It is not asked for again before.
    pub(crate) again: Millis,
    /// Why what came is not what the index says.
    pub(crate) why: Failure,
}

impl Doubts {
    /// The doubt about a gem of which the index says this MD5, until it is asked for again.
    pub(crate) fn find(&self, name: &str, listed: &str, now: Millis) -> Option<Doubt> {
        let doubts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let most = AGAIN_MS.last().copied().unwrap_or_default();
        // Where the clock was set back it is asked again at once.
        let holds = |doubt: &&Doubt| doubt.listed == listed && now < doubt.again && doubt.again.0 - now.0 <= most;
        doubts.get(name).filter(holds).cloned()
    }

    /// It was asked for in vain.
    pub(crate) fn add(&self, name: &str, listed: &str, why: Failure, now: Millis) {
        let mut doubts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = doubts.get(name).filter(|doubt| doubt.listed == listed);
        // Two asked at the same time.
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

    /// The gems whose `/info` may be asked for again.
    pub(crate) fn due(&self, now: Millis) -> Vec<String> {
        let doubts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that was asked for often enough waits for a client.
        let due = |doubt: &Doubt| now >= doubt.again && doubt.asked <= AGAIN_MS.len();
        doubts.iter().filter(|(_, doubt)| due(doubt)).map(|(name, _)| name.clone()).collect()
    }

    /// It is what the index says.
    pub(crate) fn settle(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
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
