//! A sink's desk: its queue, its thread and its record. What happens behind it stays there.

use crate::log::{Incident, Log};
use crate::packed::Events;
use crate::recorder::Marker;
use crate::totals::SinkTotals;
use crate::{Bound, BoundName, Sink, Tick};
use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

/// A batch of events, shared by all sinks.
pub(crate) type Batch = Arc<Events>;

/// What a sink's thread is given.
enum Job {
    Batch(Batch),
    /// Dropped when its turn comes.
    Marker(Marker),
}

/// How a sink has fared, and how full its queue is.
#[derive(Debug)]
pub(crate) struct Record {
    name: &'static str,
    bound: Arc<Bound>,
    taken: AtomicU64,
    errors: AtomicU64,
    panics: AtomicU64,
    log: Arc<OnceLock<Log>>,
    losing: Incident,
    /// When it last lost any.
    lost: AtomicU64,
}

impl Record {
    /// It loses no events any more once it has lost none for so long, in nanoseconds: else each batch might be news.
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

    /// Says in the log that the sink loses events, once until it does not any more.
    fn complain(&self, why: &str) {
        self.lost.store(Tick::now().0, Relaxed);
        self.losing.begin(|| self.say(|log, fields| log.warn("a sink loses events", fields), why));
    }

    /// Says that it loses none any more, where it did.
    fn recover(&self) {
        if self.losing.is_on() && Tick::now().0.saturating_sub(self.lost.load(Relaxed)) >= Self::QUIET {
            self.losing.end(|| self.say(|log, fields| log.info("a sink takes all events again", fields), ""));
        }
    }

    fn say(&self, write: impl FnOnce(&Log, &[(&str, &dyn Display)]), why: &str) {
        let Some(log) = self.log.get() else { return };
        let SinkTotals { name, errors, panics, dropped, .. } = self.totals();
        let fields: [(&str, &dyn Display); 5] =
            [("sink", &name), ("errors", &errors), ("panics", &panics), ("dropped", &dropped), ("why", &why)];
        write(log, &fields[..if why.is_empty() { 4 } else { 5 }]);
    }
}

/// The collector's side. When it is dropped the thread works off its queue and ends.
pub(crate) struct Desk {
    queue: Sender<Job>,
    record: Arc<Record>,
}

impl Desk {
    /// Starts the sink's thread, with a queue of `capacity` events. Without a thread (the machine refused one) all is dropped and counted.
    pub(crate) fn open(sink: Box<dyn Sink>, capacity: u64, log: Arc<OnceLock<Log>>) -> Self {
        let (queue, jobs) = channel();
        let name = sink.name();
        let bound = Bound::new(BoundName::EventSink, name, capacity);
        let (taken, errors, panics) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let record = Arc::new(Record {
            name,
            bound,
            taken,
            errors,
            panics,
            log,
            losing: Incident::default(),
            lost: AtomicU64::new(0),
        });
        let mine = record.clone();
        let thread = std::thread::Builder::new().name(format!("sink {name}"));
        if thread.spawn(move || work(sink, &jobs, &mine)).is_err() {
            record.bound.set_capacity(0);
        }
        Self { queue, record }
    }

    pub(crate) fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// Queues a batch, or drops it and counts its events.
    pub(crate) fn hand(&self, batch: &Batch) {
        let events = batch.len() as u64;
        if self.record.bound.take(events).is_err() {
            // The bound has counted one.
            self.record.bound.reject_many(events - 1);
            self.record.complain("its queue is full");
        } else if self.queue.send(Job::Batch(batch.clone())).is_err() {
            self.record.bound.give(events);
            self.record.bound.reject_many(events);
        }
    }

    /// `marker` is dropped when the sink is done with what was handed to it before.
    pub(crate) fn mark(&self, marker: Marker) {
        // Without a thread there is nothing to wait for, and the marker is dropped here.
        let _ = self.queue.send(Job::Marker(marker));
    }
}

/// The thread. A sink that panicked is offered the next batch all the same: it may have been that one event.
fn work(mut sink: Box<dyn Sink>, jobs: &Receiver<Job>, record: &Record) {
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
                record.recover();
            }
            Ok(Err(error)) => {
                record.errors.fetch_add(1, Relaxed);
                record.complain(&error.to_string());
            }
            Err(panic) => {
                record.panics.fetch_add(1, Relaxed);
                record.complain(&format!("panic: {}", said(&*panic)));
            }
        }
        drop(batch);
        record.bound.give(events);
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
