//! The only reader of the machine's clocks. Time of day is settable, so that tests need no sleep.

use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// Whole seconds since the epoch, rounded down.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This moment and `by` more.
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl std::fmt::Display for Millis {
    /// RFC 3339 in UTC with milliseconds: `2026-11-01T12:00:00.000Z`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// A reading of the monotonic clock: nanoseconds since this process first asked. Only differences mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Tick(pub u64);

static FIRST: LazyLock<Instant> = LazyLock::new(monotonic);

#[expect(clippy::disallowed_methods, reason = "the one reader of the monotonic clock")]
fn monotonic() -> Instant {
    Instant::now()
}

impl Tick {
    /// Now.
    pub fn now() -> Self {
        Self(u64::try_from(monotonic().saturating_duration_since(*FIRST).as_nanos()).unwrap_or(u64::MAX))
    }

    /// Nanoseconds from `earlier` to this; 0 when it was not earlier.
    pub fn since(self, earlier: Tick) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Time of day: the machine's, or one that a test or conformance mode has set. Clones share the setting.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// 0: the machine's time; else the set time in ms since the epoch.
    set: Arc<AtomicI64>,
}

impl Clock {
    /// A clock that stands at `at` until it is set again.
    pub fn at(at: Millis) -> Self {
        let clock = Self::default();
        clock.set(Some(at));
        clock
    }

    /// Stands still at `at`; `None` follows the machine again.
    pub fn set(&self, at: Option<Millis>) {
        self.set.store(at.map_or(0, |at| at.0), Ordering::Relaxed);
    }

    /// The time of day.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the time of day")]
    pub fn now(&self) -> Millis {
        match self.set.load(Ordering::Relaxed) {
            0 => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            at => Millis(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_clock_stands_still_and_is_shared_by_its_clones() {
        let clock = Clock::at(Millis(5));
        let other = clock.clone();
        other.set(Some(Millis(7)));
        assert_eq!(clock.now(), Millis(7));
    }

    #[test]
    fn a_moment_reads_as_rfc_3339() {
        assert_eq!(Millis(1_793_534_400_000).to_string(), "2026-11-01T12:00:00.000Z");
    }
}
