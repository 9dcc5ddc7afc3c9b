//! The worker of a sink: its queue, its thread and its figures. A sink that hangs, fails or panics affects nothing else.

use crate::counts::SinkTotals;
use crate::log::{Incident, Log};
use crate::recorder::packed_events::Events;
use crate::{Bound, BoundName, Sink, Tick};
use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

/// A batch of events, shared by all sinks.
pub(crate) type Batch = Arc<Events>;

/// Something that is queued behind events. All copies of it are dropped once the sinks have processed the events before it.
pub type Marker = Arc<dyn Any + Send + Sync>;

/// An item of a sink's queue.
enum Job {
    Batch(Batch),
    /// Dropped when its turn comes.
    Marker(Marker),
}

/// The figures of a sink, and the bound of its queue.
#[derive(Debug)]
pub(crate) struct SinkRecord {
    name: &'static str,
    bound: Arc<Bound>,
    taken: AtomicU64,
    errors: AtomicU64,
    panics: AtomicU64,
    log: Arc<OnceLock<Log>>,
    losing: Incident,
    /// When it last lost events.
    lost: AtomicU64,
}

impl SinkRecord {
    /// The log reports a recovery once no events were lost for this long, in nanoseconds. Otherwise it could report one after each batch.
    const QUIET: u64 = 1_000_000_000;

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    pub(crate) fn totals(&self) -> SinkTotals {
        SinkTotals {
            name: self.name,
            taken: self.taken.load(Relaxed),
            dropped: self.bound.rejected(),
            errors: self.errors.load(Relaxed),
            panics: self.panics.load(Relaxed),
        }
    }

    /// Logs that the sink loses events, once until it has recovered.
    fn report_loss(&self, why: &str) {
        self.lost.store(Tick::now().0, Relaxed);
        self.losing.begin(|| self.log(|log, fields| log.warn("a sink loses events", fields), why));
    }

    /// Logs that the sink has recovered, if it lost events before.
    fn report_recovery(&self) {
        if self.losing.is_on() && Tick::now().0.saturating_sub(self.lost.load(Relaxed)) >= Self::QUIET {
            self.losing.end(|| self.log(|log, fields| log.info("a sink takes all events again", fields), ""));
        }
    }

    fn log(&self, write: impl FnOnce(&Log, &[(&str, &dyn Display)]), why: &str) {
        let Some(log) = self.log.get() else { return };
        let SinkTotals { name, errors, panics, dropped, .. } = self.totals();
        let fields: [(&str, &dyn Display); 5] =
            [("sink", &name), ("errors", &errors), ("panics", &panics), ("dropped", &dropped), ("why", &why)];
        write(log, &fields[..if why.is_empty() { 4 } else { 5 }]);
    }
}

/// The collector's side of the queue. When it is dropped, the thread finishes the queue and ends.
pub(crate) struct SinkWorker {
    queue: Sender<Job>,
    record: Arc<SinkRecord>,
    wants_all: bool,
    switch: Option<Arc<AtomicBool>>,
}

impl SinkWorker {
    /// Starts the thread of a sink, with a queue of `capacity` events. If the operating system refuses the thread, all events are
    /// dropped and counted.
    pub(crate) fn start(sink: Box<dyn Sink>, capacity: u64, log: Arc<OnceLock<Log>>) -> Self {
        let (queue, jobs) = channel();
        let (name, switch) = (sink.name(), sink.switch());
        let wants_all = switch.is_some() || sink.wants_all();
        let bound = Bound::new(BoundName::EventSink, name, capacity);
        let (taken, errors, panics) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let record = Arc::new(SinkRecord {
            name,
            bound,
            taken,
            errors,
            panics,
            log,
            losing: Incident::default(),
            lost: AtomicU64::new(0),
        });
        let of_thread = record.clone();
        let thread = std::thread::Builder::new().name(format!("sink {name}"));
        if thread.spawn(move || work(sink, &jobs, &of_thread)).is_err() {
            record.bound.set_capacity(0);
        }
        Self { queue, record, wants_all, switch }
    }

    /// Whether the sink gets events at this moment.
    pub(crate) fn is_on(&self) -> bool {
        self.switch.as_ref().is_none_or(|switch| switch.load(Acquire))
    }

    /// Whether the sink wants the events that no census needs.
    pub(crate) fn wants_all(&self) -> bool {
        self.wants_all
    }

    pub(crate) fn record(&self) -> &Arc<SinkRecord> {
        &self.record
    }

    /// Queues a batch, or drops it and counts its events.
    pub(crate) fn queue(&self, batch: &Batch) {
        let events = batch.len() as u64;
        if self.record.bound.take(events).is_err() {
            // The bound has counted one of them.
            self.record.bound.reject_many(events - 1);
            self.record.report_loss("its queue is full");
        } else if self.queue.send(Job::Batch(batch.clone())).is_err() {
            self.record.bound.give(events);
            self.record.bound.reject_many(events);
        }
    }

    /// Queues a marker. It is dropped when the sink has processed the batches before it.
    pub(crate) fn queue_marker(&self, marker: Marker) {
        // Without a thread the marker is dropped here.
        let _ = self.queue.send(Job::Marker(marker));
    }
}

/// The thread. A sink that panicked still gets the next batch, because a single event may have caused the panic.
fn work(mut sink: Box<dyn Sink>, jobs: &Receiver<Job>, record: &SinkRecord) {
    for job in jobs {
        let batch = match job {
            Job::Batch(batch) => batch,
            Job::Marker(marker) => {
                drop(marker);
                continue;
            }
        };
        let events = batch.len() as u64;
        match catch_unwind(AssertUnwindSafe(|| sink.share(&batch))) {
            Ok(Ok(())) => {
                record.taken.fetch_add(events, Relaxed);
                record.report_recovery();
            }
            Ok(Err(error)) => {
                record.errors.fetch_add(1, Relaxed);
                record.report_loss(&error.to_string());
            }
            Err(panic) => {
                record.panics.fetch_add(1, Relaxed);
                record.report_loss(&format!("panic: {}", panic_message(&*panic)));
            }
        }
        drop(batch);
        record.bound.give(events);
    }
}

/// The text of a panic, from what `catch_unwind` or a join returned.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
