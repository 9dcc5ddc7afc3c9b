//! Tells wakes of a task from wakes that a poll of the task causes itself.
//!
//! hyper hands a response from its connection to its body through a channel, which wakes the task that polls both. That task is already
//! at it: it would be polled once more in vain, and the runtime would ask the kernel for events once more, for each piece of a body.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use telemetry::lock;

/// Passes wakes on to a task. Of those during a poll it passes one on if the poll ends without a result.
#[derive(Debug)]
pub(super) struct OwnWakes {
    task: Arc<Task>,
    /// Wakes `task`.
    waker: Waker,
}

#[derive(Debug)]
struct Task(Mutex<State>);

#[derive(Debug)]
struct State {
    waker: Waker,
    is_polled: bool,
    /// A wake came during the poll.
    was_woken: bool,
}

impl Default for OwnWakes {
    fn default() -> Self {
        let state = State { waker: Waker::noop().clone(), is_polled: false, was_woken: false };
        let task = Arc::new(Task(Mutex::new(state)));
        Self { waker: task.clone().into(), task }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = lock(&self.0);
        if state.is_polled {
            state.was_woken = true;
            return;
        }
        let waker = state.waker.clone();
        drop(state);
        waker.wake();
    }
}

impl OwnWakes {
    /// Begins a poll for the task of `cx`, which ends with [`OwnWakes::end`]. Whatever is polled gets the result.
    pub(super) fn begin(&self, cx: &Context<'_>) -> Waker {
        let mut state = lock(&self.task.0);
        (state.is_polled, state.was_woken) = (true, false);
        state.waker.clone_from(cx.waker());
        self.waker.clone()
    }

    /// Ends a poll with its result.
    pub(super) fn end<T>(&self, polled: Poll<T>) -> Poll<T> {
        let mut state = lock(&self.task.0);
        state.is_polled = false;
        if polled.is_pending() && state.was_woken {
            let waker = state.waker.clone();
            drop(state);
            waker.wake();
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[derive(Default)]
    struct Counts(AtomicU32);

    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn only_a_poll_without_a_result_passes_its_own_wakes_on() {
        let (counts, wakes) = (Arc::<Counts>::default(), OwnWakes::default());
        let waker = counts.clone().into();
        let cx = Context::from_waker(&waker);
        let own = wakes.begin(&cx);
        own.wake_by_ref();
        assert!(wakes.end(Poll::Ready(())).is_ready());
        assert_eq!(counts.0.load(Relaxed), 0);
        // Between polls it is a wake as any other.
        own.wake_by_ref();
        assert_eq!(counts.0.load(Relaxed), 1);
        let own = wakes.begin(&cx);
        own.wake_by_ref();
        own.wake();
        assert!(wakes.end(Poll::<()>::Pending).is_pending());
        assert_eq!(counts.0.load(Relaxed), 2);
        drop(wakes.begin(&cx));
        assert!(wakes.end(Poll::<()>::Pending).is_pending());
        assert_eq!(counts.0.load(Relaxed), 2);
    }
}
