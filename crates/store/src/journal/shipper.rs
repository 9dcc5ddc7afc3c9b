//! The thread that copies new journal rows into segments: within a second of their commit, and all remaining ones when the store
//! closes.

use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use crate::journal::clock::JournalClock;
use crate::journal::recent_rows::RecentRows;
use crate::journal::record::Seq;
use crate::journal::segments::{self, Gap, SEGMENT_ROWS};
use crate::objects::bell::Bell;
use crate::truth::catalog::Catalog;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Event, Job, Log, Op, Reason, Recorder, Tick, lock};
use tokio::sync::oneshot;

/// The state of the thread.
pub(crate) struct Shipment {
    pub(crate) truth: Box<dyn Catalog>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) space: Arc<Space>,
    pub(crate) layout: Layout,
    pub(crate) log: Log,
    pub(crate) recorder: Arc<Recorder>,
    /// The log of rows that are not shipped yet.
    pub(crate) recent: Arc<RecentRows>,
    /// Looked at as often as the disk, so that the log tells of a jump even if nothing is written.
    pub(crate) clock: Arc<JournalClock>,
    /// The last committed row.
    pub(crate) last: Arc<AtomicU64>,
    /// The last row up to which segments have all rows.
    pub(crate) shipped: Arc<AtomicU64>,
    /// When the last backup ended, in seconds since 1970, for metrics.
    pub(crate) last_backup: Arc<AtomicU64>,
    /// The last row that a segment had at start.
    pub(crate) last_at_start: Seq,
    /// The gaps between the segments at start. They are filled first.
    pub(crate) gaps: Vec<Gap>,
    /// The sum of the weights of the small segments, which decides about a merge.
    pub(crate) young: usize,
    /// Whether the last attempt failed. A failure is logged once, not at every attempt.
    pub(crate) failing: bool,
    /// Rung when there are new segments, of which object storage gets copies.
    pub(crate) objects: Option<Arc<Bell>>,
}

/// Requests to the thread.
#[derive(Default)]
struct Requests {
    stop: bool,
    /// Callers that wait until all committed rows are shipped.
    waiting: Vec<oneshot::Sender<Result<Seq>>>,
}

#[derive(Default)]
struct Mailbox {
    requests: Mutex<Requests>,
    changed: Condvar,
}

/// The handle of the thread.
pub(crate) struct Shipper {
    mailbox: Arc<Mailbox>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Shipper {
    /// Starts the thread, which checks for new rows after each `interval`.
    pub(crate) fn start(mut shipment: Shipment, interval: Duration) -> Result<Self> {
        let mailbox = Arc::new(Mailbox::default());
        let requested = mailbox.clone();
        let run = move || {
            loop {
                let requests = requested.wait(interval);
                let reached = shipment.run();
                for waiting in requests.waiting {
                    let _ = waiting.send(reached.clone());
                }
                if requests.stop {
                    shipment.recent.close(Seq(shipment.shipped.load(Ordering::Acquire)));
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("segments".into()).spawn(run).map_err(Error::thread)?;
        Ok(Self { mailbox, thread: Mutex::new(Some(thread)) })
    }

    /// Ships all rows that are committed by now. Returns the last shipped row.
    pub(crate) async fn now(&self, event: &mut Event) -> Result<Seq> {
        let (answer, answered) = oneshot::channel();
        let began = Tick::now();
        {
            let mut requests = lock(&self.mailbox.requests);
            if requests.stop {
                return Err(Error::Closed);
            }
            requests.waiting.push(answer);
        }
        self.mailbox.changed.notify_one();
        let reached = answered.await.map_err(|_| Error::Closed)?;
        event.add(Op::SegmentShip, Tick::now().since(began));
        reached
    }

    /// Ships the remaining rows and ends the thread.
    pub(crate) fn close(&self) {
        lock(&self.mailbox.requests).stop = true;
        self.mailbox.changed.notify_one();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

impl Mailbox {
    /// Waits for a request, at most for `interval`.
    fn wait(&self, interval: Duration) -> Requests {
        let idle = |requests: &mut Requests| !requests.stop && requests.waiting.is_empty();
        let waited = self.changed.wait_timeout_while(lock(&self.requests), interval, idle);
        let (mut requests, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Requests { stop: requests.stop, waiting: std::mem::take(&mut requests.waiting) }
    }
}

impl Shipment {
    /// Ships the rows that are committed by now. If there are any, it is a job with its own event.
    fn run(&mut self) -> Result<Seq> {
        // Only updates the figures: a segment is small, so it is shipped even on a nearly full disk.
        let _ = self.space.check();
        let _ = self.clock.check();
        self.last_backup.store(self.layout.last_backup_seconds(), Ordering::Relaxed);
        let until = self.last.load(Ordering::Acquire);
        if self.shipped.load(Ordering::Acquire) < until || self.young >= SEGMENT_ROWS {
            let mut job = Job::begin(&self.recorder, "segment.ship");
            let mut bytes = 0;
            let done = job.time(Op::SegmentShip, || self.ship(Seq(until), &mut bytes));
            let merged = job.time(Op::SegmentShip, || self.merge());
            self.done_merging(merged);
            job.bytes_out = bytes;
            if let Err(error) = &done {
                job.reason = Some(Reason::Io);
                job.detail = error.to_string();
                if !self.failing {
                    self.log.error("the journal cannot be copied into segments", &[("error", error)]);
                }
            }
            self.failing = done.is_err();
            job.end_as(&done);
            done?;
            self.objects.iter().for_each(|bell| bell.ring());
        }
        self.recent.remove_shipped(Seq(self.shipped.load(Ordering::Acquire)));
        Ok(Seq(self.shipped.load(Ordering::Acquire)))
    }

    fn ship(&mut self, until: Seq, bytes: &mut u64) -> Result<()> {
        while let Some(gap) = self.gaps.first_mut() {
            match segments::ship(&mut *self.truth, &self.space, &self.layout, gap.after, gap.last)? {
                Some(shipped) => gap.after = shipped.last,
                None => drop(self.gaps.remove(0)),
            }
        }
        self.shipped.fetch_max(self.last_at_start.0, Ordering::AcqRel);
        let mut reached = Seq(self.shipped.load(Ordering::Acquire));
        while let Some(shipped) = segments::ship(&mut *self.truth, &self.space, &self.layout, reached, until)? {
            self.young += shipped.weight;
            reached = shipped.last;
            *bytes += shipped.size_bytes;
            self.shipped.store(reached.0, Ordering::Release);
        }
        Ok(())
    }
}

impl Shipment {
    /// Merges small segments once. Rows that are committed meanwhile wait to be shipped.
    fn merge(&mut self) -> Result<()> {
        if self.young >= SEGMENT_ROWS {
            // After a failure it waits for the same number again.
            self.young = 0;
            self.young = segments::merge(&*self.disk, &self.space, &self.layout)?;
        }
        Ok(())
    }

    /// All rows are shipped, so a failure loses nothing.
    fn done_merging(&self, merged: Result<()>) {
        if let Err(error) = merged {
            self.log.error("small segments cannot be merged", &[("error", &error)]);
        }
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
