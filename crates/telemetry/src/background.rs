//! Threads that work for long let those go first that clients wait for.
//!
//! Where both share a core, a thread that is woken to answer waits until the one at work has had its slice (3 ms, Linux 6.18), and
//! for more of them once it has had its share of the core: what is answered from memory would be as slow as what is rendered.

use crate::Tick;
use rustix::process::{getpriority_process, setpriority_process};
use std::cell::Cell;
use std::time::Duration;

/// How much nicer such a thread is: it gets a third of what another gets of a core that both want (`sched(7)`).
const NICE: i32 = 5;
/// How long one of them works before it asks whether somebody waits.
const TURN: Duration = Duration::from_micros(100);

thread_local! {
    /// When this thread last asked; `None`: it is none of them.
    static ASKED: Cell<Option<Tick>> = const { Cell::new(None) };
}

/// From now on the calling thread is one of them.
pub fn background() {
    // Of this thread alone (`setpriority(2)`, "C library/kernel differences"). Where it is forbidden it works as others do.
    let _ = getpriority_process(None).and_then(|nice| setpriority_process(None, nice + NICE));
    ASKED.set(Some(Tick::now()));
}

/// To be called again and again within long work: lets go first who is ready, now and then. Nothing on other threads.
pub fn give_way() {
    let Some(asked) = ASKED.get() else { return };
    if asked.plus(TURN) <= Tick::now() {
        std::thread::yield_now();
        ASKED.set(Some(Tick::now()));
    }
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
        assert_eq!(ASKED.get(), None);
        background();
        let asked = ASKED.get();
        ASKED.set(Some(Tick(0)));
        give_way();
        assert!(ASKED.get() >= asked && asked.is_some());
        ASKED.set(Some(Tick(u64::MAX)));
        give_way();
        assert_eq!(ASKED.get(), Some(Tick(u64::MAX)));
    }
}
