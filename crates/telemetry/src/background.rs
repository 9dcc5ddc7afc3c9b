//! Threads that work for long let those go first that clients wait for.
//!
//! Where both share a core, a thread that is woken to answer waits until the one at work has had its slice (3 ms, Linux 6.18), and
//! for more of them once it has had its share of the core: what is answered from memory would be as slow as what is rendered.

use crate::Tick;
use rustix::process::{getpriority_process, setpriority_process};
use std::cell::Cell;

/// How much nicer such a thread is: it gets a third of what another gets of a core that both want (`sched(7)`).
const NICE: i32 = 5;
/// How long one of them works at least before it asks whether somebody waits, in nanoseconds.
const TURN: u64 = 100_000;

thread_local! {
    /// When this thread asks next; `None`: it is none of them.
    static NEXT: Cell<Option<Tick>> = const { Cell::new(None) };
}

/// From now on the calling thread is one of them.
pub fn background() {
    // Of this thread alone (`setpriority(2)`, "C library/kernel differences"). Where it is forbidden it works as others do.
    let _ = getpriority_process(None).and_then(|nice| setpriority_process(None, nice + NICE));
    NEXT.set(Some(Tick::now()));
}

/// To be called again and again within long work: lets go first who is ready, now and then. Nothing on other threads.
pub fn give_way() {
    let Some(next) = NEXT.get() else { return };
    let asked = Tick::now();
    if next <= asked {
        std::thread::yield_now();
        let back = Tick::now();
        NEXT.set(Some(Tick(back.0.saturating_add(turn(back.since(asked))))));
    }
}

/// How long to work after others had `away`. Who yields forgoes the rest of its slice (Linux 6.18), and would get a thirtieth of a core
/// that somebody else never leaves: so it works for half as long as it was kept from it.
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
    fn only_a_background_thread_gives_way_and_not_at_once() {
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
    fn who_was_away_for_long_works_for_long() {
        assert_eq!([0, TURN, 2 * TURN, 30 * TURN].map(turn), [TURN, TURN, TURN, 15 * TURN]);
    }
}
