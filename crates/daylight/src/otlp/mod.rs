//! Stored events as spans and figures as metrics, to a receiver of the OpenTelemetry protocol (`telemetry.otlp_url`).
//!
//! A sink puts events into a bounded queue; two jobs of the back runtime send them and the metrics. Without the setting there is neither a
//! sink nor a job. A receiver that is away costs the queue: events that do not fit are dropped and counted.

mod attributes;
mod jobs;
mod lane;
mod metrics;
mod names;
mod proto;
mod queue;
mod receiver;
mod spans;

use crate::config::Settings;
use insight::FactsOf;
use lane::{Counts, Lane, Reach};
use proto::Resource;
use queue::Queue;
use receiver::Receiver;
use repository::References as _;
use spans::ServerName;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use telemetry::{Bound, By, Clock, Log, Metric, Recorder, Sink};
use tokio::sync::watch;
use tokio::time::timeout;

pub(crate) use jobs::start;

/// How long a stop waits for the last spans and metrics. A receiver that hangs must not delay a restart.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// The export to a receiver.
#[derive(Debug)]
pub(crate) struct Otlp {
    receiver: Receiver,
    interval: Duration,
    queue: Arc<Queue>,
    spans: Arc<Counts>,
    points: Arc<Counts>,
    reach: Arc<Reach>,
    /// Set once the folder is open.
    identity: OnceLock<Identity>,
    /// `true` once the server stops.
    closing: watch::Sender<bool>,
    /// Each job holds a receiver of it, so it is closed when both have ended.
    running: watch::Sender<()>,
}

/// What a span or a metric says about the server.
pub(crate) struct Identity {
    /// The identity of the data folder.
    pub(crate) node: u128,
    /// The URL of the server.
    pub(crate) url: String,
    /// The facts about repositories.
    pub(crate) facts: FactsOf,
    /// The settable clock.
    pub(crate) clock: Clock,
    /// The log of the process.
    pub(crate) log: Log,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("node", &self.node).field("url", &self.url).finish_non_exhaustive()
    }
}

impl Identity {
    fn resource(&self) -> Resource {
        attributes::resource(self.node)
    }

    fn server(&self) -> ServerName {
        let host = client::host_of(&self.url).unwrap_or_default();
        let (address, port) = host.rsplit_once(':').unwrap_or_default();
        let scheme = self.url.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        ServerName { address: address.trim_matches(['[', ']']).to_owned(), port: port.parse().unwrap_or(0), scheme }
    }
}

impl Otlp {
    /// As the settings say; `None` without a receiver.
    ///
    /// # Errors
    /// If the variable with the headers is missing or malformed.
    pub(crate) fn of(settings: &Settings) -> anyhow::Result<Option<Arc<Self>>> {
        let telemetry = &settings.telemetry;
        let Some(url) = &telemetry.otlp_url.0 else { return Ok(None) };
        let named = telemetry.otlp_headers_env.0.as_ref();
        let headers = named.map(|name| settings.references.secret(&format!("env:{name}"))).transpose()?;
        let receiver = Receiver::new(url, headers.as_ref()).map_err(|why| {
            let name = named.map_or("", String::as_str);
            anyhow::anyhow!(
                "the variable `{name}`, which `telemetry.otlp_headers_env` names, is not `key=value,...`: {why}"
            )
        })?;
        Ok(Some(Arc::new(Self {
            receiver,
            interval: Duration::from_secs(telemetry.otlp_interval_s),
            queue: Queue::new(),
            spans: Arc::default(),
            points: Arc::default(),
            reach: Arc::default(),
            identity: OnceLock::new(),
            closing: watch::Sender::new(false),
            running: watch::Sender::new(()),
        })))
    }

    /// Its sink.
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        Box::new(queue::Spans(self.queue.clone()))
    }

    /// The bound of its queue.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.queue.bound()
    }

    /// Sets what spans and metrics say about the server. Only the first call has an effect.
    pub(crate) fn identify(&self, identity: Identity) {
        let _ = self.identity.set(identity);
    }

    /// Sends the rest, for some seconds at most. Nothing is sent to a receiver that is away.
    pub(crate) async fn close(&self) {
        self.closing.send_replace(true);
        if timeout(CLOSE_TIMEOUT, self.running.closed()).await.is_err() {
            let lost = self.spans.give_up(self.queue.len());
            if let Some(identity) = self.identity.get().filter(|_| lost > 0) {
                identity
                    .log
                    .warn("the OpenTelemetry receiver did not take the last spans in time", &[("spans", &lost)]);
            }
        }
    }

    fn lane(&self, path: &'static str, bit: u64, counts: &Arc<Counts>) -> Option<Lane> {
        let identity = self.identity.get()?;
        Some(Lane {
            path,
            bit,
            receiver: self.receiver.clone(),
            counts: counts.clone(),
            reach: self.reach.clone(),
            log: identity.log.clone(),
            clock: identity.clock.clone(),
            connection: Receiver::connection(),
            failed: 0,
        })
    }
}

/// Adds the figures of the export to the metrics. Without a receiver they have no values.
pub(crate) fn show(otlp: Option<&Arc<Otlp>>, recorder: &Recorder) {
    type Read = fn(&Counts) -> u64;
    let families: [(&'static str, &'static str, Read); 4] = [
        ("otlp_taken_total", "Spans and points that the OpenTelemetry receiver took", |counts| {
            counts.taken.load(Relaxed)
        }),
        ("otlp_rejected_total", "Spans and points that it refused", |counts| counts.rejected.load(Relaxed)),
        (
            "otlp_dropped_total",
            "Spans and points that were given up while it was away, at a stop, or by a failure of their job; events that found no place in the queue are rejections of the bound `otlp.events`",
            |counts| counts.dropped.load(Relaxed),
        ),
        ("otlp_failures_total", "Requests to it that failed", |counts| counts.failures.load(Relaxed)),
    ];
    for (name, doc, read) in families {
        let counts = otlp.map(|otlp| (otlp.spans.clone(), otlp.points.clone()));
        recorder.figures(Metric::counter(name, doc), By::Label("signal"), move || {
            let Some((spans, points)) = &counts else { return Vec::new() };
            vec![("spans".to_owned(), read(spans) as f64), ("metrics".to_owned(), read(points) as f64)]
        });
    }
    if let Some(otlp) = otlp {
        recorder.register(otlp.bound().clone());
    }
}
