//! The moment of the next change: the clock's, but never before the last change. And whether the clock can be believed: after a jump,
//! or if rows are of the future, nothing is written until somebody decides which of the two is right.

use crate::error::{Error, Result};
use crate::journal::clock_doubt::ClockDoubt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use telemetry::lock;
use telemetry::log::Incident;
use telemetry::{Clock, Log, Millis};

/// The log reports that the last change is in the future once it is ahead of the clock by more than this.
const AHEAD_MAX_MS: i64 = 5_000;

/// The clock, and the moment of the last change.
#[derive(Debug)]
pub(crate) struct JournalClock {
    clock: Clock,
    last: AtomicI64,
    /// The largest difference that needs no decision.
    jump_ms: i64,
    belief: Mutex<Belief>,
    /// The last change is ahead of the clock.
    ahead: Incident,
    /// Nothing is written.
    doubted: Incident,
    log: Log,
}

/// The present belief about the clock of the machine.
#[derive(Debug)]
struct Belief {
    /// The offset ([`Clock::offset`]) with which it was right.
    offset: i64,
    /// It was behind the last change at the start, and nobody has decided.
    behind: bool,
}

impl JournalClock {
    /// The clock of a journal whose last change was made at `last`. `correction_ms`: what somebody decided about a wrong clock before.
    /// It is used again only if the clock is still behind the last change without it.
    pub(crate) fn new(clock: Clock, last: Option<Millis>, jump_ms: i64, correction_ms: i64, log: Log) -> Self {
        let behind = |correction: i64| last.is_some_and(|last| last.0 - clock.of_machine().0 - correction > jump_ms);
        let corrected = correction_ms > 0 && behind(0) && !behind(correction_ms);
        clock.correct(if corrected { correction_ms } else { 0 });
        let belief = Belief { offset: clock.offset() + clock.correction(), behind: behind(clock.correction()) };
        let this = Self {
            clock,
            last: AtomicI64::new(i64::MIN),
            jump_ms,
            belief: Mutex::new(belief),
            ahead: Incident::default(),
            doubted: Incident::default(),
            log,
        };
        if let Some(last) = last {
            this.advance(last);
        }
        let _ = this.check();
        this
    }

    /// The moment that a change made now would get.
    pub(crate) fn now(&self) -> Millis {
        self.clock.now().max(Millis(self.last.load(Ordering::Acquire)))
    }

    /// The time of the machine.
    pub(crate) fn of_machine(&self) -> Millis {
        self.clock.of_machine()
    }

    /// Why nothing may be written, if that is so.
    pub(crate) fn doubt(&self) -> Option<ClockDoubt> {
        let mut belief = lock(&self.belief);
        let (offset, machine) = (self.clock.offset(), self.clock.of_machine().0);
        let (jumped, behind) = (offset - belief.offset, self.last.load(Ordering::Acquire).saturating_sub(machine));
        if belief.behind && behind <= self.jump_ms {
            // Somebody has set the clock right.
            *belief = Belief { offset, behind: false };
            return None;
        }
        if belief.behind {
            return Some(ClockDoubt::Behind(behind));
        }
        if jumped.abs() <= self.jump_ms || (self.clock.correction() > 0 && jumped > 0) {
            if self.clock.correction() != 0 {
                self.log.info("the machine's clock is right again", &[("clock", &Millis(machine))]);
                self.clock.correct(0);
            }
            belief.offset = offset;
            return None;
        }
        let expected = jumped + self.clock.correction();
        (expected.abs() > self.jump_ms).then_some(ClockDoubt::Jumped(expected))
    }

    /// An error if nothing may be written. The log reports the begin and the end once.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(doubt) = self.doubt() else {
            self.doubted.end(|| self.log.info("the clock is believed again: everything is written", &[]));
            return Ok(());
        };
        let error = Error::Clock(doubt);
        self.doubted.begin(|| {
            let (machine, last) = (self.of_machine(), Millis(self.last.load(Ordering::Acquire)));
            let hint = error.hint().unwrap_or_default();
            let text = format!("{doubt}: nothing is written until somebody decides which is right");
            self.log.error(&text, &[("clock", &machine), ("last_change", &last), ("hint", &hint)]);
        });
        Err(error)
    }

    /// How wrong the machine's clock is known to be, in milliseconds; 0: it is believed.
    pub(crate) fn correction(&self) -> i64 {
        self.clock.correction()
    }

    /// Somebody decided that the clock of the machine is right. Rows of the future, if there were any, count as of `at`.
    pub(crate) fn believe_clock(&self, at: Millis) {
        *lock(&self.belief) = Belief { offset: self.clock.offset(), behind: false };
        self.clock.correct(0);
        self.last.fetch_min(at.0, Ordering::AcqRel);
        let _ = self.check();
    }

    /// Somebody decided that the moments of the rows are right: time goes on from where they are, whatever the clock of the machine
    /// says. Returns the milliseconds that are added to its time.
    pub(crate) fn believe_rows(&self) -> i64 {
        let mut belief = lock(&self.belief);
        let offset = self.clock.offset();
        let jumped = offset - belief.offset;
        let behind = self.last.load(Ordering::Acquire).saturating_sub(self.clock.of_machine().0);
        let correction = match belief.behind {
            true => behind.max(0),
            false if jumped.abs() > self.jump_ms => behind.max(-jumped),
            false => 0,
        };
        *belief = Belief { offset: offset + correction, behind: false };
        self.clock.correct(correction);
        drop(belief);
        let _ = self.check();
        correction
    }

    /// A change was made at this moment. Warns once if that is in the future: the clock is wrong now, or was wrong at that
    /// change.
    pub(crate) fn advance(&self, at: Millis) {
        let last = self.last.fetch_max(at.0, Ordering::AcqRel).max(at.0);
        let clock = self.clock.now();
        if last.saturating_sub(clock.0) <= AHEAD_MAX_MS {
            self.ahead.end(|| self.log.info("the clock has passed the last change", &[]));
            return;
        }
        let text = "the last change is in the future by this machine's clock: until then, changes get its moment";
        let hint = "correct the machine's clock; if it is correct, it was wrong at that change";
        self.ahead.begin(|| {
            self.log.warn(text, &[("last_change", &Millis(last)), ("clock", &clock), ("hint", &hint)]);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: i64 = 60_000;
    const DAY: i64 = 24 * 60 * MIN;

    fn at(clock: Millis, last: Millis, correction: i64) -> (Clock, JournalClock) {
        let clock = Clock::at(clock);
        (clock.clone(), JournalClock::new(clock, Some(last), 5 * MIN, correction, Log::silent()))
    }

    /// The offset is read at two moments, a little apart.
    fn days(doubt: Option<ClockDoubt>) -> Option<i64> {
        doubt.map(|doubt| match doubt {
            ClockDoubt::Jumped(ms) | ClockDoubt::Behind(ms) | ClockDoubt::OffFromDatabase(ms) => {
                (ms + ms.signum() * MIN) / DAY
            }
        })
    }

    #[test]
    fn a_server_that_was_off_for_months_and_a_small_difference_need_no_decision() {
        for (now, last) in [(100 * DAY, DAY), (DAY, DAY + 4 * MIN)] {
            assert_eq!(at(Millis(now), Millis(last), 0).1.doubt(), None);
        }
        let (clock, journal) = at(Millis(DAY), Millis(DAY), 0);
        clock.set(Some(Millis(300 * DAY)));
        assert_eq!(journal.doubt(), None, "time passed");
        clock.jump(Millis(300 * DAY + 4 * MIN));
        assert_eq!(journal.doubt(), None);
    }

    #[test]
    fn a_clock_that_is_behind_the_rows_at_the_start_is_believed_after_a_decision_or_once_it_is_right() {
        let (_, journal) = at(Millis(DAY), Millis(31 * DAY), 0);
        assert!(matches!(journal.check(), Err(Error::Clock(ClockDoubt::Behind(behind))) if behind == 30 * DAY));
        journal.believe_clock(Millis(DAY));
        assert_eq!((journal.doubt(), journal.now()), (None, Millis(DAY)));
        let (clock, journal) = at(Millis(DAY), Millis(31 * DAY), 0);
        assert_eq!((journal.believe_rows(), journal.doubt(), journal.now()), (30 * DAY, None, Millis(31 * DAY)));
        clock.set(Some(Millis(2 * DAY)));
        assert_eq!((journal.doubt(), journal.now()), (None, Millis(32 * DAY)), "time goes on");
        clock.jump(Millis(40 * DAY));
        assert_eq!((journal.doubt(), journal.correction(), journal.now()), (None, 0, Millis(40 * DAY)));
        let (clock, journal) = at(Millis(DAY), Millis(31 * DAY), 0);
        clock.jump(Millis(32 * DAY));
        assert_eq!((journal.doubt(), journal.now()), (None, Millis(32 * DAY)));
    }

    #[test]
    fn a_decision_for_the_rows_is_used_again_at_the_next_start_while_the_clock_is_still_as_wrong() {
        let now = |clock, last| {
            let (_, journal) = at(Millis(clock), Millis(last), 30 * DAY);
            (days(journal.doubt()), journal.now())
        };
        assert_eq!(now(2 * DAY, 32 * DAY), (None, Millis(32 * DAY)));
        assert_eq!(now(3 * DAY, 32 * DAY), (None, Millis(33 * DAY)));
        assert_eq!(now(33 * DAY, 32 * DAY), (None, Millis(33 * DAY)), "the clock is right");
        assert_eq!(now(DAY, 60 * DAY), (Some(59), Millis(60 * DAY)), "it is more wrong");
    }

    #[test]
    fn a_jump_while_the_server_runs_stops_writing_until_a_decision_or_until_the_clock_is_right() {
        for jump in [30 * DAY, -30 * DAY] {
            let start = 100 * DAY;
            let jumped = || {
                let (clock, journal) = at(Millis(start), Millis(start), 0);
                clock.jump(Millis(start + jump));
                assert_eq!(days(journal.doubt()), Some(jump / DAY));
                (clock, journal)
            };
            let (clock, journal) = jumped();
            clock.jump(Millis(start));
            assert_eq!((journal.doubt(), journal.now()), (None, Millis(start)));
            let (_, journal) = jumped();
            journal.believe_clock(Millis(start + jump));
            assert_eq!((journal.doubt(), journal.now()), (None, Millis(start + jump)));
            let (clock, journal) = jumped();
            journal.believe_rows();
            let off = (journal.now().0 - start).abs();
            assert!(journal.doubt().is_none() && off < MIN, "{off}");
            clock.jump(Millis(start));
            assert_eq!((journal.doubt(), journal.correction()), (None, 0));
        }
    }
}
