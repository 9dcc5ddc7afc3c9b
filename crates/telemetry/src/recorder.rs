//! Counts finished events exactly, and passes them on to the sinks.

use crate::log::Log;
use crate::metric::{By, Figure, Figures, Metric};
use crate::metrics_view::{Listed, MetricsView, OTHER};
use crate::packed_events::PackedEvents;
use crate::shard::Shards;
use crate::sink_worker::{Marker, SinkRecord, SinkWorker};
use crate::totals::{Counter, Totals};
use crate::upstream_calls::UpstreamCalls;
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
    /// Maximum number of events that wait in all shards together. The queue of each sink has the same limit.
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
    figures: Mutex<Vec<Arc<Figure>>>,
    figures_of_each: Mutex<Vec<Arc<Figures>>>,
    /// The calls to hosts of upstreams: to hosts with a name, and to all others.
    upstreams: Mutex<Vec<Arc<UpstreamCalls>>>,
    other_upstreams: Arc<UpstreamCalls>,
    listed: Mutex<Listed>,
    loop_monitors: Mutex<Vec<Arc<LoopMonitor>>>,
    log: Arc<OnceLock<Log>>,
}

/// A message to the collector.
enum Signal {
    Collect,
    Flush(Marker),
    Stop(Marker),
}

impl Recorder {
    /// The most hosts of upstreams with figures of their own.
    const UPSTREAMS_MAX: usize = 50;
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
            figures: Mutex::default(),
            figures_of_each: Mutex::default(),
            upstreams: Mutex::default(),
            other_upstreams: Arc::new(UpstreamCalls::new(OTHER)),
            listed: Mutex::default(),
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

    /// Adds a figure to the metrics. It replaces one of the same name. `read` must take constant time. A figure that panics is
    /// left out. `read` must not own this recorder, otherwise neither is ever dropped.
    pub fn figure(&self, metric: Metric, read: impl Fn() -> f64 + Send + Sync + 'static) {
        let mut figures = lock(&self.figures);
        figures.retain(|other| other.metric.name != metric.name);
        figures.push(Arc::new(Figure { metric, read: Box::new(read) }));
    }

    /// Adds one figure per label value to the metrics. `read` returns pairs of a name and a figure.
    pub fn figures(&self, metric: Metric, by: By, read: impl Fn() -> Vec<(String, f64)> + Send + Sync + 'static) {
        let mut figures = lock(&self.figures_of_each);
        figures.retain(|other| other.metric.name != metric.name);
        figures.push(Arc::new(Figures { metric, by, read: Box::new(read) }));
    }

    pub(crate) fn single_figures(&self) -> Vec<Arc<Figure>> {
        lock(&self.figures).clone()
    }

    pub(crate) fn figures_of_each(&self) -> Vec<Arc<Figures>> {
        lock(&self.figures_of_each).clone()
    }

    /// Sets how the format of a repository is found by its name, for the counts of requests. It must not wait. Only the first call has an
    /// effect.
    pub fn set_format_of(&self, format_of: impl Fn(&str) -> Option<&'static str> + Send + Sync + 'static) {
        self.shards.set_format_of(Box::new(format_of));
    }

    /// The calls to a host of upstreams that the settings name, as `name:port`. If there are too many hosts, the others share
    /// one.
    pub fn upstream_calls(&self, host: &str) -> Arc<UpstreamCalls> {
        let mut all = lock(&self.upstreams);
        if let Some(calls) = all.iter().find(|calls| calls.host() == host) {
            return calls.clone();
        }
        if all.len() == Self::UPSTREAMS_MAX {
            // Removes hosts that no upstream uses any more.
            all.retain(|calls| Arc::strong_count(calls) > 1);
        }
        if all.len() == Self::UPSTREAMS_MAX {
            return self.other_upstreams.clone();
        }
        let calls = Arc::new(UpstreamCalls::new(host));
        all.push(calls.clone());
        calls
    }

    /// The calls to all hosts that are not in settings: redirects lead to them.
    pub fn other_upstream_calls(&self) -> &Arc<UpstreamCalls> {
        &self.other_upstreams
    }

    pub(crate) fn upstreams(&self) -> Vec<Arc<UpstreamCalls>> {
        let mut all = lock(&self.upstreams).clone();
        all.sort_by(|one, other| one.host().cmp(other.host()));
        all.push(self.other_upstreams.clone());
        all
    }

    pub(crate) fn listed(&self) -> MutexGuard<'_, Listed> {
        lock(&self.listed)
    }

    /// Sets the log for messages about sinks that lose events. Only the first call has an effect.
    pub fn report_to(&self, log: Log) {
        let _ = self.log.set(log);
    }

    /// The log of the process; a silent one before [`Recorder::report_to`].
    pub fn log(&self) -> Log {
        self.log.get().cloned().unwrap_or_else(Log::silent)
    }

    /// All figures in the text format of Prometheus, for a reader who may see `view`.
    pub fn prometheus(&self, view: &MetricsView) -> String {
        crate::prometheus::render(self, view)
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
