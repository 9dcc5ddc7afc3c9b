//! Counts finished events exactly, and passes them on to the sinks.

use crate::log::Log;
use crate::packed_events::PackedEvents;
use crate::shard::Shards;
use crate::sink_worker::{Marker, SinkRecord, SinkWorker};
use crate::totals::{Counter, Totals};
use crate::{Bound, BoundName, Clock, Event, LoopMonitor, Millis, Outcome, Sink};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The options of a [`Recorder`].
#[derive(Debug, Clone)]
pub struct RecorderOptions {
    /// The server's clock.
    pub clock: Clock,
    /// The number of shards: one for each thread that releases events.
    pub shards: usize,
    /// Most events that wait for the sinks in all shards together, and again in the queue of each sink.
    pub buffered_events: usize,
}

/// Counts every event exactly and passes it on to the sinks. The whole process shares one.
pub struct Recorder {
    clock: Clock,
    started: Millis,
    shards: Arc<Shards>,
    collector: Sender<Signal>,
    sinks: Vec<Arc<SinkRecord>>,
    bounds: Mutex<Vec<Arc<Bound>>>,
    gauges: Mutex<Vec<Arc<Gauge>>>,
    labelled_gauges: Mutex<Vec<Arc<LabelledGauge>>>,
    loop_monitors: Mutex<Vec<Arc<LoopMonitor>>>,
    log: Arc<OnceLock<Log>>,
}

/// A figure that is read on demand.
pub(crate) struct Gauge {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) read: Box<dyn Fn() -> u64 + Send + Sync>,
}

/// One figure per label value, read on demand.
pub(crate) struct LabelledGauge {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) label: &'static str,
    pub(crate) read: Box<dyn Fn() -> Vec<(String, u64)> + Send + Sync>,
}

/// A message to the collector.
enum Signal {
    Collect,
    Flush(Marker),
    Stop(Marker),
}

impl Recorder {
    /// The longest that an event waits before it is passed on.
    const COLLECT_EVERY: Duration = Duration::from_millis(250);

    /// Starts the collector and a thread for each sink. Without sinks no thread is started.
    pub fn start(options: RecorderOptions, sinks: Vec<Box<dyn Sink>>) -> Arc<Self> {
        let log = Arc::new(OnceLock::new());
        let capacity = if sinks.is_empty() { 0 } else { options.buffered_events as u64 };
        let workers: Vec<SinkWorker> =
            sinks.into_iter().map(|sink| SinkWorker::start(sink, capacity, log.clone())).collect();
        let records: Vec<Arc<SinkRecord>> = workers.iter().map(|worker| worker.record().clone()).collect();
        let buffers = Bound::new(BoundName::EventBuffers, "", capacity);
        let shards = Arc::new(Shards::new(options.shards, buffers.clone()));
        let bounds = std::iter::once(buffers).chain(records.iter().map(|record| record.bound().clone())).collect();

        let (collector, signals) = channel();
        if !workers.is_empty() {
            let shards = shards.clone();
            // Without this thread the buffers fill up, and dropped events are counted.
            let _ = std::thread::Builder::new()
                .name("collector".to_owned())
                .spawn(move || collect_until_stopped(&shards, &workers, &signals));
        }
        Arc::new(Self {
            started: options.clock.now(),
            clock: options.clock,
            shards,
            collector,
            sinks: records,
            bounds: Mutex::new(bounds),
            gauges: Mutex::default(),
            labelled_gauges: Mutex::default(),
            loop_monitors: Mutex::default(),
            log,
        })
    }

    /// A recorder without sinks and threads, for tests.
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

    /// Counts the start of an attempt. It will be released with an outcome in any case.
    pub fn attempt(&self) {
        self.count(Counter::Attempts);
    }

    /// Counts a finished event and buffers it for the sinks. Never blocks, never fails.
    pub fn release(&self, mut event: Box<Event>) {
        event.outcome.get_or_insert(Outcome::Failed);
        if self.shards.release(&mut event) {
            // After the collector has ended, events are dropped and counted.
            let _ = self.collector.send(Signal::Collect);
        }
        event.spare();
    }

    /// Counts once.
    pub fn count(&self, counter: Counter) {
        self.shards.count(counter);
    }

    /// The counts so far.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.shards.sum(&mut totals);
        totals.sinks = self.sinks.iter().map(|record| record.totals()).collect();
        totals
    }

    /// Makes a bound visible in metrics and status pages. It replaces one of the same name and `which`.
    pub fn register(&self, bound: Arc<Bound>) {
        let mut bounds = lock(&self.bounds);
        bounds.retain(|other| (other.name(), other.which()) != (bound.name(), bound.which()));
        bounds.push(bound);
    }

    /// Removes a bound from metrics and status pages.
    pub fn unregister(&self, bound: &Arc<Bound>) {
        lock(&self.bounds).retain(|other| !Arc::ptr_eq(other, bound));
    }

    /// All registered bounds, including those of the recorder itself.
    pub fn bounds(&self) -> Vec<Arc<Bound>> {
        self.shards.observe();
        lock(&self.bounds).clone()
    }

    /// Makes a monitor for the event loop of that name, and makes it visible in metrics. It replaces one of the same name.
    pub fn loop_monitor(&self, name: &str) -> Arc<LoopMonitor> {
        let monitor = Arc::new(LoopMonitor::new(name));
        let mut monitors = lock(&self.loop_monitors);
        monitors.retain(|other| other.name() != name);
        monitors.push(monitor.clone());
        monitor
    }

    /// The monitors of all event loops.
    pub fn loop_monitors(&self) -> Vec<Arc<LoopMonitor>> {
        lock(&self.loop_monitors).clone()
    }

    /// Registers a figure that is read on demand. `read` must be O(1). It replaces one of the same name. Its name in metrics is
    /// `daylight_` and `name` with underscores for dots. A figure that panics is left out. `read` must not own this recorder, or
    /// neither is ever dropped.
    pub fn gauge(&self, name: &'static str, doc: &'static str, read: impl Fn() -> u64 + Send + Sync + 'static) {
        let mut gauges = lock(&self.gauges);
        gauges.retain(|other| other.name != name);
        gauges.push(Arc::new(Gauge { name, doc, read: Box::new(read) }));
    }

    /// Adds one figure per label value to the metrics. `read` returns pairs of a label value and a figure.
    pub fn labelled_gauge(
        &self,
        name: &'static str,
        doc: &'static str,
        label: &'static str,
        read: impl Fn() -> Vec<(String, u64)> + Send + Sync + 'static,
    ) {
        let mut gauges = lock(&self.labelled_gauges);
        gauges.retain(|other| other.name != name);
        gauges.push(Arc::new(LabelledGauge { name, doc, label, read: Box::new(read) }));
    }

    pub(crate) fn labelled_gauges(&self) -> Vec<Arc<LabelledGauge>> {
        lock(&self.labelled_gauges).clone()
    }

    pub(crate) fn gauges(&self) -> Vec<Arc<Gauge>> {
        lock(&self.gauges).clone()
    }

    /// Sets the log for messages about sinks that lose events. Only the first call has an effect.
    pub fn report_to(&self, log: Log) {
        let _ = self.log.set(log);
    }

    /// The log of the process; a silent one before [`Recorder::report_to`].
    pub fn log(&self) -> Log {
        self.log.get().cloned().unwrap_or_else(Log::silent)
    }

    /// All figures in the text format of Prometheus.
    pub fn prometheus(&self) -> String {
        crate::prometheus::render(self)
    }

    /// Waits until the sinks have processed the events that were released before. `false`: a sink had not after `timeout`.
    pub fn flush(&self, timeout: Duration) -> bool {
        self.signal(Signal::Flush, timeout)
    }

    /// Passes the buffered events on and ends the threads. Waits at most for `timeout`. Later events are only counted.
    pub fn stop(&self, timeout: Duration) {
        self.signal(Signal::Stop, timeout);
    }

    /// Passes the buffered events on without waiting. `marker` is dropped when the sinks have processed them.
    pub fn mark(&self, marker: Marker) {
        let _ = self.collector.send(Signal::Flush(marker));
    }

    /// Sends a marker through all queues and waits until every copy of it is dropped.
    fn signal(&self, signal: fn(Marker) -> Signal, timeout: Duration) -> bool {
        let (marker, gone) = channel::<()>();
        let _ = self.collector.send(signal(Arc::new(marker)));
        gone.recv_timeout(timeout) == Err(RecvTimeoutError::Disconnected)
    }
}

/// The collector's thread. When it ends, the workers' queues are closed and their threads end too.
fn collect_until_stopped(shards: &Shards, workers: &[SinkWorker], signals: &Receiver<Signal>) {
    let mut spare = PackedEvents::default();
    loop {
        let signal = signals.recv_timeout(Recorder::COLLECT_EVERY);
        for batch in shards.collect(&mut spare) {
            let batch = Arc::new(batch);
            workers.iter().for_each(|worker| worker.queue(&batch));
        }
        match signal {
            Ok(Signal::Collect) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Signal::Flush(marker)) => workers.iter().for_each(|worker| worker.queue_marker(marker.clone())),
            Ok(Signal::Stop(marker)) => return workers.iter().for_each(|worker| worker.queue_marker(marker.clone())),
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
