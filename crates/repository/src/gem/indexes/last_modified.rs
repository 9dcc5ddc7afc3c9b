//! `Last-Modified` of the older index. Each state of its files gets a second of its own, however many changes a second has. So a client that
//! sends the date of its copy has exactly that state (RFC 9110 8.8.2.2).

use crate::gem::indexes::specs::Packed;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use telemetry::Millis;

/// The latest second that clients were sent. A task holds the lock of the files while it reads or sends a date.
#[derive(Debug, Default)]
pub(crate) struct SentDates(AtomicI64);

impl SentDates {
    /// The date of files that change at `now`: later than every date that was sent. It can be in the next second.
    pub(crate) fn next(&self, now: Millis) -> Millis {
        Millis(now.seconds().max(self.0.load(SeqCst) + 1) * 1000)
    }

    /// One of the files as it is sent at `now`.
    pub(crate) fn file(&self, file: &Packed, now: Millis) -> Packed {
        let modified = file.modified.and_then(|modified| self.send(modified, now));
        Packed { modified, ..file.clone() }
    }

    /// The date, if it can be sent at `now`; `None`: it is in the future (RFC 9110 8.8.2.1).
    fn send(&self, date: Millis, now: Millis) -> Option<Millis> {
        let sent = Some(date).filter(|date| *date <= now)?;
        self.0.fetch_max(sent.seconds(), SeqCst);
        Some(sent)
    }
}

/// The date of files that are rendered for one view, for which no sent dates are recorded: the end of the second in which they are
/// rendered. It is not sent before that moment, so of all states of one second only the last is sent with it.
pub(crate) fn end_of_second(made: Millis) -> Millis {
    Millis((made.seconds() + 1) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_change_is_dated_by_its_second_and_a_second_change_of_it_by_the_next() {
        let (dates, now) = (SentDates::default(), Millis(7_200));
        let first = dates.next(now);
        assert_eq!((first, dates.send(first, now)), (Millis(7_000), Some(Millis(7_000))));
        let second = dates.next(Millis(7_300));
        assert_eq!((second, dates.send(second, Millis(7_999))), (Millis(8_000), None));
        // Nobody has seen that date.
        assert_eq!(dates.next(Millis(7_999)), Millis(8_000));
        assert_eq!(dates.send(second, Millis(8_000)), Some(Millis(8_000)));
        assert_eq!(end_of_second(Millis(7_000)), Millis(8_000));
    }

    proptest! {
        #[test]
        fn no_two_states_are_sent_with_one_date(steps in prop::collection::vec((0_i64..700, any::<bool>()), 1..200)) {
            let (dates, mut now, mut state, mut sent) = (SentDates::default(), 0, (0, Millis(0)), vec![]);
            for (passes, changes) in steps {
                now += passes;
                if changes {
                    state = (state.0 + 1, dates.next(Millis(now)));
                }
                if let Some(date) = dates.send(state.1, Millis(now)) {
                    prop_assert!(date.0 <= now);
                    sent.push((date, state.0));
                }
            }
            sent.sort_unstable();
            sent.dedup();
            prop_assert!(sent.windows(2).all(|two| two[0].0 < two[1].0));
        }
    }
}
