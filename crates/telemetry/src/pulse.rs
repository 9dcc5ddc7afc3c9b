//! How long event loops were kept from their other tasks, and by what; and how long whoever was ready waited for them.
//!
//! Every thread notes in itself how long each turn of a task took ([`turn`]) and which [`Op`]s ran on it from beginning to end
//! ([`crate::Event::time`]). A loop's heartbeat, which runs on the same thread, takes that over with how late it was itself:
//! it waits behind all who are ready, so it may be late though nobody's turn was long.

use crate::{Histogram, Op, Tick, starved};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// In a turn that took no longer than this nobody looks for how long the thread had no processor: looking takes some
/// microseconds. In nanoseconds.
const SHORT: u64 = 500_000;

/// What a thread notes between two beats of its loop.
struct Turns {
    /// Runs of each op.
    runs: [Cell<u32>; Op::COUNT],
    /// A turn runs.
    runs_now: Cell<bool>,
    /// When it began, until somebody has asked.
    began: Cell<Option<Tick>>,
    /// The longest op in it.
    worked: Cell<Blocked>,
    /// The longest turn that has ended.
    longest: Cell<Blocked>,
    /// Nanoseconds in which the thread was ready and had no processor.
    starved: Cell<u64>,
}

thread_local! {
    static HERE: Turns = const {
        Turns {
            runs: [const { Cell::new(0) }; Op::COUNT],
            runs_now: Cell::new(false),
            began: Cell::new(None),
            worked: Cell::new(Blocked { nanos: 0, op: None }),
            longest: Cell::new(Blocked { nanos: 0, op: None }),
            starved: Cell::new(0),
        }
    };
}

/// A task's turn on this thread's loop, timed.
pub fn turn<T>(work: impl FnOnce() -> T) -> T {
    let began = Tick::now();
    HERE.with(|here| here.begin(began));
    let done = work();
    HERE.with(|here| here.end(Tick::now().since(began), starved::since_last));
    done
}

/// When what is found now was there, for one reading of the clock less: the first who asks in a turn is told when that began, and
/// all others that it is now.
pub fn arrived() -> Tick {
    HERE.with(|here| here.began.take()).unwrap_or_else(Tick::now)
}

/// Notes that `op` ran on this thread for so long, and nothing else.
pub(crate) fn ran(op: Op, nanos: u64) {
    HERE.with(|here| here.ran(op, nanos));
}

impl Turns {
    fn begin(&self, now: Tick) {
        self.runs_now.set(true);
        self.began.set(Some(now));
        self.worked.set(Blocked::default());
    }

    /// `starved`: for how long the thread had no processor since that was last asked.
    fn end(&self, nanos: u64, starved: impl FnOnce() -> u64) {
        self.runs_now.set(false);
        self.began.set(None);
        if nanos <= SHORT.max(self.longest.get().nanos) {
            return self.lengthen(nanos);
        }
        // Some of it may have been before the turn: the rest is what others certainly waited for.
        let starved = starved();
        self.starved.set(self.starved.get() + starved);
        self.lengthen(nanos.saturating_sub(starved));
    }

    fn lengthen(&self, nanos: u64) {
        if nanos > self.longest.get().nanos {
            // What took less than half of it did not cause it.
            let op = self.worked.get().op.filter(|_| self.worked.get().nanos >= nanos / 2);
            self.longest.set(Blocked { nanos, op });
        }
    }

    fn ran(&self, op: Op, nanos: u64) {
        let runs = &self.runs[op as usize];
        runs.set(runs.get().wrapping_add(1));
        let longest = if self.runs_now.get() { &self.worked } else { &self.longest };
        if nanos > longest.get().nanos {
            longest.set(Blocked { nanos, op: Some(op) });
        }
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
    /// The longest turn of the window that runs and of the one before, so that a figure is seen for one window at least.
    longest: [Blocked; 2],
    /// The longest lateness of both, in nanoseconds.
    latest: [u64; 2],
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

    /// The loop's timer fired `late` nanoseconds after its time. Call it on the loop's own thread.
    pub fn beat(&self, late: u64) {
        HERE.with(|here| {
            here.starved.set(here.starved.get() + starved::since_last());
            self.take_over(here, late);
        });
    }

    fn take_over(&self, here: &Turns, late: u64) {
        for (run, total) in here.runs.iter().zip(&self.runs).filter(|(run, _)| run.get() > 0) {
            total.fetch_add(u64::from(run.take()), Relaxed);
        }
        let (longest, starved) = (here.longest.take(), here.starved.take());
        self.starved.fetch_add(starved, Relaxed);
        let now = Tick::now();
        let mut state = self.lock();
        state.lateness.record(late);
        state.turn(now);
        if longest.nanos > state.longest[0].nanos {
            state.longest[0] = longest;
        }
        // For so long the thread was ready and had no processor, which is not the loop's doing.
        state.latest[0] = state.latest[0].max(late.saturating_sub(starved));
    }

    /// The longest turn of a task in the last one to two minutes: for so long the loop did nothing else.
    pub fn longest(&self) -> Blocked {
        let mut state = self.lock();
        state.turn(Tick::now());
        let [now, before] = state.longest;
        if now.nanos >= before.nanos { now } else { before }
    }

    /// The longest that the loop's timer was late in the last one to two minutes, in nanoseconds: so long may whoever was
    /// ready have waited, behind one long turn or many short ones.
    pub fn latest(&self) -> u64 {
        let mut state = self.lock();
        state.turn(Tick::now());
        state.latest[0].max(state.latest[1])
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

    /// What a turn of this length notes, of which the thread had no processor for `starved`.
    fn turned(nanos: u64, starved: u64, ops: &[(Op, u64)]) {
        HERE.with(|here| {
            here.begin(Tick(1));
            ops.iter().for_each(|(op, nanos)| ran(*op, *nanos));
            here.end(nanos, || starved);
        });
    }

    /// A beat in which the machine starved nobody, as this one may.
    fn beat(pulse: &Pulse, late: u64) {
        HERE.with(|here| pulse.take_over(here, late));
    }

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
        pulse.beat(7);
        assert_eq!([Op::Route, Op::PackageRead, Op::TruthWait].map(|op| pulse.runs(op)), [2, 0, 0]);
        assert_eq!(pulse.lateness().count(), 1);
        pulse.beat(0);
        assert_eq!(pulse.runs(Op::Route), 2);
    }

    #[test]
    fn the_longest_turn_keeps_the_op_that_took_most_of_it_and_is_forgotten_after_two_windows() {
        let pulse = Pulse::new("test");
        turned(400_000, 0, &[(Op::Route, 300_000)]);
        turned(9_000_000, 0, &[(Op::Route, 5), (Op::IndexRender, 8_000_000)]);
        beat(&pulse, 3_000_000);
        turned(4, 0, &[(Op::Route, 4)]);
        beat(&pulse, 2);
        let longest = Blocked { nanos: 9_000_000, op: Some(Op::IndexRender) };
        assert_eq!((pulse.longest(), pulse.latest()), (longest, 3_000_000));
        let mut state = pulse.lock();
        let later = |windows: u64| Tick(state.since.0 + windows * Pulse::WINDOW_NANOS);
        let (next, last) = (later(1), later(2));
        state.turn(next);
        assert_eq!((state.longest, state.latest), ([Blocked::default(), longest], [0, 3_000_000]));
        state.turn(last);
        assert_eq!((state.longest, state.latest), ([Blocked::default(); 2], [0; 2]));
    }

    #[test]
    fn many_short_turns_make_a_loop_late_and_block_nobody() {
        let pulse = Pulse::new("test");
        (0..100).for_each(|_| turned(90_000, 0, &[(Op::Route, 40_000)]));
        beat(&pulse, 9_000_000);
        assert_eq!(pulse.longest(), Blocked { nanos: 90_000, op: None });
        assert_eq!(pulse.latest(), 9_000_000);
    }

    #[test]
    fn who_had_no_processor_blocked_nobody() {
        let pulse = Pulse::new("test");
        turned(9_000_000, 7_000_000, &[]);
        turned(1_000_000, 4_000_000, &[]);
        beat(&pulse, 13_000_000);
        assert_eq!(pulse.longest(), Blocked { nanos: 2_000_000, op: None });
        assert_eq!((pulse.starved(), pulse.latest()), (7_000_000, 6_000_000));
    }

    #[test]
    fn work_outside_of_a_turn_is_one_of_its_own() {
        let pulse = Pulse::new("test");
        ran(Op::Check, 70);
        beat(&pulse, 0);
        assert_eq!(pulse.longest(), Blocked { nanos: 70, op: Some(Op::Check) });
    }

    #[test]
    fn what_a_turn_finds_first_was_there_when_it_began() {
        HERE.with(|here| here.begin(Tick(1)));
        assert_eq!(arrived(), Tick(1));
        assert!(arrived() > Tick(1));
        HERE.with(|here| here.end(5, || 0));
        assert!(arrived() > Tick(1), "the turn is over");
    }
}
