//! A figure that is read when metrics are requested, and whether reading it is quick enough.

use crate::Tick;
use crate::lock;
use crate::machine::process::thread_nanos;
use crate::prometheus::metric::{By, Metric};
use crate::threads::starvation;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A read that takes longer is slow, in nanoseconds.
const SLOW: u64 = 5_000_000;
/// Two slow reads among so many switch a gauge off.
const READS: u32 = 10;
/// How long a gauge is off before it is tried again.
const OFF: Duration = Duration::from_secs(10 * 60);

/// Figures by the value of their label. A figure without a label has an empty one.
pub(crate) type Values = Vec<(String, f64)>;

/// A figure, or one figure for each value of a label.
pub(crate) struct Gauge {
    pub(crate) metric: Metric,
    /// `None`: it has no label.
    pub(crate) by: Option<By>,
    read: Box<dyn Fn() -> Values + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    values: Arc<Values>,
    /// The last reads, the newest in the lowest bit. A slow one is a 1.
    slow: u32,
    off_until: Option<Tick>,
    /// A thread is reading it.
    reading: bool,
    /// The log has named it since it was last quick.
    logged: bool,
}

impl Gauge {
    pub(crate) fn new(metric: Metric, by: Option<By>, read: Box<dyn Fn() -> Values + Send + Sync>) -> Self {
        Self { metric, by, read, state: Mutex::default() }
    }

    /// Whether it is to be read at `now`.
    pub(crate) fn is_due(&self, now: Tick) -> bool {
        let state = lock(&self.state);
        !state.reading && state.off_until.is_none_or(|until| until <= now)
    }

    /// Whether it is switched off at `now`.
    pub(crate) fn is_off(&self, now: Tick) -> bool {
        let state = lock(&self.state);
        state.off_until.is_some_and(|until| now < until || state.reading)
    }

    /// What was read last. Nothing while it is off, or if reading it panicked.
    pub(crate) fn values(&self, now: Tick) -> Arc<Values> {
        if self.is_off(now) { Arc::default() } else { lock(&self.state).values.clone() }
    }

    /// Reads it on this thread. Returns the nanoseconds of processor time that this took.
    pub(crate) fn read(&self) -> u64 {
        lock(&self.state).reading = true;
        starvation::since_last();
        let (cpu, began) = (thread_nanos(), Tick::now());
        let values = catch_unwind(AssertUnwindSafe(&self.read)).unwrap_or_default();
        let (cpu, wall) = (thread_nanos().saturating_sub(cpu), Tick::now().since(began));
        // The load of the machine is not the gauge's fault.
        self.ended(values, cpu.max(wall.saturating_sub(starvation::since_last())));
        cpu
    }

    fn ended(&self, values: Values, took: u64) {
        let mut state = lock(&self.state);
        let slow = took > SLOW;
        (state.values, state.reading) = (Arc::new(values), false);
        state.slow = (state.slow << 1 | u32::from(slow)) & ((1 << READS) - 1);
        if slow && state.slow.count_ones() > 1 {
            state.off_until = Some(Tick::now().plus(OFF));
            // One more slow read after the pause is enough.
            state.slow = 1;
        } else if state.slow == 0 {
            state.logged = false;
        }
    }

    /// Switches it off if a thread is still reading it.
    pub(crate) fn give_up(&self, now: Tick) {
        let mut state = lock(&self.state);
        if state.reading {
            (state.off_until, state.slow) = (Some(now.plus(OFF)), 1);
        }
    }

    /// Whether the log has to name it now: it is off and was not named yet.
    pub(crate) fn is_news(&self, now: Tick) -> bool {
        let off = self.is_off(now);
        off && !std::mem::replace(&mut lock(&self.state).logged, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gauge() -> Gauge {
        Gauge::new(Metric::gauge("a", "Any"), None, Box::new(|| vec![(String::new(), 1.0)]))
    }

    #[test]
    fn two_slow_reads_of_ten_switch_it_off_and_after_the_pause_one_is_enough() {
        let (gauge, now, later) = (gauge(), Tick::now(), Tick::now().plus(2 * OFF));
        let reads = |took: &[u64]| took.iter().for_each(|took| gauge.ended(Values::new(), *took));
        reads(&[SLOW + 1]);
        reads(&[SLOW; READS as usize]);
        reads(&[SLOW + 1, 0]);
        assert_eq!((gauge.is_off(now), gauge.is_due(now), gauge.is_news(now)), (false, true, false));
        reads(&[SLOW + 1]);
        assert_eq!((gauge.is_off(now), gauge.is_due(now)), (true, false));
        assert_eq!([gauge.is_news(now), gauge.is_news(now)], [true, false], "the log names it once");
        assert_eq!((gauge.is_off(later), gauge.is_due(later)), (false, true));
        reads(&[SLOW + 1]);
        assert_eq!((gauge.is_off(now), gauge.is_news(now)), (true, false));
    }

    #[test]
    fn it_is_quick_again_after_quick_reads() {
        let (gauge, now) = (gauge(), Tick::now());
        gauge.ended(Values::new(), SLOW + 1);
        gauge.ended(Values::new(), SLOW + 1);
        assert!(gauge.is_news(now));
        (0..READS).for_each(|_| gauge.ended(Values::new(), 0));
        gauge.ended(Values::new(), SLOW + 1);
        gauge.ended(Values::new(), SLOW + 1);
        assert!(gauge.is_news(now), "the log names it again");
    }

    #[test]
    fn work_counts_as_slow_although_it_waits_for_nothing() {
        let works = Gauge::new(
            Metric::gauge("a", "Any"),
            None,
            Box::new(|| {
                let began = thread_nanos();
                while thread_nanos() - began <= SLOW {}
                Values::new()
            }),
        );
        assert!(works.read() > SLOW);
        works.read();
        assert!(works.is_off(Tick::now()));
        assert!(works.values(Tick::now()).is_empty());
    }
}
