//! For how long what an upstream said is good. Pure: times are arguments.

use crate::repository::Repository;
use crate::tree::file::File;
use telemetry::Millis;

/// What may change is good for so long, unless the repository says otherwise: 15 minutes. Other servers take a day, which
/// has builds wait for what was published today.
const FRESH_S: u64 = 900;
/// What is proven missing counts as missing for so long, unless the repository says otherwise: 5 minutes.
const MISSING_S: u64 = 300;

/// For how long what is known of a path is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ttl {
    /// In milliseconds; `None`: for ever.
    fresh: Option<i64>,
    missing: i64,
}

/// How good it is at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TtlState {
    /// Good, and not to be asked for again before then (`None`: never).
    Fresh(Option<Millis>),
    /// Good, and to be asked for again without anybody waiting for it: whoever comes later need not wait either.
    Aging,
    /// To be asked for again.
    Stale,
}

impl Ttl {
    pub(crate) fn of(repository: &Repository, file: &File<'_>) -> Self {
        let remote = repository.record.remote.as_ref();
        let millis = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX / 1000).saturating_mul(1000);
        let set = remote.and_then(|remote| remote.fresh_s);
        let missing = millis(remote.and_then(|remote| remote.missing_s).unwrap_or(MISSING_S));
        if file.is_indexed() {
            // Whoever asks for it knows from the index whether it is good.
            return Self { fresh: Some(0), missing };
        }
        // Where the format has no rule, files last unless somebody sets for how long they are good.
        let immutable = file.is_immutable().unwrap_or_else(|| set.is_none());
        let fresh = (!immutable).then(|| millis(set.unwrap_or(FRESH_S)));
        // A list that says what is missing is good for as long as that.
        let most = if file.is_prefixes() { missing } else { i64::MAX };
        Self { fresh: fresh.map(|fresh| fresh.min(most)), missing }
    }

    /// Whether the path never has other bytes.
    pub(crate) fn lasting(self) -> bool {
        self.fresh.is_none()
    }

    /// How good at `now` is what was last proven at `checked`. In the last tenth of its time it is aging.
    pub(crate) fn at(self, checked: Millis, now: Millis) -> TtlState {
        let Some(fresh) = self.fresh else { return TtlState::Fresh(None) };
        let (aging, stale) = (checked.0.saturating_add(fresh / 10 * 9), checked.0.saturating_add(fresh));
        match now.0 {
            // The clock was set back: nobody knows how old it is.
            now if now < checked.0 => TtlState::Stale,
            now if now < aging => TtlState::Fresh(Some(Millis(aging))),
            now if now < stale => TtlState::Aging,
            _ => TtlState::Stale,
        }
    }

    /// When was proven missing what counts as missing until then.
    pub(crate) fn missing_since(self, until: Millis) -> Millis {
        Millis(until.0.saturating_sub(self.missing))
    }

    /// Until when counts as missing what was proven missing at `now`.
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
