//! The times at which hints cause looks at an upstream. Pure: times are arguments.

use std::collections::VecDeque;
use telemetry::Millis;

/// Milliseconds from a hint to each look: one at once, the others 2, 5, 10, 30 and 60 seconds after the look before.
const AFTER_MS: [i64; 6] = [0, 2_000, 7_000, 17_000, 47_000, 107_000];
/// The period in which looks are counted, in milliseconds.
const WINDOW_MS: i64 = 120_000;
/// Maximum number of looks that hints cause in this period. The regular looks, which are a minute apart then, are up to
/// three more.
const LOOKS_MAX: usize = 5;
/// The first look for a version that no earlier hint named is made beyond that, up to this number. A sender that
/// repeats hints names no new version.
const NEW_MAX: usize = 40;
/// After this number of looks, each further one waits for `APART_MS` after the one before.
const AT_ONCE: usize = 3;
const APART_MS: i64 = 2_000;
/// The same for a version that no earlier hint named.
const NEW_APART_MS: i64 = 500;
/// Maximum time for which the headers of an upstream's cache postpone the next look: 10 minutes.
const CACHED_MAX_MS: i64 = 600_000;

/// The looks that were made for one hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    /// When the hint arrived.
    pub(crate) at: Millis,
    taken: usize,
}

impl Steps {
    pub(crate) fn new(at: Millis) -> Self {
        Self { at, taken: 0 }
    }

    /// Whether no look was made yet.
    pub(crate) fn are_at_start(&self) -> bool {
        self.taken == 0
    }

    /// Records a look that began at this moment.
    pub(crate) fn look(&mut self, began: Millis) {
        let passed = AFTER_MS.iter().filter(|after| self.at.0.saturating_add(**after) <= began.0).count();
        // The clock may have been set back.
        self.taken = passed.max(self.taken + 1);
    }

    /// The time of the next look for the hint; `None`: there were enough, and the regular looks go on. `cached_until`:
    /// how long a cache of the upstream serves its last answer. That moment counts after two looks, because a cache
    /// that was purged softly serves the older answer once, whatever its age says.
    pub(crate) fn next(&self, cached_until: Option<Millis>) -> Option<Millis> {
        let next = Millis(self.at.0.saturating_add(*AFTER_MS.get(self.taken)?));
        Some(cached_until.filter(|_| self.taken >= 2).map_or(next, |until| until.max(next)))
    }
}

/// The recent looks at an upstream that hints caused.
#[derive(Debug, Default)]
pub(crate) struct Looks(VecDeque<Millis>);

impl Looks {
    /// Records the beginning of a look.
    pub(crate) fn begin(&mut self, now: Millis) {
        self.forget(now);
        self.0.push_back(now);
    }

    /// Whether there were any.
    pub(crate) fn are_any(&mut self, now: Millis) -> bool {
        self.forget(now);
        !self.0.is_empty()
    }

    /// The time at which a look may begin that is due at `wanted`; `new`: it is for a version that no earlier hint
    /// named.
    pub(crate) fn admit(&mut self, wanted: Millis, now: Millis, new: bool) -> Millis {
        self.forget(now);
        let (apart, most) = if new { (NEW_APART_MS, NEW_MAX) } else { (APART_MS, LOOKS_MAX) };
        let apart = self.0.back().filter(|_| self.0.len() >= AT_ONCE).map(|last| last.0.saturating_add(apart));
        let room = self.0.len().checked_sub(most).map(|at| self.0[at].0.saturating_add(WINDOW_MS));
        Millis(wanted.0.max(apart.unwrap_or(i64::MIN)).max(room.unwrap_or(i64::MIN)))
    }

    fn forget(&mut self, now: Millis) {
        self.0.retain(|at| *at <= now && now.0 - at.0 < WINDOW_MS);
    }
}

/// The moment until which a cache serves this answer, by its headers. `None`: no cache served it, or the moment has
/// passed.
pub(crate) fn cached_until(age: Option<&str>, cache_control: Option<&str>, now: Millis) -> Option<Millis> {
    let age: i64 = age?.trim().parse().ok()?;
    let directive = |name: &str| {
        let pairs = cache_control?.split(',').filter_map(|part| part.trim().split_once('='));
        let (_, value) = pairs.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        value.trim_matches('"').parse::<i64>().ok()
    };
    let seconds = directive("s-maxage").or_else(|| directive("max-age"))?.checked_sub(age)?;
    (seconds > 0).then(|| Millis(now.0.saturating_add(seconds.saturating_mul(1_000).min(CACHED_MAX_MS))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_looked_for_at_once_and_after_longer_and_longer() {
        let mut steps = Steps::new(Millis(1_000));
        for wanted in AFTER_MS {
            let next = steps.next(None).unwrap();
            assert_eq!(next.0, 1_000 + wanted);
            steps.look(next);
        }
        assert_eq!(steps.next(None), None);
        let mut late = Steps::new(Millis(0));
        late.look(Millis(8_000));
        assert_eq!(late.next(None), Some(Millis(17_000)), "a look of another cause counts");
        late.look(Millis(-5));
        assert_eq!(late.next(None), Some(Millis(47_000)), "the clock was set back");
    }

    #[test]
    fn a_cache_puts_off_the_third_look_and_not_the_second() {
        let (mut steps, until) = (Steps::new(Millis(0)), Some(Millis(40_000)));
        steps.look(Millis(0));
        assert_eq!(steps.next(until), Some(Millis(2_000)));
        steps.look(Millis(2_000));
        assert_eq!((steps.next(until), steps.next(None)), (until, Some(Millis(7_000))));
    }

    #[test]
    fn hints_cause_a_few_looks_in_two_minutes_however_many_come() {
        let (mut looks, mut made) = (Looks::default(), Vec::new());
        for now in (0..120_000).step_by(100).map(Millis) {
            if looks.admit(now, now, false) <= now {
                looks.begin(now);
                made.push(now.0);
            }
        }
        assert_eq!(made, [0, 100, 200, 2_200, 4_200]);
        let late = Millis(119_999);
        assert_eq!(looks.admit(late, late, false), Millis(120_000));
        assert_eq!(looks.admit(late, late, true), late, "a version that no hint named before");
        assert!(looks.are_any(Millis(119_999)) && !looks.are_any(Millis(124_200)));
    }

    #[test]
    fn versions_that_no_hint_named_before_are_looked_for_at_once_within_a_limit() {
        let (mut looks, mut made) = (Looks::default(), 0);
        for now in (0..120_000).step_by(100).map(Millis) {
            if looks.admit(now, now, true) <= now {
                looks.begin(now);
                made += 1;
            }
        }
        assert_eq!(made, NEW_MAX);
    }

    #[test]
    fn headers_say_how_long_a_cache_goes_on() {
        let now = Millis(5_000);
        let until = |age, control| cached_until(age, control, now).map(|until| until.0 - now.0);
        assert_eq!(until(Some("20"), Some("max-age=60, public")), Some(40_000));
        assert_eq!(until(Some("20"), Some("public, Max-Age=60, s-maxage=\"30\"")), Some(10_000));
        assert_eq!(until(Some("0"), Some("max-age=99999999")), Some(CACHED_MAX_MS));
        let none = [(None, Some("max-age=60")), (Some("60"), Some("max-age=60")), (Some("5"), None)];
        let odd = [
            (Some("x"), Some("max-age=60")),
            (Some("5"), Some("max-age=x")),
            (Some("-9223372036854775808"), Some("max-age=9")),
        ];
        for (age, control) in none.into_iter().chain(odd) {
            assert_eq!(until(age, control), None, "{age:?} {control:?}");
        }
    }
}
