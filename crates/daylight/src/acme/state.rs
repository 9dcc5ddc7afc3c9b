//! What became of the tries: how many failed in a row, why, and when the next one is.

use super::account::Kept;
use super::failure::Failure;
use super::schedule;
use client::Validity;
use insight::{RenewalFact, StateFile};
use telemetry::Millis;

/// The tries so far.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Tries that brought a certificate, since the start.
    pub(super) issued: u64,
    /// Tries that failed, since the start.
    pub(super) failed: u64,
    /// The failures in a row. `None`: the last try succeeded, or there was none.
    failing: Option<Failing>,
    /// There is no try before this moment after one that succeeded.
    rests_until: Option<Millis>,
    /// The directory of the authority that gave the certificate in use, once it was looked up in the account.
    certificate_of: Option<Option<String>>,
}

#[derive(Debug)]
struct Failing {
    since: Millis,
    attempts: u64,
    why: String,
    next: Millis,
}

/// Why another certificate is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// There is none yet.
    First,
    /// Somebody removed the file of that in use, to have both it and its key replaced.
    Removed,
    /// That in use is not for this name.
    Name(String),
    /// Another authority gave it.
    OtherAuthority,
    /// It ends soon enough.
    Renewal,
}

impl Wanted {
    /// For events.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Removed => "removed",
            Self::Name(_) => "name",
            Self::OtherAuthority => "authority",
            Self::Renewal => "renewal",
        }
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::First => f.write_str("there is none yet"),
            Self::Removed => f.write_str("the file of that in use was removed"),
            Self::Name(name) => write!(f, "that in use is not for `{name}`"),
            Self::OtherAuthority => f.write_str("another authority gave that in use"),
            Self::Renewal => f.write_str("that in use is to be renewed"),
        }
    }
}

impl State {
    /// Whether a try may begin.
    pub(super) fn is_over(&self, now: Millis) -> bool {
        let longest = Millis::plus(now, schedule::ASKED_MAX);
        // A moment beyond the longest pause comes from a clock that was wrong.
        let until = self.next().or(self.rests_until);
        until.is_none_or(|until| until <= now || until > longest)
    }

    /// A try failed. Returns how many did in a row, and when the next one is.
    pub(super) fn failed(&mut self, failure: &Failure, now: Millis) -> (u64, Millis) {
        let (since, before) = self.failing.as_ref().map_or((now, 0), |failing| (failing.since, failing.attempts));
        let attempts = before.saturating_add(1);
        let next = now.plus(schedule::pause(failure, attempts, now));
        self.failed = self.failed.saturating_add(1);
        self.failing = Some(Failing { since, attempts, why: failure.whole(), next });
        (attempts, next)
    }

    /// No certificate is wanted: somebody else brought one, or the clock was corrected.
    pub(super) fn settled(&mut self) {
        self.failing = None;
    }

    /// A try brought a certificate of the authority with this directory.
    pub(super) fn succeeded(&mut self, directory: &str, validity: Option<Validity>, now: Millis) {
        self.issued = self.issued.saturating_add(1);
        self.failing = None;
        self.rests_until = Some(now.plus(schedule::rest(validity)));
        self.certificate_of = Some(Some(directory.to_owned()));
    }

    /// The directory of the authority that gave the certificate in use. `None`: nobody knows, as the file has no account.
    pub(super) fn certificate_of(&mut self, account: &StateFile) -> Option<&str> {
        let read = || {
            let kept = Kept::read(account).unwrap_or_default()?;
            Some(kept.certificate_of.unwrap_or(kept.directory))
        };
        self.certificate_of.get_or_insert_with(read).as_deref()
    }

    /// When the next try is, after a failure.
    pub(super) fn next(&self) -> Option<Millis> {
        self.failing.as_ref().map(|failing| failing.next)
    }

    /// What findings are told. `None`: the last try succeeded, or there was none.
    pub(super) fn fact(&self, authority: &str, names: &[String], validity: Option<Validity>) -> Option<RenewalFact> {
        let Failing { since, attempts, why, next } = self.failing.as_ref()?;
        Some(RenewalFact {
            authority: authority.to_owned(),
            names: names.to_vec(),
            since: *since,
            why: why.clone(),
            attempts: *attempts,
            next: *next,
            ends: validity.map(|validity| validity.ends),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away() -> Failure {
        Failure { is_away: true, ..Failure::new("nobody is there") }.with_hint("look")
    }

    #[test]
    fn failures_in_a_row_are_told_until_a_try_succeeds() {
        let mut state = State::default();
        assert!(state.is_over(Millis(5)));
        assert_eq!(state.failed(&away(), Millis(1000)), (1, Millis(31_000)));
        assert_eq!(state.failed(&away(), Millis(31_000)), (2, Millis(91_000)));
        assert!(!state.is_over(Millis(90_999)) && state.is_over(Millis(91_000)));
        let fact = |state: &State, validity| state.fact("ca.example", &["a.example".to_owned()], validity);
        let told = fact(&state, None).unwrap();
        assert_eq!((told.attempts, told.since, told.next), (2, Millis(1000), Millis(91_000)));
        assert_eq!((told.why.as_str(), told.ends), ("nobody is there; look", None));
        let validity = Some(Validity { begins: Millis(1), ends: Millis(2) });
        assert_eq!(fact(&state, validity).unwrap().ends, Some(Millis(2)));
        state.succeeded("https://ca.example/directory", None, Millis(91_000));
        assert!(!state.is_over(Millis(150_999)) && state.is_over(Millis(151_000)), "a certificate of seconds");
        assert!(fact(&state, validity).is_none());
        assert_eq!((state.issued, state.failed), (1, 2));
        state.failed(&away(), Millis(200_000));
        state.settled();
        assert!(state.next().is_none() && fact(&state, None).is_none(), "an admin brought one");
    }

    #[test]
    fn a_clock_that_was_far_ahead_does_not_stop_the_tries() {
        let mut state = State::default();
        let year = 365 * 86_400_000;
        state.failed(&away(), Millis(year));
        assert!(state.is_over(Millis(0)));
    }
}
