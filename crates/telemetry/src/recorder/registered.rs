//! The parts of the server that a recorder shows: bounds, event loops, pools of threads, jobs and hosts of upstreams.

use super::Recorder;
use crate::counts::koji_calls::KojiCalls;
use crate::counts::upstream_calls::{RecentCalls, UpstreamCalls};
use crate::lock;
use crate::{Bound, LongJob, LoopMonitor, PoolName, PoolThreads, Tick};
use std::sync::Arc;
use std::time::Duration;

impl Recorder {
    /// The most hosts of upstreams with figures of their own.
    const UPSTREAMS_MAX: usize = 50;

    /// Registers a job that runs for as long as the server. `every`: the longest usual time between two heartbeats. It replaces one of the
    /// same name.
    pub fn long_job(&self, name: &'static str, every: Duration) -> Arc<LongJob> {
        let job = LongJob::new(name, every);
        let mut jobs = lock(&self.long_jobs);
        jobs.retain(|other| other.name() != name);
        jobs.push(job.clone());
        job
    }

    /// All jobs that run for as long as the server.
    pub fn long_jobs(&self) -> Vec<Arc<LongJob>> {
        lock(&self.long_jobs).clone()
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

    /// The same, without a look at how full the buffers of the recorder itself are: no lock of another thread that works is waited for.
    pub fn bounds_as_registered(&self) -> Vec<Arc<Bound>> {
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

    /// Makes the figures of a pool of threads, and makes them visible in metrics. They replace those of a pool of the same name.
    pub fn pool(&self, name: PoolName, threads: u64) -> Arc<PoolThreads> {
        let pool = PoolThreads::new(name, threads);
        let mut pools = lock(&self.pools);
        pools.retain(|other| other.name() != name);
        pools.push(pool.clone());
        pool
    }

    /// All pools of threads.
    pub fn pools(&self) -> Vec<Arc<PoolThreads>> {
        lock(&self.pools).clone()
    }

    /// The monitors of all event loops.
    pub fn loop_monitors(&self) -> Vec<Arc<LoopMonitor>> {
        lock(&self.loop_monitors).clone()
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

    /// The calls to Koji hubs.
    pub fn koji_calls(&self) -> &KojiCalls {
        &self.koji_calls
    }

    /// The figures of the last quarter of an hour of these hosts, in their order.
    pub fn recent_calls<'a>(&self, hosts: impl IntoIterator<Item = &'a str>) -> Vec<RecentCalls> {
        let (now, totals, upstreams) = (Tick::now(), self.totals(), self.upstreams());
        let of = |host: &str| {
            let calls = upstreams.iter().find(|calls| calls.host() == host).map(|calls| calls.recent(now));
            let calls = calls.unwrap_or_default();
            let quantile = |of| (calls.durations.count() > 0).then(|| calls.durations.quantile(of));
            let wait_share = totals.counts.upstream_waits.share(host, now);
            RecentCalls { p50: quantile(0.5), p95: quantile(0.95), failed_share: calls.failed_share(), wait_share }
        };
        hosts.into_iter().map(of).collect()
    }

    /// The calls to all hosts by name, and last those to hosts without a name.
    pub fn upstreams(&self) -> Vec<Arc<UpstreamCalls>> {
        let mut all = lock(&self.upstreams).clone();
        all.sort_by(|one, other| one.host().cmp(other.host()));
        all.push(self.other_upstreams.clone());
        all
    }
}
