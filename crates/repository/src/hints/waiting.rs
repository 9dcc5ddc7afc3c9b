//! The unconfirmed hints of one repository.

use crate::hints::figures::HintFigures;
use crate::hints::hint::Hint;
use crate::hints::lost::Announced;
use crate::hints::schedule::{Looks, Steps};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, Millis, Slot, lock};

/// Maximum number of unconfirmed hints of one repository. Further ones are merged into one hint that anything may have
/// changed.
const WAITING_MAX: usize = 256;
/// A hint expires after this number of milliseconds: an hour.
const GIVEN_UP_MS: i64 = 3_600_000;
/// A repository is behind its upstream when a hint waits for this number of milliseconds, or the upstream fails for as
/// long: 5 minutes.
pub(crate) const BEHIND_MS: i64 = 300_000;
/// Minimum time between two log lines about lost hints, in milliseconds: an hour.
const SAID_MS: i64 = 3_600_000;
/// The time of the last hint is saved again when it is this number of milliseconds later: an hour.
const KEPT_EVERY_MS: i64 = 3_600_000;

/// The hints of one repository. They survive changes of its settings.
#[derive(Debug, Default)]
pub(crate) struct Hints(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Waiting>,
    /// The number of looks that began.
    begun: u64,
    looks: Looks,
    /// How long a cache of the upstream serves its last answer.
    cached_until: Option<Millis>,
    announced: Announced,
    /// When the log last had a line about lost hints.
    said: Option<Millis>,
    /// The time of a hint that was last saved.
    kept: Option<Millis>,
    figures: HintFigures,
}

/// An unconfirmed hint.
#[derive(Debug)]
struct Waiting {
    hint: Hint,
    /// Since when the change exists upstream, if that is known.
    since: Millis,
    steps: Steps,
    /// Whether no earlier hint named the version.
    is_new: bool,
    /// The looks up to this number began before the hint arrived, so they neither confirm nor refute it.
    after: u64,
    /// The known state of the package at that time, for a hint that does not describe the change.
    basis: String,
    /// Whether another repository that received the same hint has confirmed it.
    shared: Arc<AtomicBool>,
    _slot: Option<Slot>,
}

/// A hint on its arrival.
#[derive(Debug)]
pub(crate) struct Arrived<'a> {
    pub(crate) hint: Hint,
    pub(crate) at: Millis,
    /// The date of publication, if the sender gave it.
    pub(crate) published: Option<Millis>,
    /// The known state of the package now. A different text later shows that the package has changed.
    pub(crate) basis: String,
    /// Set by the first repository that confirms the hint, of all that received it together.
    pub(crate) shared: &'a Arc<AtomicBool>,
}

impl Hints {
    /// Counts an accepted hook.
    pub(crate) fn count_taken(&self, now: Millis) {
        let mut state = lock(&self.0);
        state.figures.taken += 1;
        (state.figures.last, state.figures.lost_since) = (Some(now), 0);
    }

    /// Counts a refused hook.
    pub(crate) fn count_refused(&self) {
        lock(&self.0).figures.refused += 1;
    }

    /// Adds a hint to the waiting ones, unless it is `true_already`. A repeated hint does not restart the schedule of
    /// the first, so a sender cannot cause more looks by repeating it. A hint that names no version does restart it, as
    /// it may mean another change.
    pub(crate) fn take(&self, arrived: Arrived<'_>, true_already: bool, bound: &Arc<Bound>) {
        let Arrived { mut hint, at, published, basis, shared } = arrived;
        let mut state = lock(&self.0);
        let state = &mut *state;
        let is_new = state.announced.announce(&hint, at);
        if true_already {
            state.figures.seen = Some(at);
            return;
        }
        if let Some(same) = state.waiting.iter_mut().find(|waiting| waiting.hint == hint) {
            if !hint.is_exact() {
                (same.steps, same.after) = (Steps::new(at), state.begun);
            }
            return;
        }
        let mut slot = None;
        if state.waiting.len() < WAITING_MAX {
            slot = bound.enter().ok();
        }
        if slot.is_none() {
            hint = Hint::anything();
            state.waiting.retain(|waiting| waiting.hint != hint);
        }
        // The clock of a sender may be ahead.
        let since = published.map_or(at, |published| published.min(at));
        let (steps, after, shared) = (Steps::new(at), state.begun, shared.clone());
        state.waiting.push(Waiting { hint, since, steps, is_new, after, basis, shared, _slot: slot });
    }

    /// The time of the next look that hints cause; `None`: no hint causes one.
    pub(crate) fn due(&self, now: Millis) -> Option<Millis> {
        let mut state = lock(&self.0);
        let State { waiting, looks, cached_until, .. } = &mut *state;
        let admit = |waiting: &Waiting| {
            let wanted = waiting.steps.next(*cached_until)?;
            Some(looks.admit(wanted, now, waiting.is_new && waiting.steps.are_at_start()))
        };
        waiting.iter().filter_map(admit).min()
    }

    /// The unconfirmed hints.
    pub(crate) fn waiting(&self) -> Vec<Hint> {
        lock(&self.0).waiting.iter().map(|waiting| waiting.hint.clone()).collect()
    }

    /// Whether there are unconfirmed hints.
    pub(crate) fn are_waiting(&self) -> bool {
        !lock(&self.0).waiting.is_empty()
    }

    /// Whether hints caused looks recently.
    pub(crate) fn had_looks(&self, now: Millis) -> bool {
        lock(&self.0).looks.are_any(now)
    }

    /// Records the beginning of a look, whether `hints` caused it or not. Returns its number.
    pub(crate) fn begin_look(&self, now: Millis, hints: bool) -> u64 {
        let mut state = lock(&self.0);
        state.begun += 1;
        if hints {
            state.looks.begin(now);
        }
        state.cached_until = None;
        state.begun
    }

    /// Records that a cache of the upstream serves the answer to a look until this moment.
    pub(crate) fn cached_until(&self, until: Option<Millis>) {
        lock(&self.0).cached_until = until;
    }

    /// Records the end of the look with this number. `seen` decides whether a hint is confirmed, given the state that
    /// was known when it arrived.
    pub(crate) fn end_look(&self, look: u64, began: Millis, now: Millis, seen: impl Fn(&Hint, &str) -> bool) {
        let mut state = lock(&self.0);
        let state = &mut *state;
        for waiting in state.waiting.iter_mut().filter(|waiting| waiting.after < look) {
            waiting.steps.look(began);
        }
        let figures = &mut state.figures;
        state.waiting.retain(|waiting| {
            if waiting.shared.load(Ordering::Relaxed) {
                return false;
            }
            if seen(&waiting.hint, &waiting.basis) {
                waiting.shared.store(true, Ordering::Relaxed);
                (figures.seen, figures.lag_ms) =
                    (Some(now), Some(now.0.saturating_sub(waiting.since.0).max(0).cast_unsigned()));
                return false;
            }
            let over = !waiting.hint.is_exact() && waiting.steps.next(None).is_none();
            let given_up = now.0 - waiting.steps.at.0 >= GIVEN_UP_MS;
            figures.unseen += u64::from(given_up && waiting.hint.is_exact());
            !over && !given_up
        });
    }

    /// Drops all hints. The state of the upstream is unknown, so no client can be behind.
    pub(crate) fn forget(&self) {
        lock(&self.0).waiting.clear();
    }

    /// Records versions that a look found.
    pub(crate) fn find(&self, found: impl Iterator<Item = Hint>, now: Millis) {
        let mut state = lock(&self.0);
        // A repository without hooks finds all versions this way.
        if state.figures.last.is_some() {
            found.for_each(|found| state.announced.find(found, now));
        }
    }

    /// Returns the versions whose hints are lost, each once, and whether to log them.
    pub(crate) fn take_lost(&self, now: Millis) -> (Vec<Hint>, bool) {
        let mut state = lock(&self.0);
        let lost = state.announced.take_lost(now);
        if lost.is_empty() {
            return (lost, false);
        }
        state.figures.lost += lost.len() as u64;
        state.figures.lost_since += lost.len() as u64;
        let says = state.said.is_none_or(|said| now < said || now.0 - said.0 >= SAID_MS);
        if says {
            state.said = Some(now);
        }
        (lost, says)
    }

    /// Restores the time of the last hint before the start.
    pub(crate) fn restore(&self, last: Millis) {
        let mut state = lock(&self.0);
        (state.figures.last, state.kept) = (Some(last), Some(last));
    }

    /// The time of the last hint, if it has to be saved now.
    pub(crate) fn unkept(&self) -> Option<Millis> {
        let mut state = lock(&self.0);
        let last = state.figures.last?;
        if state.kept.is_some_and(|kept| kept <= last && last.0 - kept.0 < KEPT_EVERY_MS) {
            return None;
        }
        state.kept = Some(last);
        Some(last)
    }

    /// The figures.
    pub(crate) fn figures(&self, now: Millis) -> HintFigures {
        let state = lock(&self.0);
        let waits = |waiting: &&Waiting| waiting.hint.is_exact() && !waiting.shared.load(Ordering::Relaxed);
        let since = state.waiting.iter().filter(waits).map(|waiting| waiting.steps.at).min();
        let behind_since = since.filter(|since| now.0 - since.0 >= BEHIND_MS);
        HintFigures { waiting: state.waiting.len(), behind_since, ..state.figures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::BoundName;

    fn hint(version: &str) -> Hint {
        Hint { package: "lamp".into(), version: version.into(), gone: false }
    }

    fn take(hints: &Hints, hint: Hint, at: i64, bound: &Arc<Bound>) {
        let shared = Arc::default();
        hints.count_taken(Millis(at));
        hints.take(
            Arrived { hint, at: Millis(at), published: None, basis: String::new(), shared: &shared },
            false,
            bound,
        );
    }

    fn bound(capacity: u64) -> Arc<Bound> {
        Bound::new(BoundName::Hints, "", capacity)
    }

    #[test]
    fn a_hint_waits_until_it_is_seen_and_a_repeated_one_causes_no_look() {
        let (hints, bound) = (Hints::default(), bound(9));
        take(&hints, hint("1"), 0, &bound);
        assert_eq!(hints.due(Millis(0)), Some(Millis(0)));
        let look = hints.begin_look(Millis(0), true);
        take(&hints, hint("1"), 0, &bound);
        take(&hints, hint("2"), 0, &bound);
        hints.end_look(look, Millis(0), Millis(5), |_, _| false);
        assert_eq!(hints.due(Millis(5)), Some(Millis(0)), "the look began before the second hint");
        let look = hints.begin_look(Millis(6), true);
        hints.end_look(look, Millis(6), Millis(9), |hint, _| hint.version == "1");
        assert_eq!((hints.waiting(), bound.used()), (vec![hint("2")], 1));
        let figures = hints.figures(Millis(9));
        assert_eq!((figures.taken, figures.waiting, figures.lag_ms, figures.behind_since), (3, 1, Some(9), None));
        assert_eq!(hints.figures(Millis(BEHIND_MS)).behind_since, Some(Millis(0)));
        let look = hints.begin_look(Millis(GIVEN_UP_MS), true);
        hints.end_look(look, Millis(GIVEN_UP_MS), Millis(GIVEN_UP_MS), |_, _| false);
        assert_eq!((hints.figures(Millis(GIVEN_UP_MS)).unseen, bound.used()), (1, 0));
    }

    #[test]
    fn hints_that_do_not_fit_are_one_that_anything_may_have_changed() {
        let (hints, bound) = (Hints::default(), bound(2));
        for version in ["1", "2", "3", "4"] {
            take(&hints, hint(version), 0, &bound);
        }
        assert_eq!(hints.waiting(), [hint("1"), hint("2"), Hint::anything()]);
    }

    #[test]
    fn what_another_repository_saw_is_looked_for_no_more() {
        let (one, other, bound) = (Hints::default(), Hints::default(), bound(9));
        let shared = Arc::default();
        for hints in [&one, &other] {
            let arrived =
                Arrived { hint: hint("1"), at: Millis(0), published: None, basis: String::new(), shared: &shared };
            hints.take(arrived, false, &bound);
        }
        let look = one.begin_look(Millis(0), true);
        one.end_look(look, Millis(0), Millis(0), |_, _| true);
        assert_eq!(other.figures(Millis(BEHIND_MS)).behind_since, None);
        let look = other.begin_look(Millis(1), true);
        other.end_look(look, Millis(1), Millis(1), |_, _| false);
        assert!(!other.are_waiting());
    }
}
