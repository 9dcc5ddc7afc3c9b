//! Monitors event loops: how long a task blocked a loop, with which op, and how long ready tasks waited.
//!
//! Every thread records in thread-local variables how long each turn of a task took ([`turn`]) and which [`Op`]s ran on it from beginning
//! to end ([`crate::Event::time`]). The heartbeat of the loop, a timer on the same thread, collects that together with its own
//! lateness. The heartbeat waits behind all ready tasks, so it may be late although no single turn was long.

use crate::histogram::durations::Durations;
use crate::lock;
use crate::threads::loop_blocks::{Blocked, LoopBlocks};
use crate::threads::{core_load, register, starvation};
use crate::{Op, Tick};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// After a turn of at most this many nanoseconds the starvation of the thread is not read, because that takes some microseconds.
const SHORT: u64 = 500_000;

/// What a thread records between two beats of its loop.
struct Turns {
    /// The number of runs of each op.
    runs: [Cell<u32>; Op::COUNT],
    /// Whether a turn is under way.
    in_turn: Cell<bool>,
    /// When it began, until [`arrived`] has returned it.
    began: Cell<Option<Tick>>,
    /// The longest op in the turn.
    worked: Cell<Blocked>,
    /// The longest turn that has ended.
    longest: Cell<Blocked>,
    /// Nanoseconds in which the thread was ready to run and had no processor.
    starved: Cell<u64>,
}

thread_local! {
    static HERE: Turns = const {
        Turns {
            runs: [const { Cell::new(0) }; Op::COUNT],
            in_turn: Cell::new(false),
            began: Cell::new(None),
            worked: Cell::new(Blocked { nanos: 0, op: None }),
            longest: Cell::new(Blocked { nanos: 0, op: None }),
            starved: Cell::new(0),
        }
    };
}

/// Runs and times a turn of a task on this thread's event loop.
pub fn turn<T>(work: impl FnOnce() -> T) -> T {
    let began = Tick::now();
    HERE.with(|here| here.begin(began));
    let done = work();
    register::works_at_nothing();
    HERE.with(|here| here.end(Tick::now().since(began), starvation::since_last));
    done
}

/// When the data that is found now arrived. The first call in a turn returns the start of the turn, which saves a reading of the
/// clock. Later calls return the current time.
pub fn arrived() -> Tick {
    HERE.with(|here| here.began.take()).unwrap_or_else(Tick::now)
}

/// Records that `op` blocked this thread for `nanos`.
pub(crate) fn ran(op: Op, nanos: u64) {
    HERE.with(|here| here.ran(op, nanos));
}

impl Turns {
    fn begin(&self, now: Tick) {
        self.in_turn.set(true);
        self.began.set(Some(now));
        self.worked.set(Blocked::default());
    }

    /// `starved` returns how long the thread had no processor since its last call.
    fn end(&self, nanos: u64, starved: impl FnOnce() -> u64) {
        self.in_turn.set(false);
        self.began.set(None);
        if nanos <= SHORT.max(self.longest.get().nanos) {
            return self.update_longest(nanos);
        }
        // Some of the starvation may have been before the turn. The remaining time certainly blocked others.
        let starved = starved();
        self.starved.set(self.starved.get() + starved);
        self.update_longest(nanos.saturating_sub(starved));
    }

    fn update_longest(&self, nanos: u64) {
        if nanos > self.longest.get().nanos {
            // An op that took less than half of the turn is not its cause.
            let op = self.worked.get().op.filter(|_| self.worked.get().nanos >= nanos / 2);
            self.longest.set(Blocked { nanos, op });
        }
    }

    fn ran(&self, op: Op, nanos: u64) {
        let runs = &self.runs[op as usize];
        runs.set(runs.get().wrapping_add(1));
        let longest = if self.in_turn.get() { &self.worked } else { &self.longest };
        if nanos > longest.get().nanos {
            longest.set(Blocked { nanos, op: Some(op) });
        }
    }
}

/// The figures of one event loop. The loop calls [`LoopMonitor::beat`] from a timer.
#[derive(Debug)]
pub struct LoopMonitor {
    name: String,
    runs: [AtomicU64; Op::COUNT],
    /// Nanoseconds in which the loop was ready to run and had no processor.
    starved: AtomicU64,
    beats: AtomicU64,
    blocks: LoopBlocks,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lateness: Durations,
    /// The longest turn of the current window and of the one before, so that each is visible for at least one window.
    longest: [Blocked; 2],
    /// The longest lateness of both windows, in nanoseconds.
    latest: [u64; 2],
    /// When the current window began.
    since: Tick,
}

impl LoopMonitor {
    /// The longest period is visible for one to two windows, so that two scrapes of Prometheus see it.
    const WINDOW_NANOS: u64 = 60_000_000_000;

    pub(crate) fn new(name: &str) -> Self {
        let state = State { since: Tick::now(), ..State::default() };
        let runs = [const { AtomicU64::new(0) }; Op::COUNT];
        let (starved, beats, blocks) = (AtomicU64::new(0), AtomicU64::new(0), LoopBlocks::default());
        Self { name: name.to_owned(), runs, starved, beats, blocks, state: Mutex::new(state) }
    }

    /// The name of the loop.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The timer of the loop is to fire at `due`. Call this on the thread of the loop.
    pub fn expect(&self, due: Tick) {
        core_load::expect(due);
    }

    /// The timer of the loop fired `late` nanoseconds after its time. Call this on the thread of the loop.
    pub fn beat(&self, late: u64) {
        core_load::beat(late);
        HERE.with(|here| {
            here.starved.set(here.starved.get() + starvation::since_last());
            self.collect(here, late);
        });
    }

    fn collect(&self, here: &Turns, late: u64) {
        for (run, total) in here.runs.iter().zip(&self.runs).filter(|(run, _)| run.get() > 0) {
            total.fetch_add(u64::from(run.take()), Relaxed);
        }
        let (longest, starved) = (here.longest.take(), here.starved.take());
        self.starved.fetch_add(starved, Relaxed);
        self.blocks.see(longest, late.saturating_sub(starved), core_load::in_flight());
        self.beats.fetch_add(1, Relaxed);
        let now = Tick::now();
        let mut state = lock(&self.state);
        state.lateness.record(late);
        state.turn(now);
        if longest.nanos > state.longest[0].nanos {
            state.longest[0] = longest;
        }
        // The time without a processor is subtracted, because the loop did not cause it.
        state.latest[0] = state.latest[0].max(late.saturating_sub(starved));
    }

    /// The longest turn of a task in the last one to two minutes. It blocked the loop.
    pub fn longest(&self) -> Blocked {
        let mut state = lock(&self.state);
        state.turn(Tick::now());
        let [now, before] = state.longest;
        if now.nanos >= before.nanos { now } else { before }
    }

    /// The longest lateness of the loop's timer in the last one to two minutes, in nanoseconds. A ready task may have waited this long,
    /// behind one long turn or many short ones.
    pub fn latest(&self) -> u64 {
        let mut state = lock(&self.state);
        state.turn(Tick::now());
        state.latest[0].max(state.latest[1])
    }

    /// The total nanoseconds in which the loop was ready to run and other processes had the processors.
    pub fn starved(&self) -> u64 {
        self.starved.load(Relaxed)
    }

    /// How often the timer of the loop has fired. It waits for no lock.
    pub fn beats(&self) -> u64 {
        self.beats.load(Relaxed)
    }

    /// How long the loop was blocked since the start. It waits for no lock.
    pub fn blocks(&self) -> &LoopBlocks {
        &self.blocks
    }

    /// The lateness of the timer.
    pub(crate) fn lateness(&self) -> Durations {
        lock(&self.state).lateness.clone()
    }

    /// How often `op` ran on the loop itself and blocked it.
    pub fn runs(&self, op: Op) -> u64 {
        self.runs[op as usize].load(Relaxed)
    }
}

impl State {
    fn turn(&mut self, now: Tick) {
        let windows = now.since(self.since) / LoopMonitor::WINDOW_NANOS;
        if windows > 0 {
            let (longest, latest) = if windows == 1 { (self.longest[0], self.latest[0]) } else { Default::default() };
            (self.longest, self.latest) = ([Blocked::default(), longest], [0, latest]);
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Millis};

    /// A turn of this length, in which the thread had no processor for `starved`.
    fn run_turn(nanos: u64, starved: u64, ops: &[(Op, u64)]) {
        HERE.with(|here| {
            here.begin(Tick(1));
            ops.iter().for_each(|(op, nanos)| ran(*op, *nanos));
            here.end(nanos, || starved);
        });
    }

    /// The kernel's count for this thread at the last call, in nanoseconds.
    fn beat(monitor: &LoopMonitor, late: u64) {
        HERE.with(|here| monitor.collect(here, late));
    }

    #[test]
    fn a_beat_collects_what_ran_on_its_thread_and_nothing_else() {
        let monitor = LoopMonitor::new("test");
        std::thread::scope(|scope| {
            scope.spawn(|| Event::job("elsewhere", Millis(1)).time(Op::PackageRead, || ()));
        });
        let mut event = Event::job("here", Millis(1));
        event.time(Op::Route, || ());
        event.time(Op::Route, || ());
        // A wait blocks nobody.
        event.add(Op::TruthWait, u64::MAX / 2);
        monitor.beat(7);
        assert_eq!([Op::Route, Op::PackageRead, Op::TruthWait].map(|op| monitor.runs(op)), [2, 0, 0]);
        assert_eq!(monitor.lateness().histogram().count(), 1);
        monitor.beat(0);
        assert_eq!(monitor.runs(Op::Route), 2);
    }

    #[test]
    fn the_longest_turn_keeps_the_op_that_took_most_of_it_and_is_forgotten_after_two_windows() {
        let monitor = LoopMonitor::new("test");
        run_turn(400_000, 0, &[(Op::Route, 300_000)]);
        run_turn(9_000_000, 0, &[(Op::Route, 5), (Op::IndexRender, 8_000_000)]);
        beat(&monitor, 3_000_000);
        run_turn(4, 0, &[(Op::Route, 4)]);
        beat(&monitor, 2);
        let longest = Blocked { nanos: 9_000_000, op: Some(Op::IndexRender) };
        assert_eq!((monitor.longest(), monitor.latest()), (longest, 3_000_000));
        let mut state = lock(&monitor.state);
        let later = |windows: u64| Tick(state.since.0 + windows * LoopMonitor::WINDOW_NANOS);
        let (next, last) = (later(1), later(2));
        state.turn(next);
        assert_eq!((state.longest, state.latest), ([Blocked::default(), longest], [0, 3_000_000]));
        state.turn(last);
        assert_eq!((state.longest, state.latest), ([Blocked::default(); 2], [0; 2]));
    }

    #[test]
    fn many_short_turns_make_a_loop_late_without_blocking_it() {
        let monitor = LoopMonitor::new("test");
        (0..100).for_each(|_| run_turn(90_000, 0, &[(Op::Route, 40_000)]));
        beat(&monitor, 9_000_000);
        assert_eq!(monitor.longest(), Blocked { nanos: 90_000, op: None });
        assert_eq!(monitor.latest(), 9_000_000);
    }

    #[test]
    fn a_thread_without_a_processor_blocked_nobody() {
        let monitor = LoopMonitor::new("test");
        run_turn(9_000_000, 7_000_000, &[]);
        run_turn(1_000_000, 4_000_000, &[]);
        beat(&monitor, 13_000_000);
        assert_eq!(monitor.longest(), Blocked { nanos: 2_000_000, op: None });
        assert_eq!((monitor.starved(), monitor.latest()), (7_000_000, 6_000_000));
    }

    #[test]
    fn work_outside_of_a_turn_counts_as_a_turn() {
        let monitor = LoopMonitor::new("test");
        ran(Op::Check, 70);
        beat(&monitor, 0);
        assert_eq!(monitor.longest(), Blocked { nanos: 70, op: Some(Op::Check) });
    }

    #[test]
    fn the_first_arrival_of_a_turn_is_its_begin() {
        HERE.with(|here| here.begin(Tick(1)));
        assert_eq!(arrived(), Tick(1));
        assert!(arrived() > Tick(1));
        HERE.with(|here| here.end(5, || 0));
        assert!(arrived() > Tick(1), "the turn is over");
    }
}
