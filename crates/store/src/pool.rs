//! Threads that wait for disks so that runtimes need not, each with a context of its own, behind one bounded queue.

use crate::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use telemetry::{Bound, Event, Op, Tick};
use tokio::sync::oneshot;

type Job<C> = Box<dyn FnOnce(&mut C) + Send>;

/// How many wait or work at once is the bound's capacity; one more is [`Error::Busy`].
pub(crate) struct Pool<C> {
    bound: Arc<Bound>,
    /// `None` once closed.
    queue: Mutex<Option<Sender<Job<C>>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl<C: Send + 'static> Pool<C> {
    /// One thread for each context.
    pub(crate) fn start(name: &str, bound: Arc<Bound>, contexts: Vec<C>) -> Result<Self, Error> {
        let (queue, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        let pool = Self { bound, queue: Mutex::new(Some(queue)), threads: Mutex::default() };
        for context in contexts {
            let jobs = jobs.clone();
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&jobs, context));
            lock(&pool.threads).push(thread.map_err(Error::thread)?);
        }
        Ok(pool)
    }

    /// Runs `job` on one of the threads, and notes how long it waited and took. Dropping the future does not stop it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        (waiting, working): (Op, Op),
        event: &mut Event,
        job: impl FnOnce(&mut C) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let slot = self.bound.enter()?;
        let (answer, answered) = oneshot::channel();
        let asked = Tick::now();
        let wait = self.bound.wait();
        self.send(Box::new(move |context| {
            drop(wait);
            let began = Tick::now();
            let done = job(context);
            drop(slot);
            // Nobody may wait any more; then what was done is dropped here, off the runtime.
            let _ = answer.send((done, began, Tick::now()));
        }))?;
        let (done, began, ended) = answered.await.map_err(|_| Error::Closed)?;
        event.add(waiting, began.since(asked));
        event.add(working, ended.since(began));
        Ok(done)
    }

    /// Drops `thing` on one of the threads; here and now where the queue is full or closed.
    pub(crate) fn dispose(&self, thing: impl Send + 'static) {
        if let Ok(slot) = self.bound.enter() {
            let _ = self.send(Box::new(move |_| drop((thing, slot))));
        }
    }

    fn send(&self, job: Job<C>) -> Result<(), Error> {
        let queue = lock(&self.queue);
        queue.as_ref().ok_or(Error::Closed)?.send(job).map_err(|_| Error::Closed)
    }
}

impl<C> Pool<C> {
    /// Does what is queued, and ends the threads.
    pub(crate) fn close(&self) {
        lock(&self.queue).take();
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join();
        }
    }
}

fn work<C>(jobs: &Mutex<Receiver<Job<C>>>, mut context: C) {
    loop {
        let job = lock(jobs).recv();
        let Ok(job) = job else { return };
        // A defect in one job is that job's: whoever waits for it is told `Closed`, and the thread goes on.
        let _ = catch_unwind(AssertUnwindSafe(|| job(&mut context)));
    }
}

/// A lock whose holder panicked is still a lock: everything under these is left whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<C> Drop for Pool<C> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<C> std::fmt::Debug for Pool<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("bound", &self.bound).finish_non_exhaustive()
    }
}
