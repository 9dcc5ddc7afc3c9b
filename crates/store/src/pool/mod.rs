//! Threads for blocking or long work, which would block an async runtime. Each thread has a context of its own, and each lane has
//! a bounded queue.

pub(crate) mod begun;
pub(crate) mod job_times;
pub(crate) mod lane;

use crate::error::{Error, Result};
use crate::pool::begun::{Begun, BegunJob, Done};
use crate::pool::job_times::JobStart;
use crate::pool::lane::{Lane, Lanes};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Bound, BoundName, Event, Op, PoolName, PoolThreads, Recorder, Tick, WorkUnderWay, background, lock};
use tokio::sync::oneshot;

type Job<C> = Box<dyn FnOnce(&mut C) + Send>;

/// The kind of a pool's threads, with their name.
#[derive(Debug, Clone, Copy)]
pub enum Threads {
    /// Threads that mostly wait for disks.
    Waiting(&'static str),
    /// Threads that compute for long, and yield to other threads of the process.
    Working(&'static str),
}

/// How a [`Pool`] is made.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    /// Its threads.
    pub threads: Threads,
    /// The name of the pool in metrics.
    pub pool: PoolName,
    /// The bound of each lane.
    pub bound: BoundName,
    /// The jobs of a lane that may wait or run at once.
    pub capacity: u64,
    /// The operation under which waiting for a thread is recorded.
    pub wait: Op,
}

/// Threads, and a bounded queue for each lane. A job beyond the capacity of its lane is refused with [`Error::Busy`].
pub struct Pool<C> {
    wait: Op,
    bounds: [Arc<Bound>; Lane::COUNT],
    queue: Arc<Queue<C>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Queue<C> {
    state: Mutex<State<C>>,
    changed: Condvar,
}

struct State<C> {
    lanes: Lanes<Job<C>>,
    later: Option<Later<C>>,
    closed: bool,
}

/// A job that nobody waits for.
struct Later<C> {
    /// When it runs at the latest.
    until: Tick,
    job: Job<C>,
}

impl<C: Send + 'static> Pool<C> {
    /// Starts one thread for each context.
    pub fn start(options: PoolOptions, recorder: &Recorder, contexts: Vec<C>) -> Result<Self> {
        let PoolOptions { threads, pool: name, bound, capacity, wait } = options;
        let busy = recorder.pool(name, contexts.len() as u64);
        let bounds = std::array::from_fn(|at| Bound::new(bound, Lane::ALL[at].as_str(), capacity));
        bounds.iter().for_each(|bound| recorder.register(bound.clone()));
        let state = State { lanes: Lanes::new(contexts.len()), later: None, closed: false };
        let queue = Arc::new(Queue { state: Mutex::new(state), changed: Condvar::new() });
        let pool = Self { wait, bounds, queue, threads: Mutex::default() };
        let (Threads::Waiting(name) | Threads::Working(name)) = threads;
        for context in contexts {
            let (queue, busy) = (pool.queue.clone(), busy.clone());
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                if let Threads::Working(_) = threads {
                    background();
                }
                work(&queue, &busy, context);
            });
            lock(&pool.threads).push(thread.map_err(Error::thread)?);
        }
        Ok(pool)
    }

    /// Runs `job` on one of the threads, and records its waiting time, and its running time as `op`. Dropping the future cancels
    /// a job that has not started.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        op: Op,
        event: &mut Event,
        job: impl FnOnce(&mut C) -> T + Send + 'static,
    ) -> Result<T> {
        self.begin(lane, op, job)?.done(event).await
    }

    /// Queues `job` for one of the threads, while the caller goes on.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        lane: Lane,
        op: Op,
        job: impl FnOnce(&mut C) -> T + Send + 'static,
    ) -> Result<Begun<T>> {
        let job = Box::new(move |context: &mut C| -> Done { Box::new(job(context)) });
        self.begin_any(lane, op, job).map(Begun::of)
    }

    /// The same for a result of any type, which is compiled once and not for each type.
    fn begin_any(&self, lane: Lane, op: Op, job: Box<dyn FnOnce(&mut C) -> Done + Send>) -> Result<BegunJob> {
        let bound = &self.bounds[lane as usize];
        let slot = bound.enter()?;
        let (answer, answered) = oneshot::channel();
        let (began, wait) = (JobStart::default(), bound.wait());
        let (start, mut work) = (began.clone(), WorkUnderWay::here().with_op(op));
        let job: Job<C> = Box::new(move |context| {
            drop(wait);
            if answer.is_closed() {
                return;
            }
            start.set(Tick::now());
            let done = work.during(|| job(context));
            drop(slot);
            // If the future was dropped, the result is dropped here and not on a runtime thread.
            let _ = answer.send((done, Tick::now()));
        });
        self.send(lane, job)?;
        Ok(BegunJob { wait: self.wait, op, began, answered })
    }

    /// Drops `thing` on one of the threads, or at once if the queue is full or closed.
    pub(crate) fn dispose(&self, lane: Lane, thing: impl Send + 'static) {
        if let Ok(slot) = self.bounds[lane as usize].enter() {
            let _ = self.send(lane, Box::new(move |_| drop((thing, slot))));
        }
    }

    /// Runs `job` after `delay`, also if the pool is closed before. There is one such job at a time: one that still waits is replaced
    /// if it would run later, and otherwise runs instead.
    pub(crate) fn run_later(&self, delay: Duration, op: Op, job: impl FnOnce(&mut C) + Send + 'static) {
        let until = Tick::now().plus(delay);
        let mut state = lock(&self.queue.state);
        if state.later.as_ref().is_none_or(|waiting| until < waiting.until) {
            let mut work = WorkUnderWay::here().with_op(op);
            state.later = Some(Later { until, job: Box::new(move |context| work.during(|| job(context))) });
            self.queue.changed.notify_one();
        }
    }

    fn send(&self, lane: Lane, job: Job<C>) -> Result<()> {
        let mut state = lock(&self.queue.state);
        if state.closed {
            drop(state);
            // Dropped after the lock is released, because dropping the job may call this function again.
            drop(job);
            return Err(Error::Closed);
        }
        state.lanes.push(lane, job);
        self.queue.changed.notify_one();
        Ok(())
    }
}

impl<C> Pool<C> {
    /// Runs the queued jobs, and ends the threads.
    pub fn close(&self) {
        lock(&self.queue.state).closed = true;
        self.queue.changed.notify_all();
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join();
        }
    }
}

fn work<C>(queue: &Queue<C>, busy: &PoolThreads, mut context: C) {
    while let Some((lane, job)) = queue.next() {
        // A panic ends only its job: the caller gets `Closed`, and the thread continues.
        let working = busy.work();
        let _ = catch_unwind(AssertUnwindSafe(|| job(&mut context)));
        drop(working);
        // At most one more job may start now, and this thread takes it. So no other thread is woken.
        if let Some(lane) = lane {
            lock(&queue.state).lanes.done(lane);
        }
    }
    // Other threads may sleep although jobs wait, if their lanes did not let them start.
    queue.changed.notify_all();
}

impl<C> Queue<C> {
    /// Waits for a job that may start, with its lane, if it has one; `None`: the pool is closed and all jobs are done.
    fn next(&self) -> Option<(Option<Lane>, Job<C>)> {
        let mut state = lock(&self.state);
        loop {
            let wait = state.later.as_ref().map(|later| later.until.since(Tick::now()));
            if wait == Some(0) || state.closed && state.lanes.is_empty() {
                return state.later.take().map(|later| (None, later.job));
            }
            if let Some((lane, job)) = state.lanes.next() {
                return Some((Some(lane), job));
            }
            state = match wait {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(nanos) => {
                    let waited = self.changed.wait_timeout(state, Duration::from_nanos(nanos));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl<C> Drop for Pool<C> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<C> std::fmt::Debug for Pool<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};
    use telemetry::{Clock, Millis};
    use tokio::task::{JoinSet, yield_now};

    fn pool(recorder: &Recorder) -> Arc<Pool<()>> {
        let threads = Threads::Waiting("test");
        let (pool, bound) = (PoolName::TruthReaders, BoundName::TruthReaders);
        let options = PoolOptions { threads, pool, bound, capacity: 4, wait: Op::TruthWait };
        Arc::new(Pool::start(options, recorder, vec![(); Lane::COUNT]).unwrap())
    }

    /// A job in the index lane that runs until the sender is dropped.
    async fn long(pool: Arc<Pool<()>>, until: Receiver<()>) -> Result<bool> {
        let mut event = Event::job("test", Millis(1));
        pool.run(Lane::Index, Op::TruthRead, &mut event, move |()| until.recv().is_err()).await
    }

    #[tokio::test]
    async fn a_flood_in_one_lane_does_not_delay_another_and_is_refused_beyond_its_bound() {
        let recorder = Recorder::silent(Clock::default());
        let pool = pool(&recorder);
        let (mut flood, mut ends) = (JoinSet::new(), Vec::new());
        for _ in 0..20 {
            let (end, until) = channel();
            ends.push(end);
            flood.spawn(long(pool.clone(), until));
        }
        while pool.bounds[Lane::Index as usize].rejected() < 16 {
            yield_now().await;
        }
        let mut event = Event::job("test", Millis(1));
        for lane in [Lane::Single, Lane::Change] {
            assert_eq!(pool.run(lane, Op::TruthRead, &mut event, |()| 7).await.unwrap(), 7);
        }
        drop(ends);
        let (mut done, mut refused) = (0, 0);
        while let Some(answer) = flood.join_next().await {
            match answer.unwrap() {
                Ok(true) => done += 1,
                Err(Error::Busy(BoundName::TruthReaders)) => refused += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((done, refused), (4, 16));
        assert!(recorder.bounds().iter().all(|bound| bound.used() == 0));
    }

    #[tokio::test]
    async fn a_job_whose_caller_has_left_is_not_begun() {
        let pool = pool(&Recorder::silent(Clock::default()));
        let mut waiting = JoinSet::new();
        let (end, until) = channel();
        waiting.spawn(long(pool.clone(), until));
        // The index lane has one of the three threads while the other lanes are idle.
        let (begun, ran) = channel();
        let left = {
            let pool = pool.clone();
            tokio::spawn(async move {
                let mut event = Event::job("test", Millis(1));
                pool.run(Lane::Index, Op::TruthRead, &mut event, move |()| begun.send(())).await.map(|_| ())
            })
        };
        while pool.bounds[Lane::Index as usize].used() < 2 {
            yield_now().await;
        }
        left.abort();
        assert!(left.await.unwrap_err().is_cancelled());
        drop(end);
        waiting.join_all().await;
        pool.close();
        assert!(ran.recv().is_err());
    }

    #[test]
    fn a_later_job_runs_once_after_its_delay_sooner_if_asked_again_and_at_the_latest_when_the_pool_closes() {
        let pool = pool(&Recorder::silent(Clock::default()));
        let hour = Duration::from_secs(3600);
        let (report, reports) = channel();
        let later = |delay, name: &'static str| {
            let report = report.clone();
            pool.run_later(delay, Op::TruthRead, move |()| report.send(name).unwrap());
        };
        later(hour, "in an hour");
        later(Duration::from_millis(1), "soon");
        assert_eq!(reports.recv(), Ok("soon"));
        later(hour, "at the end");
        later(2 * hour, "never");
        pool.close();
        drop(report);
        assert_eq!(reports.iter().collect::<Vec<_>>(), ["at the end"]);
    }
}
