//! The moment of the next change: the clock's, but never before the last change.

use std::sync::atomic::{AtomicI64, Ordering};
use telemetry::log::Incident;
use telemetry::{Clock, Log, Millis};

/// The log reports that the last change is in the future once it is ahead of the clock by more than this.
const AHEAD_MAX_MS: i64 = 5_000;

/// The clock, and the moment of the last change.
#[derive(Debug)]
pub(crate) struct JournalClock {
    clock: Clock,
    last: AtomicI64,
    /// The last change is ahead of the clock.
    ahead: Incident,
    log: Log,
}

impl JournalClock {
    /// The clock of a journal whose last change was made at `last`.
    pub(crate) fn new(clock: Clock, last: Option<Millis>, log: Log) -> Self {
        let this = Self { clock, last: AtomicI64::new(i64::MIN), ahead: Incident::default(), log };
        if let Some(last) = last {
            this.advance(last);
        }
        this
    }

    /// The moment that a change made now would get.
    pub(crate) fn now(&self) -> Millis {
        self.clock.now().max(Millis(self.last.load(Ordering::Acquire)))
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
