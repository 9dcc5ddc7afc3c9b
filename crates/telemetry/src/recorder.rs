//! Exact counting at release, and handing on to the sinks.

use crate::desk::{Desk, Record};
use crate::log::Log;
use crate::packed::Packed;
use crate::shard::Shards;
use crate::totals::{Counter, Totals};
use crate::{Bound, BoundName, Clock, Event, Millis, Outcome, Pulse, Sink};
use std::any::Any;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How a [`Recorder`] is made.
#[derive(Debug, Clone)]
pub struct RecorderOptions {
    /// The server's clock.
    pub clock: Clock,
    /// Shards, one for each thread that releases events.
    pub shards: usize,
    /// Events kept at most while they wait for the sinks, over all shards; and as many again in the queue of each sink.
    pub buffered_events: usize,
}

/// Counts every event exactly and hands it to the sinks. Shared by everything in the process.
pub struct Recorder {
    clock: Clock,
    started: Millis,
    shards: Arc<Shards>,
    collector: Sender<Signal>,
    sinks: Vec<Arc<Record>>,
    bounds: Mutex<Vec<Arc<Bound>>>,
    gauges: Mutex<Vec<Arc<Gauge>>>,
    pulses: Mutex<Vec<Arc<Pulse>>>,
    log: Arc<OnceLock<Log>>,
}

/// A figure that is read when somebody asks.
pub(crate) struct Gauge {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) read: Box<dyn Fn() -> u64 + Send + Sync>,
}

/// Held by whoever waits behind the events: whatever it is, all of it is dropped when what was released before has passed
/// the sinks.
pub type Marker = Arc<dyn Any + Send + Sync>;

/// What the collector is told.
enum Signal {
    Collect,
    Flush(Marker),
    Stop(Marker),
}

impl Recorder {
    /// How long an event waits at most before it is handed on.
    const COLLECT_EVERY: Duration = Duration::from_millis(250);

    /// Starts the collector and a thread for each sink; none of them where there is no sink.
    pub fn start(options: RecorderOptions, sinks: Vec<Box<dyn Sink>>) -> Arc<Self> {
        let log = Arc::new(OnceLock::new());
        let room = if sinks.is_empty() { 0 } else { options.buffered_events as u64 };
        let desks: Vec<Desk> = sinks.into_iter().map(|sink| Desk::open(sink, room, log.clone())).collect();
        let records: Vec<Arc<Record>> = desks.iter().map(|desk| desk.record().clone()).collect();
        let buffers = Bound::new(BoundName::EventBuffers, "", room);
        let shards = Arc::new(Shards::new(options.shards, buffers.clone()));
        let bounds = std::iter::once(buffers).chain(records.iter().map(|record| record.bound().clone())).collect();

        let (collector, signals) = channel();
        if !desks.is_empty() {
            let shards = shards.clone();
            // Without this thread the buffers fill up, and what is dropped then is counted.
            let _ = std::thread::Builder::new()
                .name("collector".to_owned())
                .spawn(move || collect_until_stopped(&shards, &desks, &signals));
        }
        Arc::new(Self {
            started: options.clock.now(),
            clock: options.clock,
            shards,
            collector,
            sinks: records,
            bounds: Mutex::new(bounds),
            gauges: Mutex::default(),
            pulses: Mutex::default(),
            log,
        })
    }

    /// A recorder that counts and has no sinks and no threads, for tests.
    pub fn silent(clock: Clock) -> Arc<Self> {
        Self::start(RecorderOptions { clock, shards: 1, buffered_events: 0 }, Vec::new())
    }

    /// The server's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// When this recorder was started.
    pub fn started(&self) -> Millis {
        self.started
    }

    /// An attempt begins: it will be released with an outcome, whatever happens.
    pub fn attempt(&self) {
        self.count(Counter::Attempts);
    }

    /// Counts a finished event and buffers it for the sinks. Never blocks, never fails.
    pub fn release(&self, mut event: Box<Event>) {
        event.outcome.get_or_insert(Outcome::Failed);
        if self.shards.release(&mut event) {
            // A collector that has ended collects no more; what is dropped then is counted.
            let _ = self.collector.send(Signal::Collect);
        }
        event.spare();
    }

    /// Counts once.
    pub fn count(&self, counter: Counter) {
        self.shards.count(counter);
    }

    /// What was counted until now.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.shards.sum(&mut totals);
        totals.sinks = self.sinks.iter().map(|record| record.totals()).collect();
        totals
    }

    /// Makes a bound visible in metrics and pages. It replaces one of the same name and `which`.
    pub fn register(&self, bound: Arc<Bound>) {
        let mut bounds = lock(&self.bounds);
        bounds.retain(|other| (other.name(), other.which()) != (bound.name(), bound.which()));
        bounds.push(bound);
    }

    /// Takes a bound out of metrics and pages: what it bounded is gone.
    pub fn unregister(&self, bound: &Arc<Bound>) {
        lock(&self.bounds).retain(|other| !Arc::ptr_eq(other, bound));
    }

    /// Every registered bound, those of the recorder itself included.
    pub fn bounds(&self) -> Vec<Arc<Bound>> {
        self.shards.observe();
        lock(&self.bounds).clone()
    }

    /// The record of the event loop of that name, visible in metrics from now on. It replaces one of the same name.
    pub fn pulse(&self, name: &str) -> Arc<Pulse> {
        let pulse = Arc::new(Pulse::new(name));
        let mut pulses = lock(&self.pulses);
        pulses.retain(|other| other.name() != name);
        pulses.push(pulse.clone());
        pulse
    }

    /// The records of all event loops.
    pub fn pulses(&self) -> Vec<Arc<Pulse>> {
        lock(&self.pulses).clone()
    }

    /// A figure read when somebody asks: must be O(1). It replaces one of the same name. In metrics it is `daylight_` and
    /// its name with dots as underscores. One that panics is left out. What `read` owns must not own this recorder, or
    /// neither is ever dropped.
    pub fn gauge(&self, name: &'static str, doc: &'static str, read: impl Fn() -> u64 + Send + Sync + 'static) {
        let mut gauges = lock(&self.gauges);
        gauges.retain(|other| other.name != name);
        gauges.push(Arc::new(Gauge { name, doc, read: Box::new(read) }));
    }

    pub(crate) fn gauges(&self) -> Vec<Arc<Gauge>> {
        lock(&self.gauges).clone()
    }

    /// Where it is told that a sink loses events. The first call counts.
    pub fn report_to(&self, log: Log) {
        let _ = self.log.set(log);
    }

    /// Where the process says what went wrong; nowhere until [`Recorder::report_to`].
    pub fn log(&self) -> Log {
        self.log.get().cloned().unwrap_or_else(Log::silent)
    }

    /// Everything in Prometheus' text format.
    pub fn prometheus(&self) -> String {
        crate::prometheus::render(self)
    }

    /// Waits until the sinks are done with what was released before, at most for `patience`. False when a sink was not.
    pub fn flush(&self, patience: Duration) -> bool {
        self.signal(Signal::Flush, patience)
    }

    /// Hands on what is buffered and ends the threads, waiting at most `patience`. Later events are counted only.
    pub fn stop(&self, patience: Duration) {
        self.signal(Signal::Stop, patience);
    }

    /// Hands on what is buffered, without waiting: `marker` is dropped when the sinks are done with it.
    pub fn mark(&self, marker: Marker) {
        let _ = self.collector.send(Signal::Flush(marker));
    }

    /// Sends a marker along the line and waits until every copy of it is gone.
    fn signal(&self, signal: fn(Marker) -> Signal, patience: Duration) -> bool {
        let (marker, gone) = channel::<()>();
        let _ = self.collector.send(signal(Arc::new(marker)));
        gone.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected)
    }
}

/// The collector's thread. When it ends the desks are closed, and their threads end after it.
fn collect_until_stopped(shards: &Shards, desks: &[Desk], signals: &Receiver<Signal>) {
    let mut room = Packed::default();
    loop {
        let signal = signals.recv_timeout(Recorder::COLLECT_EVERY);
        for batch in shards.collect(&mut room) {
            let batch = Arc::new(batch);
            desks.iter().for_each(|desk| desk.hand(&batch));
        }
        match signal {
            Ok(Signal::Collect) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Signal::Flush(marker)) => desks.iter().for_each(|desk| desk.mark(marker.clone())),
            Ok(Signal::Stop(marker)) => return desks.iter().for_each(|desk| desk.mark(marker.clone())),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("started", &self.started).field("sinks", &self.sinks).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
