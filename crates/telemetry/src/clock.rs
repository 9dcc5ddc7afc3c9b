//! The only code that reads the machine's clocks. The time of day can be set, so that tests need not sleep.

use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// Whole seconds since the epoch, rounded down.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The moment that is `by` later.
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

/// A reading of the monotonic clock, in nanoseconds. Only differences have a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Tick(pub u64);

impl Tick {
    /// Now.
    pub fn now() -> Self {
        // Cheaper than `Instant`, which keeps seconds and nanoseconds apart. Each request reads the clock four times.
        let now = clock_gettime(ClockId::Monotonic);
        Self(now.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec.cast_unsigned()))
    }

    /// The reading that is `by` later.
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Nanoseconds from `earlier` to this; 0 if it is not earlier.
    pub fn since(self, earlier: Tick) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The time of day: that of the machine, or one that a test or conformance mode has set. Clones share the setting.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// 0: the time of the machine; otherwise the set time in milliseconds since the epoch.
    set: Arc<AtomicI64>,
    /// How far a test has made the time of day jump, in milliseconds.
    jumped: Arc<AtomicI64>,
    /// Milliseconds that are added to the time of the machine, whose clock is known to be wrong.
    correction: Arc<AtomicI64>,
}

impl Clock {
    /// A clock that stands still at `at` until it is set again.
    pub fn at(at: Millis) -> Self {
        let clock = Self::default();
        clock.set(Some(at));
        clock
    }

    /// Makes the clock stand still at `at`; `None`: it follows the machine again.
    pub fn set(&self, at: Option<Millis>) {
        self.set.store(at.map_or(0, |at| at.0), Ordering::Relaxed);
    }

    /// Makes the time of day jump to `at`, as when the clock of the machine is set, and stand still there. With [`Clock::set`] the time
    /// passes until then.
    pub fn jump(&self, at: Millis) {
        self.jumped.fetch_add(at.0.saturating_sub(self.of_machine().0), Ordering::Relaxed);
        self.set(Some(at));
    }

    /// The time of day.
    pub fn now(&self) -> Millis {
        Millis(self.of_machine().0.saturating_add(self.correction.load(Ordering::Relaxed)))
    }

    /// The time of day without a correction.
    pub fn of_machine(&self) -> Millis {
        match self.set.load(Ordering::Relaxed) {
            0 => Millis(i64::try_from(of_day().as_millis()).unwrap_or(i64::MAX)),
            at => Millis(at),
        }
    }

    /// Whether it was set, so it passes by being set again and not with the monotonic clock.
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Relaxed) != 0
    }

    /// Adds this many milliseconds to the time of the machine from now on.
    pub fn correct(&self, by_ms: i64) {
        self.correction.store(by_ms, Ordering::Relaxed);
    }

    /// Milliseconds that are added to the time of the machine.
    pub fn correction(&self) -> i64 {
        self.correction.load(Ordering::Relaxed)
    }

    /// The time of the machine less the time since its boot, in milliseconds. It changes only if the clock of the machine is set: both
    /// clocks go on while the machine sleeps, and both are slewed alike (`clock_gettime(2)`, `CLOCK_BOOTTIME`).
    pub fn offset(&self) -> i64 {
        let boot = clock_gettime(ClockId::Boottime);
        let boot = boot.tv_sec.saturating_mul(1000).saturating_add(boot.tv_nsec / 1_000_000);
        let of_day = i64::try_from(of_day().as_millis()).unwrap_or(i64::MAX);
        of_day.saturating_sub(boot).saturating_add(self.jumped.load(Ordering::Relaxed))
    }

    /// The time of day at `tick`, which was just read. This thread reads the time of day of the machine only every
    /// [`Clock::LOOK_NANOS`], and adds the monotonic clock in between.
    pub fn at_tick(&self, tick: Tick) -> Millis {
        thread_local!(static SEEN: Cell<(Tick, u64)> = const { Cell::new((Tick(0), 0)) });
        match self.set.load(Ordering::Relaxed) {
            0 => {
                let (mut seen, mut nanos) = SEEN.get();
                if nanos == 0 || tick < seen || tick.since(seen) > Self::LOOK_NANOS {
                    seen = Tick::now();
                    nanos = u64::try_from(of_day().as_nanos()).unwrap_or(u64::MAX);
                    SEEN.set((seen, nanos));
                }
                let nanos = nanos.saturating_add(tick.since(seen)).saturating_sub(seen.since(tick));
                Millis((nanos / 1_000_000).cast_signed().saturating_add(self.correction()))
            }
            at => Millis(at),
        }
    }

    /// A correction of the machine's clock is noticed after at most this long.
    const LOOK_NANOS: u64 = 50_000_000;
}

/// The time since the epoch.
#[expect(clippy::disallowed_methods, reason = "the only reader of the time of day")]
fn of_day() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_clock_stands_still_and_is_shared_by_its_clones() {
        let clock = Clock::at(Millis(5));
        let other = clock.clone();
        other.set(Some(Millis(7)));
        assert_eq!((clock.now(), clock.is_set()), (Millis(7), true));
        other.set(None);
        assert!(!clock.is_set());
    }

    #[test]
    fn the_time_of_day_at_a_tick_is_that_of_the_machine_or_of_a_set_clock() {
        let clock = Clock::default();
        for _ in 0..3 {
            let (before, at, after) = (clock.now(), clock.at_tick(Tick::now()), clock.now());
            // Counted in whole milliseconds from different moments.
            assert!(before.0 - 1 <= at.0 && at.0 <= after.0 + 1, "{before} {at} {after}");
        }
        assert_eq!(Clock::at(Millis(5)).at_tick(Tick::now()), Millis(5));
    }

    #[test]
    fn the_offset_of_the_clock_changes_by_a_jump_and_not_by_time_that_passes() {
        let (clock, jump) = (Clock::at(Millis(5)), 3_600_000);
        let near = |offset: i64, before: i64| (offset - before).abs() < 60_000;
        let before = clock.offset();
        clock.set(Some(Millis(jump)));
        assert!(near(clock.offset(), before));
        clock.jump(Millis(3 * jump));
        assert!(near(clock.offset(), before + 2 * jump));
        clock.correct(-2 * jump);
        assert_eq!((clock.now(), clock.of_machine()), (Millis(jump), Millis(3 * jump)));
    }

    #[test]
    fn a_moment_reads_as_rfc_3339() {
        assert_eq!(Millis(1_793_534_400_000).to_string(), "2026-11-01T12:00:00.000Z");
    }
}
