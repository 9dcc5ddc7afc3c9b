//! The thread that writes segments and removes old ones. It gives way to threads that answer clients.

use super::EventStore;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{background, lock};

/// How often it looks whether there is something to do, without being woken.
const LOOK: Duration = Duration::from_secs(10);

/// The thread, which is started later and stopped once.
#[derive(Debug, Default)]
pub(super) struct Maintenance(Mutex<Option<(SyncSender<()>, JoinHandle<()>)>>);

/// Starts the thread of a store. If the operating system refuses it, the rows stay in the log.
pub(super) fn start(store: &Arc<EventStore>) {
    // It has work, however often it is woken meanwhile.
    let (wake, woken) = sync_channel(1);
    let of_thread = store.clone();
    match std::thread::Builder::new().name("events".to_owned()).spawn(move || run(&of_thread, &woken)) {
        Ok(thread) => *lock(&store.maintenance.0) = Some((wake, thread)),
        Err(error) => {
            store.log().error("no thread writes events into segments: they stay in the log", &[("cause", &error)])
        }
    }
}

fn run(store: &EventStore, woken: &Receiver<()>) {
    background();
    store.load();
    let mut last = false;
    loop {
        store.maintain(last);
        if last {
            return;
        }
        last = woken.recv_timeout(LOOK) == Err(RecvTimeoutError::Disconnected);
    }
}

impl Maintenance {
    /// Has the thread look at once.
    pub(super) fn wake(&self) {
        if let Some((wake, _)) = &*lock(&self.0) {
            // If it is full, the thread will look.
            let _ = wake.try_send(());
        }
    }

    /// Has the thread do its work one last time, and waits for its end.
    pub(super) fn stop(&self) {
        let Some((wake, thread)) = lock(&self.0).take() else { return };
        drop(wake);
        // A panic was logged.
        let _ = thread.join();
    }
}
