//! The TTL of an upstream's answers. Pure: times are arguments.

use crate::repository::Repository;
use crate::tree::file::File;
use telemetry::Millis;

/// Default TTL of files that may change, in seconds: 15 minutes. Other servers use a day, so builds wait a day for new
/// versions.
const FRESH_S: u64 = 900;
/// Default TTL of negative answers, in seconds: 5 minutes.
const MISSING_S: u64 = 300;

/// The TTLs of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ttl {
    /// In milliseconds; `None`: without end.
    fresh: Option<i64>,
    missing: i64,
}

/// The state of a cached file at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TtlState {
    /// Fresh until this moment (`None`: without end).
    Fresh(Option<Millis>),
    /// Fresh, but to be refreshed in the background, so that later requests need not wait.
    Aging,
    /// The TTL has ended.
    Stale,
}

impl Ttl {
    pub(crate) fn of(repository: &Repository, file: &File<'_>) -> Self {
        let remote = repository.record.remote.as_ref();
        let millis = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX / 1000).saturating_mul(1000);
        let set = remote.and_then(|remote| remote.fresh_s);
        let missing = millis(remote.and_then(|remote| remote.missing_s).unwrap_or(MISSING_S));
        if file.facts().is_listed {
            // The index decides whether such a file is good.
            return Self { fresh: Some(0), missing };
        }
        // If the format has no rule, files are immutable unless a TTL is set.
        let immutable = file.facts().is_immutable.unwrap_or_else(|| set.is_none());
        let fresh = (!immutable).then(|| millis(set.unwrap_or(FRESH_S)));
        // A list that proves a file missing has the TTL of negative answers.
        let most = if file.is_prefixes() { missing } else { i64::MAX };
        Self { fresh: fresh.map(|fresh| fresh.min(most)), missing }
    }

    /// Whether the bytes of the path never change.
    pub(crate) fn lasting(self) -> bool {
        self.fresh.is_none()
    }

    /// The state at `now` of an answer that was last confirmed at `checked`. It is aging in the last tenth of its TTL.
    pub(crate) fn at(self, checked: Millis, now: Millis) -> TtlState {
        let Some(fresh) = self.fresh else { return TtlState::Fresh(None) };
        let (aging, stale) = (checked.0.saturating_add(fresh / 10 * 9), checked.0.saturating_add(fresh));
        match now.0 {
            // The clock was set back, so the age is unknown.
            now if now < checked.0 => TtlState::Stale,
            now if now < aging => TtlState::Fresh(Some(Millis(aging))),
            now if now < stale => TtlState::Aging,
            _ => TtlState::Stale,
        }
    }

    /// When a negative answer that ends at `until` was made.
    pub(crate) fn missing_since(self, until: Millis) -> Millis {
        Millis(until.0.saturating_sub(self.missing))
    }

    /// When a negative answer made at `now` ends.
    pub(crate) fn missing_until(self, now: Millis) -> Millis {
        Millis(now.0.saturating_add(self.missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_change_is_fresh_then_aging_then_stale_and_the_rest_for_ever() {
        let ages = Ttl { fresh: Some(1000), missing: 50 };
        let at = |now| ages.at(Millis(5000), Millis(now));
        assert_eq!(at(5000), TtlState::Fresh(Some(Millis(5900))));
        assert_eq!(
            (at(5899), at(5900), at(5999)),
            (TtlState::Fresh(Some(Millis(5900))), TtlState::Aging, TtlState::Aging)
        );
        assert_eq!((at(6000), at(4999)), (TtlState::Stale, TtlState::Stale));
        assert_eq!(Ttl { fresh: Some(0), missing: 0 }.at(Millis(5), Millis(5)), TtlState::Stale);
        assert_eq!(Ttl { fresh: None, missing: 0 }.at(Millis(5), Millis(i64::MAX)), TtlState::Fresh(None));
        assert_eq!(ages.missing_until(Millis(7)), Millis(57));
    }
}
