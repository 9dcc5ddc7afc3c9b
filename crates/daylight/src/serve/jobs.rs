//! Runs jobs that last as long as the server. A job that panics is counted, logged, and started again, each time a little later.

use std::sync::Arc;
use std::time::Duration;
use telemetry::{Log, LongJob, Recorder};
use tokio::runtime::Runtime;
use tokio::time::sleep;

/// Starts jobs on the runtime of work that no client waits for.
pub(crate) struct Jobs<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) recorder: &'a Recorder,
    pub(crate) log: &'a Log,
}

impl Jobs<'_> {
    /// Runs what `make` makes until it ends in order, or the runtime does. `every`: the longest usual time between two heartbeats
    /// ([`LongJob::moved`]).
    pub(crate) fn start<F>(
        &self,
        name: &'static str,
        every: Duration,
        make: impl Fn(Arc<LongJob>) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let (job, log) = (self.recorder.long_job(name, every), self.log.clone());
        self.runtime.spawn(async move {
            loop {
                let Err(error) = tokio::spawn(make(job.clone())).await else { break };
                // Otherwise the runtime ends.
                let Ok(panic) = error.try_into_panic() else { break };
                sleep(job.panicked(&*panic, &log)).await;
                job.moved();
            }
            job.ended();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use telemetry::Clock;

    #[test]
    fn a_job_that_panics_runs_again_and_one_that_ends_does_not() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let recorder = Recorder::silent(Clock::default());
        let (runs, ended) = (Arc::new(AtomicU32::new(0)), Arc::new(tokio::sync::Notify::new()));
        let jobs = Jobs { runtime: &runtime, recorder: &recorder, log: &Log::silent() };
        let counted = (runs.clone(), ended.clone());
        jobs.start("test", Duration::from_secs(60), move |_| {
            let (runs, ended) = counted.clone();
            async move {
                assert!(runs.fetch_add(1, Relaxed) > 0, "the first run");
                ended.notify_one();
            }
        });
        runtime.block_on(ended.notified());
        let view = recorder.long_jobs()[0].view();
        assert_eq!((view.name, view.panics, &*view.message), ("test", 1, "the first run"));
        assert_eq!(runs.load(Relaxed), 2);
    }
}
