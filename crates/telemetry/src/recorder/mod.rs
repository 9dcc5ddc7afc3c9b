//! Counts finished events exactly, and passes them on to the sinks.

pub(crate) mod census;
mod collector;
pub(crate) mod glance;
pub(crate) mod job;
mod packed_events;
pub(crate) mod probes;
pub(crate) mod recent_events;
mod registered;
pub(crate) mod running_jobs;
mod shard;
pub(crate) mod sink;
pub(crate) mod sink_worker;

use crate::counts::koji_calls::KojiCalls;
use crate::counts::upstream_calls::UpstreamCalls;
use crate::counts::{Counter, LostEvents, Totals};
use crate::lock;
use crate::log::Log;
use crate::machine::process_memory::ProcessMemory;
use crate::ops::open_requests::OpenRequests;
use crate::prometheus::gauge::Gauge;
use crate::prometheus::gauge_reader::Gauges;
use crate::prometheus::metric::{By, Metric};
use crate::prometheus::metrics_view::{Listed, OTHER};
use crate::prometheus::scrapes::Scrapes;
use crate::recorder::census::{CensusRecord, Censuses};
use crate::recorder::collector::{Collector, Signal};
use crate::recorder::probes::Probes;
use crate::recorder::running_jobs::{RunningJob, RunningJobs};
use crate::recorder::shard::Shards;
use crate::recorder::sink_worker::{Marker, SinkRecord, SinkWorker};
use crate::{
    Bound, BoundName, Census, ClientAddresses, Clock, Event, JobMemory, Kind, LongJob, LoopMonitor, MachineMonitor,
    Millis, Outcome, PoolThreads, Sink, Tick,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
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
    /// The form in which addresses of clients are recorded.
    pub client_addresses: ClientAddresses,
}

impl RecorderOptions {
    /// The options with this clock: one shard, a thousand events, and whole addresses.
    pub fn of(clock: Clock) -> Self {
        Self { clock, shards: 1, buffered_events: 1000, client_addresses: ClientAddresses::default() }
    }
}

/// Counts every event exactly and passes it on to the sinks. The whole process shares one.
pub struct Recorder {
    clock: Clock,
    client_addresses: ClientAddresses,
    started: Millis,
    shards: Arc<Shards>,
    collector: Sender<Signal>,
    sinks: Vec<Arc<SinkRecord>>,
    censuses: Vec<Arc<CensusRecord>>,
    unpacked: Arc<AtomicU64>,
    bounds: Mutex<Vec<Arc<Bound>>>,
    gauges: Gauges,
    scrapes: Scrapes,
    /// The calls to hosts of upstreams: to hosts with a name, and to all others.
    upstreams: Mutex<Vec<Arc<UpstreamCalls>>>,
    other_upstreams: Arc<UpstreamCalls>,
    koji_calls: KojiCalls,
    listed: Mutex<Listed>,
    loop_monitors: Mutex<Vec<Arc<LoopMonitor>>>,
    machine: MachineMonitor,
    open_requests: Arc<OpenRequests>,
    memory: ProcessMemory,
    running_jobs: RunningJobs,
    long_jobs: Mutex<Vec<Arc<LongJob>>>,
    probes: Probes,
    pools: Mutex<Vec<Arc<PoolThreads>>>,
    log: Arc<OnceLock<Log>>,
}

impl Recorder {
    /// A recorder whose sinks get all events.
    pub fn start(options: RecorderOptions, sinks: Vec<Box<dyn Sink>>) -> Arc<Self> {
        Self::start_with_censuses(options, Vec::new(), sinks)
    }

    /// Starts the collector and a thread for each sink. Without sinks and censuses no thread is started.
    pub fn start_with_censuses(
        options: RecorderOptions,
        censuses: Vec<Box<dyn Census>>,
        sinks: Vec<Box<dyn Sink>>,
    ) -> Arc<Self> {
        let log = Arc::new(OnceLock::new());
        let unused = sinks.is_empty() && censuses.is_empty();
        let capacity = if unused { 0 } else { options.buffered_events as u64 };
        let workers: Vec<SinkWorker> =
            sinks.into_iter().map(|sink| SinkWorker::start(sink, capacity, log.clone())).collect();
        let records: Vec<Arc<SinkRecord>> = workers.iter().map(|worker| worker.record().clone()).collect();
        let buffers = Bound::new(BoundName::EventBuffers, "", capacity);
        let shards = Arc::new(Shards::new(options.shards, buffers.clone()));
        let (scrapes, open_requests) = (Scrapes::new(), OpenRequests::new());
        let own = [buffers, scrapes.bound().clone(), open_requests.bound().clone()];
        let bounds = own.into_iter().chain(records.iter().map(|record| record.bound().clone())).collect();

        let (sender, signals) = channel();
        let (censuses, unpacked) = (Censuses::new(censuses, log.clone()), Arc::new(AtomicU64::new(0)));
        let collector =
            Collector { shards: shards.clone(), censuses, workers, unpacked: unpacked.clone(), unbuffered: 0 };
        let censuses = collector.censuses();
        if collector.is_needed() {
            // Without this thread the buffers fill up, and dropped events are counted.
            let _ = std::thread::Builder::new().name("collector".to_owned()).spawn(move || collector.run(&signals));
        }
        let recorder = Arc::new(Self {
            started: options.clock.now(),
            clock: options.clock,
            client_addresses: options.client_addresses,
            shards,
            collector: sender,
            sinks: records,
            censuses,
            unpacked,
            bounds: Mutex::new(bounds),
            gauges: Gauges::default(),
            scrapes,
            upstreams: Mutex::default(),
            other_upstreams: Arc::new(UpstreamCalls::new(OTHER)),
            koji_calls: KojiCalls::default(),
            listed: Mutex::default(),
            loop_monitors: Mutex::default(),
            machine: MachineMonitor::default(),
            open_requests,
            memory: if capacity > 0 { ProcessMemory::start() } else { ProcessMemory::default() },
            running_jobs: RunningJobs::default(),
            long_jobs: Mutex::default(),
            probes: Probes::default(),
            pools: Mutex::default(),
            log,
        });
        let (open_requests, doc) =
            (recorder.open_requests.clone(), "The age of the oldest open request, by the operation that it waits for");
        recorder.figures(Metric::gauge("open_request_age_seconds", doc), By::Label("op"), move || {
            let oldest = open_requests.oldest(Tick::now()).into_iter();
            oldest.map(|(op, age)| (op.to_owned(), age as f64 / 1e9)).collect()
        });
        recorder
    }

    /// A recorder without sinks and threads, for tests.
    pub fn silent(clock: Clock) -> Arc<Self> {
        Self::start(RecorderOptions { buffered_events: 0, ..RecorderOptions::of(clock) }, Vec::new())
    }

    /// The server's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The form in which addresses of clients are recorded.
    pub fn client_addresses(&self) -> ClientAddresses {
        self.client_addresses
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
        if event.kind == Kind::Probe {
            self.probes.inside(event.duration);
            return event.spare();
        }
        if self.shards.release(&mut event) {
            // After the collector has ended, events are dropped and counted.
            let _ = self.collector.send(Signal::Collect);
        }
        event.spare();
    }

    /// Counts the start of a job.
    pub(crate) fn begin_job(&self, event: &mut Event) {
        self.attempt();
        self.count(Counter::Jobs);
        let before = self.memory.begin();
        self.running_jobs.begin(event, before);
        event.more_mut().memory = Some(JobMemory { before, ..JobMemory::default() });
    }

    /// Records the duration of a job and the memory that it had, and releases it. A job without an outcome has failed.
    pub(crate) fn end_job(&self, event: &mut Event) {
        let (highest, after) = self.memory.end(event.began);
        self.running_jobs.end(event.id);
        if let Some(memory) = &mut event.more_mut().memory {
            (memory.highest, memory.after) = (highest.max(memory.before).max(after), after);
        }
        event.outcome.get_or_insert(Outcome::Failed);
        event.duration = Tick::now().since(event.began);
        if self.shards.release(event) {
            // After the collector has ended, events are dropped and counted.
            let _ = self.collector.send(Signal::Collect);
        }
    }

    /// Counts once.
    pub fn count(&self, counter: Counter) {
        self.shards.count(counter);
    }

    /// Requests for content that have ended: not those of people who look at the server, of probes and of scrapes. It waits for no lock.
    pub fn served(&self) -> u64 {
        self.shards.served()
    }

    /// What the server asked itself.
    pub fn probes(&self) -> &Probes {
        &self.probes
    }

    /// The jobs in progress, the oldest first.
    pub fn running_jobs(&self) -> Vec<RunningJob> {
        self.running_jobs.list()
    }

    /// The counts so far.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.shards.sum(&mut totals);
        totals.sinks = self.sinks.iter().map(|record| record.totals()).collect();
        totals.censuses = self.censuses.iter().map(|record| record.totals()).collect();
        totals.unpacked = self.unpacked.load(Ordering::Relaxed);
        totals
    }

    /// The events that sinks and censuses did not get. It is cheaper than [`Recorder::totals`].
    pub fn lost(&self) -> LostEvents {
        LostEvents {
            sinks: self.sinks.iter().map(|record| record.totals()).collect(),
            censuses: self.censuses.iter().map(|record| record.totals()).collect(),
            unbuffered: self.shards.unbuffered(),
        }
    }

    /// The names of the metrics that are switched off now, because reading them takes too long.
    pub fn metrics_off(&self) -> Vec<&'static str> {
        self.gauges.off(Tick::now())
    }

    /// The requests in progress that outlasted their turn.
    pub fn open_requests(&self) -> &Arc<OpenRequests> {
        &self.open_requests
    }

    /// Watches the machine, once [`MachineMonitor::watch`] was called.
    pub fn machine(&self) -> &MachineMonitor {
        &self.machine
    }

    /// Adds a figure to the metrics. It replaces one of the same name. `read` runs on a thread of its own. A figure that panics is left
    /// out, and one that takes longer than 5 ms again and again is switched off for ten minutes. `read` must not own this recorder,
    /// otherwise neither is ever dropped.
    pub fn figure(&self, metric: Metric, read: impl Fn() -> f64 + Send + Sync + 'static) {
        self.gauges.add(Gauge::new(metric, None, Box::new(move || vec![(String::new(), read())])));
    }

    /// Adds one figure per label value to the metrics. `read` returns pairs of a name and a figure.
    pub fn figures(&self, metric: Metric, by: By, read: impl Fn() -> Vec<(String, f64)> + Send + Sync + 'static) {
        self.gauges.add(Gauge::new(metric, Some(by), Box::new(read)));
    }

    pub(crate) fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    /// Sets how the format of a repository is found by its name, for the counts of requests. It must not wait. Only the first call has an
    /// effect.
    pub fn set_format_of(&self, format_of: impl Fn(&str) -> Option<&'static str> + Send + Sync + 'static) {
        self.shards.set_format_of(Box::new(format_of));
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

    pub(crate) fn scrapes(&self) -> &Scrapes {
        &self.scrapes
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

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("started", &self.started).field("sinks", &self.sinks).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
