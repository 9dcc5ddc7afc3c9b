//! Counts and times of requests for a statsd server (`telemetry.statsd_addr`): counted beside the recorder, and sent each second in few
//! datagrams, long after the reply. Lost datagrams do not matter.

mod lines;
mod sums;

use crate::config::Settings;
use crate::serve::jobs::Jobs;
use client::Datagrams;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use sums::Sums;
use telemetry::{By, Census, Glance, LongJob, Metric, Recorder, SamplingDecision, lock};
use tokio::time::sleep;

/// The interval between two reports, as the agents of statsd expect it.
const EVERY: Duration = Duration::from_secs(1);
/// The longest usual time between two heartbeats: the resolver may take seconds.
const LONGEST: Duration = Duration::from_secs(30);

/// The export to a server of statsd.
#[derive(Debug)]
pub(crate) struct Statsd {
    address: String,
    tags: bool,
    /// The figures that the job takes next.
    sums: Arc<Mutex<Sums>>,
    sent: AtomicU64,
    lost: AtomicU64,
}

impl Statsd {
    /// As the settings say; `None` without a server.
    ///
    /// # Errors
    /// If the address is none.
    pub(crate) fn of(settings: &Settings) -> anyhow::Result<Option<Arc<Self>>> {
        let Some(address) = settings.telemetry.statsd_addr.0.clone() else { return Ok(None) };
        Datagrams::new(&address)?;
        let (sent, lost) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Some(Arc::new(Self { address, tags: settings.telemetry.statsd_tags, sums: Arc::default(), sent, lost })))
    }

    /// Counts all requests.
    pub(crate) fn census(&self) -> Box<dyn Census> {
        Box::new(Counting(self.sums.clone()))
    }

    /// Sends the last figures, when all events have passed. It waits for the resolver for some seconds at most.
    pub(crate) async fn close(&self) {
        let Ok(mut datagrams) = Datagrams::new(&self.address) else { return };
        self.report(&mut datagrams).await;
    }

    /// Sends the figures since the last call.
    async fn report(&self, datagrams: &mut Datagrams) {
        let mut sums = Sums::default();
        std::mem::swap(&mut *lock(&self.sums), &mut sums);
        let packed = lines::packed(&sums, self.tags);
        let ready = datagrams.ready().await;
        for datagram in packed {
            let sent = ready && datagrams.send(&datagram);
            if sent { &self.sent } else { &self.lost }.fetch_add(1, Relaxed);
        }
    }
}

/// Starts the job.
pub(crate) fn start(statsd: &Arc<Statsd>, jobs: &Jobs<'_>) {
    let statsd = statsd.clone();
    jobs.start("statsd", LONGEST, move |job| run(statsd.clone(), job));
}

async fn run(statsd: Arc<Statsd>, job: Arc<LongJob>) {
    let Ok(mut datagrams) = Datagrams::new(&statsd.address) else { return };
    loop {
        job.moved();
        sleep(EVERY).await;
        statsd.report(&mut datagrams).await;
    }
}

/// Adds the figures of the export to the metrics. Without a server they have no values.
pub(crate) fn show(statsd: Option<&Arc<Statsd>>, recorder: &Recorder) {
    let statsd = statsd.cloned();
    let doc = "Datagrams to the statsd server, by whether the kernel took them";
    recorder.figures(Metric::counter("statsd_datagrams_total", doc), By::Label("outcome"), move || {
        let Some(statsd) = &statsd else { return Vec::new() };
        let outcomes = [("sent", &statsd.sent), ("lost", &statsd.lost)];
        outcomes.map(|(outcome, count)| (outcome.to_owned(), count.load(Relaxed) as f64)).into()
    });
}

/// Counts requests on the thread that all events pass. The job holds the lock only while it takes the figures.
struct Counting(Arc<Mutex<Sums>>);

impl Census for Counting {
    fn name(&self) -> &'static str {
        "statsd"
    }

    fn see(&mut self, event: &Glance<'_>) -> SamplingDecision {
        lock(&self.0).add(event);
        SamplingDecision::DROP
    }
}
