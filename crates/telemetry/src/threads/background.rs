//! Threads with long work let the threads that answer clients go first.
//!
//! Where both share a core, a thread that is woken to answer waits until the working one has had its time slice (3 ms, Linux 6.18),
//! and for several of them once it has had its share of the core. Then answers from memory would be as slow as rendering.

use crate::Tick;
use rustix::process::{getpriority_process, setpriority_process};
use std::cell::Cell;

/// The nice value that is added: the thread gets a third of the time that another gets on a core that both want (`sched(7)`).
const NICE: i32 = 5;
/// The shortest time between two yields, in nanoseconds.
const TURN: u64 = 100_000;

thread_local! {
    /// When this thread yields next; `None`: it is no background thread.
    static NEXT: Cell<Option<Tick>> = const { Cell::new(None) };
}

/// Makes the calling thread a background thread.
pub fn background() {
    // This affects this thread alone (`setpriority(2)`, "C library/kernel differences"). If it is forbidden, nothing changes.
    let _ = getpriority_process(None).and_then(|nice| setpriority_process(None, nice + NICE));
    NEXT.set(Some(Tick::now()));
}

/// Call this repeatedly within long work. From time to time it lets ready threads go first. It does nothing on other threads.
pub fn give_way() {
    let Some(next) = NEXT.get() else { return };
    let asked = Tick::now();
    if next <= asked {
        std::thread::yield_now();
        let back = Tick::now();
        NEXT.set(Some(Tick(back.0.saturating_add(turn(back.since(asked))))));
    }
}

/// How long to work after a yield that took `away`. A thread that yields gives up the rest of its slice (Linux 6.18). On a core that
/// another thread never leaves it would get a thirtieth of the time. So it works for half as long as it waited.
fn turn(away: u64) -> u64 {
    TURN.max(away / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_background_thread_is_nicer_than_the_one_that_started_it() {
        let nice = || getpriority_process(None).unwrap();
        let before = nice();
        let behind = std::thread::spawn(move || {
            background();
            nice()
        });
        assert_eq!((behind.join().unwrap(), nice()), ((before + NICE).min(19), before));
    }

    #[test]
    fn only_a_background_thread_yields_and_not_at_once() {
        give_way();
        assert_eq!(NEXT.get(), None);
        background();
        let next = NEXT.get().unwrap();
        give_way();
        assert!(NEXT.get().unwrap().since(next) >= TURN);
        NEXT.set(Some(Tick(u64::MAX)));
        give_way();
        assert_eq!(NEXT.get(), Some(Tick(u64::MAX)));
    }

    #[test]
    fn a_thread_that_waited_for_long_works_for_long() {
        assert_eq!([0, TURN, 2 * TURN, 30 * TURN].map(turn), [TURN, TURN, TURN, 15 * TURN]);
    }
}
