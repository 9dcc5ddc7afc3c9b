//! How long event loops were kept from their other tasks, and by what.
//!
//! Every thread notes in itself which [`Op`]s ran on it from beginning to end ([`crate::Event::time`]), how often, and
//! the longest. A loop's heartbeat, which runs on the same thread, takes that over with how late it was itself.

use crate::{Histogram, Op, Tick};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

thread_local! {
    /// Runs of each op on this thread since the last beat.
    static RUNS: [Cell<u32>; Op::COUNT] = const { [const { Cell::new(0) }; Op::COUNT] };
    /// The longest of them.
    static LONGEST: Cell<Blocked> = const { Cell::new(Blocked { nanos: 0, op: None }) };
}

/// Notes that `op` ran on this thread for so long, and nothing else.
pub(crate) fn ran(op: Op, nanos: u64) {
    RUNS.with(|runs| runs[op as usize].set(runs[op as usize].get().wrapping_add(1)));
    if nanos > LONGEST.get().nanos {
        LONGEST.set(Blocked { nanos, op: Some(op) });
    }
}

/// A time in which a loop did nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Blocked {
    /// Nanoseconds.
    pub nanos: u64,
    /// What took most of it. `None`: nothing that is an op.
    pub op: Option<Op>,
}

/// One event loop's record. Its loop calls [`Pulse::beat`] from a timer.
#[derive(Debug)]
pub struct Pulse {
    name: String,
    runs: [AtomicU64; Op::COUNT],
    /// Nanoseconds that the loop was ready to work and had no processor.
    starved: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lateness: Histogram,
    /// The longest of the window that runs and of the one before, so that a figure is seen for one window at least.
    longest: [Blocked; 2],
    /// When the window that runs began.
    since: Tick,
}

impl Pulse {
    /// The longest blocking is kept for as long, and at most for twice as long: two scrapes of Prometheus see it.
    const WINDOW_NANOS: u64 = 60_000_000_000;

    pub(crate) fn new(name: &str) -> Self {
        let state = State { since: Tick::now(), ..State::default() };
        let runs = [const { AtomicU64::new(0) }; Op::COUNT];
        Self { name: name.to_owned(), runs, starved: AtomicU64::new(0), state: Mutex::new(state) }
    }

    /// The loop's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The loop's timer fired `late` nanoseconds after its time; for `starved` of those since the last beat its thread was
    /// ready and had no processor, which is not the loop's doing. Call it on the loop's own thread.
    pub fn beat(&self, late: u64, starved: u64) {
        self.starved.fetch_add(starved, Relaxed);
        RUNS.with(|runs| {
            for (run, total) in runs.iter().zip(&self.runs).filter(|(run, _)| run.get() > 0) {
                total.fetch_add(u64::from(run.take()), Relaxed);
            }
        });
        // An op may have ended before the timer was due: it blocked the loop as well.
        let ran = LONGEST.take();
        let now = Tick::now();
        let mut state = self.lock();
        state.lateness.record(late);
        state.turn(now);
        let blocked = late.max(ran.nanos).saturating_sub(starved);
        if blocked > state.longest[0].nanos {
            // What took less than half of it did not cause it.
            state.longest[0] = Blocked { nanos: blocked, op: ran.op.filter(|_| ran.nanos >= blocked / 2) };
        }
    }

    /// The longest blocking of the last one to two minutes.
    pub fn longest(&self) -> Blocked {
        let mut state = self.lock();
        state.turn(Tick::now());
        let [now, before] = state.longest;
        if now.nanos >= before.nanos { now } else { before }
    }

    /// Nanoseconds in all that the loop was ready to work and had no processor: others on the machine had.
    pub fn starved(&self) -> u64 {
        self.starved.load(Relaxed)
    }

    /// How late the timer was.
    pub fn lateness(&self) -> Histogram {
        self.lock().lateness.clone()
    }

    /// How often `op` ran on the loop itself and kept it from everything else.
    pub fn runs(&self, op: Op) -> u64 {
        self.runs[op as usize].load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn turn(&mut self, now: Tick) {
        let windows = now.since(self.since) / Pulse::WINDOW_NANOS;
        if windows > 0 {
            let before = if windows == 1 { self.longest[0] } else { Blocked::default() };
            self.longest = [Blocked::default(), before];
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Millis};

    #[test]
    fn a_beat_takes_over_what_ran_on_its_thread_and_nothing_else() {
        let pulse = Pulse::new("test");
        std::thread::scope(|scope| {
            scope.spawn(|| Event::job("elsewhere", Millis(1)).time(Op::PackageRead, || ()));
        });
        let mut event = Event::job("here", Millis(1));
        event.time(Op::Route, || ());
        event.time(Op::Route, || ());
        // A wait is no work: it keeps nobody from anything.
        event.add(Op::TruthWait, u64::MAX / 2);
        pulse.beat(7, 0);
        assert_eq!([Op::Route, Op::PackageRead, Op::TruthWait].map(|op| pulse.runs(op)), [2, 0, 0]);
        assert_eq!(pulse.lateness().count(), 1);
        pulse.beat(0, 0);
        assert_eq!(pulse.runs(Op::Route), 2);
    }

    #[test]
    fn the_longest_blocking_keeps_its_op_and_is_forgotten_after_two_windows() {
        let pulse = Pulse::new("test");
        ran(Op::Route, 5);
        ran(Op::IndexRender, 9_000_000);
        pulse.beat(8_000_000, 0);
        ran(Op::Route, 4);
        pulse.beat(2, 0);
        let longest = Blocked { nanos: 9_000_000, op: Some(Op::IndexRender) };
        assert_eq!(pulse.longest(), longest);
        let mut state = pulse.lock();
        let later = |windows: u64| Tick(state.since.0 + windows * Pulse::WINDOW_NANOS);
        let (next, last) = (later(1), later(2));
        state.turn(next);
        assert_eq!(state.longest, [Blocked::default(), longest]);
        state.turn(last);
        assert_eq!(state.longest, [Blocked::default(); 2]);
    }

    #[test]
    fn lateness_without_an_op_is_nobodys() {
        let pulse = Pulse::new("test");
        LONGEST.take();
        pulse.beat(3, 0);
        assert_eq!(pulse.longest(), Blocked { nanos: 3, op: None });
    }

    #[test]
    fn who_had_no_processor_blocked_nobody() {
        let pulse = Pulse::new("test");
        LONGEST.take();
        pulse.beat(9_000, 7_000);
        pulse.beat(1_000, 4_000);
        assert_eq!(pulse.longest(), Blocked { nanos: 2_000, op: None });
        assert_eq!(pulse.starved(), 11_000);
    }
}
