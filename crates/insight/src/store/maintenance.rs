//! The thread that writes segments and removes old ones. It gives way to threads that answer clients.

use super::EventStore;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::background;

/// How often it looks whether there is something to do, without being woken.
const LOOK: Duration = Duration::from_secs(10);

/// The thread, which is started later and stopped once.
#[derive(Debug, Default)]
pub(super) struct Maintenance {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wake: bool,
    stop: bool,
    thread: Option<JoinHandle<()>>,
}

/// Starts the thread of a store. If the operating system refuses it, the rows stay in the log.
pub(super) fn start(store: &Arc<EventStore>) {
    let of_thread = store.clone();
    let thread = std::thread::Builder::new().name("events".to_owned());
    let started = thread.spawn(move || {
        background();
        of_thread.load();
        loop {
            let stop = of_thread.maintenance.wait();
            of_thread.maintain(stop);
            if stop {
                break;
            }
        }
    });
    match started {
        Ok(thread) => store.maintenance.lock().thread = Some(thread),
        Err(error) => {
            store.log().error("no thread writes events into segments: they stay in the log", &[("cause", &error)])
        }
    }
}

impl Maintenance {
    /// Has the thread look at once.
    pub(super) fn wake(&self) {
        self.lock().wake = true;
        self.woken.notify_one();
    }

    /// Has the thread do its work one last time, and waits for its end.
    pub(super) fn stop(&self) {
        let thread = {
            let mut state = self.lock();
            state.stop = true;
            state.thread.take()
        };
        self.woken.notify_one();
        // A panic was logged.
        let _ = thread.map(JoinHandle::join);
    }

    /// Waits until there may be something to do. Returns whether it is the last time.
    fn wait(&self) -> bool {
        let idle = |state: &mut State| !state.wake && !state.stop;
        let waited = self.woken.wait_timeout_while(self.lock(), LOOK, idle);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.wake = false;
        state.stop
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
