//! The thread that copies new journal rows into segments: within a second of their commit, and the rest at close.

use crate::layout::Layout;
use crate::pool::lock;
use crate::space::Space;
use crate::{Error, Seq, Sqlite, segments};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Clock, Event, Log, Op, Outcome, Reason, Recorder, Tick};
use tokio::sync::oneshot;

/// What the thread works with.
pub(crate) struct Bench {
    pub(crate) truth: Sqlite,
    pub(crate) space: Arc<Space>,
    pub(crate) layout: Layout,
    pub(crate) clock: Clock,
    pub(crate) log: Log,
    pub(crate) recorder: Arc<Recorder>,
    /// The last row that is committed.
    pub(crate) last: Arc<AtomicU64>,
    /// The last row that is in a segment, which lasts.
    pub(crate) shipped: Arc<AtomicU64>,
    /// How far segments reached at start, and what was missing between them: that is filled first.
    pub(crate) reached: Seq,
    pub(crate) missing: Vec<(Seq, Seq)>,
    /// Whether the last try failed: that is said once, not twice a second.
    pub(crate) failing: bool,
}

#[derive(Default)]
struct Wishes {
    stop: bool,
    /// Those who wait until all that is committed is shipped.
    asked: Vec<oneshot::Sender<Result<Seq, Error>>>,
}

#[derive(Default)]
struct Bell {
    wishes: Mutex<Wishes>,
    rung: Condvar,
}

/// The way to the thread.
pub(crate) struct Shipper {
    bell: Arc<Bell>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Shipper {
    /// Looks for new rows every `every`.
    pub(crate) fn start(mut bench: Bench, every: Duration) -> Result<Self, Error> {
        let bell = Arc::new(Bell::default());
        let rung = bell.clone();
        let run = move || {
            loop {
                let wishes = rung.wait(every);
                let reached = bench.work();
                for asked in wishes.asked {
                    let _ = asked.send(reached.clone());
                }
                if wishes.stop {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("segments".into()).spawn(run).map_err(Error::thread)?;
        Ok(Self { bell, thread: Mutex::new(Some(thread)) })
    }

    /// Ships all that is committed by now, and says how far that is.
    pub(crate) async fn now(&self, event: &mut Event) -> Result<Seq, Error> {
        let (ask, answer) = oneshot::channel();
        let began = Tick::now();
        {
            let mut wishes = lock(&self.bell.wishes);
            if wishes.stop {
                return Err(Error::Closed);
            }
            wishes.asked.push(ask);
        }
        self.bell.rung.notify_one();
        let reached = answer.await.map_err(|_| Error::Closed)?;
        event.add(Op::SegmentShip, Tick::now().since(began));
        reached
    }

    /// Ships the rest and ends the thread.
    pub(crate) fn close(&self) {
        lock(&self.bell.wishes).stop = true;
        self.bell.rung.notify_one();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

impl Bell {
    fn wait(&self, every: Duration) -> Wishes {
        let idle = |wishes: &mut Wishes| !wishes.stop && wishes.asked.is_empty();
        let waited = self.rung.wait_timeout_while(lock(&self.wishes), every, idle);
        let (mut wishes, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Wishes { stop: wishes.stop, asked: std::mem::take(&mut wishes.asked) }
    }
}

impl Bench {
    /// A row behind is a job with an event of its own; nothing to do is none.
    fn work(&mut self) -> Result<Seq, Error> {
        // For the figures only: segments are small, and what is committed may always be shipped.
        let _ = self.space.check();
        let until = self.last.load(Ordering::Acquire);
        if self.shipped.load(Ordering::Acquire) < until {
            self.recorder.attempt();
            let mut event = Event::job("segment.ship", self.clock.now());
            let mut bytes = 0;
            let done = event.time(Op::SegmentShip, || self.ship(Seq(until), &mut bytes));
            event.bytes_out = bytes;
            event.outcome = Some(if done.is_ok() { Outcome::Done } else { Outcome::Failed });
            if let Err(error) = &done {
                event.reason = Some(Reason::Io);
                event.detail = error.to_string();
                if !self.failing {
                    self.log.error("the journal cannot be copied into segments", &[("error", error)]);
                }
            }
            self.failing = done.is_err();
            event.duration = Tick::now().since(event.began);
            self.recorder.release(event);
            done?;
        }
        Ok(Seq(self.shipped.load(Ordering::Acquire)))
    }

    fn ship(&mut self, until: Seq, bytes: &mut u64) -> Result<(), Error> {
        while let Some((after, end)) = self.missing.first_mut() {
            match segments::ship(&self.truth, &self.space, &self.layout, *after, *end)? {
                Some((last, _)) => *after = last,
                None => drop(self.missing.remove(0)),
            }
        }
        self.shipped.fetch_max(self.reached.0, Ordering::AcqRel);
        let mut reached = Seq(self.shipped.load(Ordering::Acquire));
        while let Some((last, size)) = segments::ship(&self.truth, &self.space, &self.layout, reached, until)? {
            reached = last;
            *bytes += size;
            self.shipped.store(reached.0, Ordering::Release);
        }
        Ok(())
    }
}

impl Drop for Shipper {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for Shipper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shipper").finish_non_exhaustive()
    }
}
