//! The watch: a thread of its own that asks four times a second whether serving goes on, and what everybody does when it does not.
//!
//! It has no runtime. The locks that it waits for are those of lists of the recorder (loops, jobs, bounds, hosts), which others hold only while
//! they copy or change the list; it waits for no lock that a thread holds while it works. A second thread asks the server through its public
//! socket, a third writes the last words. Time that the machine took from this thread is no time in which others stood still.

mod doing;
mod judge;
mod last_words;
mod loops;
mod probing;
#[cfg(test)]
mod tests;
mod thread;
mod waits;

use crate::disk;
use crate::signals::watch::{ProbeSeen, Stuck, WatchSeen};
use last_words::LastWords;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Clock, Log, LongJob, Recorder, lock};

/// The longest usual time between two heartbeats of a thread of the watch.
const JOB_EVERY: Duration = Duration::from_secs(30);

/// Asks the server through its public socket, and waits for so long at most. Returns how long the answer took.
pub type AskSelf = Box<dyn Fn(Duration) -> io::Result<Duration> + Send>;

/// Takes what the watch finds: when that changes, and each five seconds.
pub type TellSeen = Box<dyn Fn(WatchSeen) + Send>;

/// What the watch needs from the program.
pub struct WatchOptions {
    /// The figures of the server.
    pub recorder: Arc<Recorder>,
    /// Takes what it finds.
    pub tells: TellSeen,
    /// The time of day.
    pub clock: Clock,
    /// For what everybody was doing.
    pub log: Log,
    /// Asks the server. `None`: there is no socket.
    pub ask: Option<AskSelf>,
    /// The file of the last words. `None`: there are none.
    pub words: Option<PathBuf>,
}

/// The watch of a server.
#[derive(Default)]
pub struct Watch {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// The file of the last words.
    words: Mutex<Option<PathBuf>>,
}

/// What the threads and their callers share.
#[derive(Default)]
struct Shared {
    stuck: Mutex<Option<Stuck>>,
    probe: ProbeState,
    /// The server stops: loops end, and nothing stands still.
    stopping: AtomicBool,
    stop: Mutex<bool>,
    wake: Condvar,
}

/// The probe under way.
#[derive(Default)]
struct ProbeState {
    /// There was no answer since a probe began.
    asking: AtomicBool,
    /// Probes that were answered.
    answered: AtomicU64,
    /// The times of the last ones, in seconds.
    times: Mutex<VecDeque<ProbeSeen>>,
}

impl Shared {
    /// Waits. `false`: the watch ends.
    fn wait(&self, time: Duration) -> bool {
        let stop = self.wake.wait_timeout_while(lock(&self.stop), time, |stop| !*stop);
        !*stop.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Watch {
    /// A watch that sees nothing until [`Watch::begin`].
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Starts its threads. Without a thread it sees less.
    pub fn begin(&self, options: WatchOptions) {
        let WatchOptions { recorder, tells, clock, log, ask, words } = options;
        lock(&self.words).clone_from(&words);
        let words = words.map(|file| LastWords::begin(file, recorder.clone(), clock, log.clone()));
        let mut threads = lock(&self.threads);
        let mut start = |name: &'static str, mut work: Box<dyn FnMut(&LongJob) + Send>| {
            let (job, shared, log) = (recorder.long_job(name, JOB_EVERY), self.shared.clone(), log.clone());
            let supervised = move || {
                // After a panic nobody knows whether serving stands still.
                let again = |time| {
                    *lock(&shared.stuck) = None;
                    shared.wait(time)
                };
                job.supervise(&log, || work(&job), again);
            };
            threads.extend(std::thread::Builder::new().name(name.to_owned()).spawn(supervised));
        };
        if let Some(ask) = ask {
            let (shared, recorder) = (self.shared.clone(), recorder.clone());
            start("watch-probe", Box::new(move |job| probing::run(&shared, &recorder, &ask, job)));
        }
        let previous = words.as_ref().map(|words| words.previous.clone()).unwrap_or_default();
        // A call that comes now learns of this end, and not of the one before, which may be open in the states that were kept.
        if let Some(run) = previous.get(&recorder) {
            tells(WatchSeen { previous_run: Some(run), ..WatchSeen::default() });
        }
        if let Some(mut words) = words {
            let shared = self.shared.clone();
            start("last-words", Box::new(move |job| words.run(&shared, job)));
        }
        let (shared, recorder, log) = (self.shared.clone(), recorder.clone(), log.clone());
        start("watch", Box::new(move |job| thread::run(&shared, &recorder, (&tells, &log), &previous, job)));
    }

    /// Why serving stands still. `None`: it goes on.
    pub fn stuck(&self) -> Option<Stuck> {
        lock(&self.shared.stuck).clone()
    }

    /// The server stops: from here nothing counts as standing still.
    pub fn stopping(&self) {
        self.shared.stopping.store(true, Relaxed);
        *lock(&self.shared.stuck) = None;
    }

    /// Ends the threads, and the run in order: there are no last words.
    pub fn close(&self) {
        self.stopping();
        *lock(&self.shared.stop) = true;
        self.shared.wake.notify_all();
        for thread in std::mem::take(&mut *lock(&self.threads)) {
            // It has ended if it panicked.
            let _ = thread.join();
        }
        if let Some(words) = lock(&self.words).take() {
            // Its thread removes it and logs a failure, unless it panicked at the end.
            let _ = disk::remove(&words);
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
