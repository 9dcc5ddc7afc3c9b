//! The two jobs that send: spans as they come, and metrics at an interval.

use super::lane::{InHand, Lane, Repeat};
use super::proto::{
    MetricsRequest, Resource, ResourceMetrics, ResourceSpans, Scope, ScopeMetrics, ScopeSpans, Span, TraceRequest,
};
use super::queue::Part;
use super::spans::{ServerName, span};
use super::{Identity, Otlp, metrics};
use crate::serve::jobs::Jobs;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use telemetry::{Job, LongJob, MetricFamily, MetricsView, Op, Recorder};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The most spans in one request.
const SPANS_MAX: usize = 512;
/// How long spans wait for others, unless a request is full.
const BATCH_DELAY: Duration = Duration::from_secs(1);
/// The version of the semantic conventions whose names are sent.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.44.0";
/// The longest usual time between two heartbeats: a pause that the receiver asked for, and a request.
const LONGEST: Duration = Duration::from_secs(700);

/// Starts the jobs. `view`: which repositories and hosts there are; none if that cannot be read.
pub(crate) fn start<F>(
    otlp: &Arc<Otlp>,
    jobs: &Jobs<'_>,
    recorder: &Arc<Recorder>,
    view: impl Fn() -> F + Clone + Send + Sync + 'static,
) where
    F: Future<Output = Option<MetricsView>> + Send + 'static,
{
    let for_spans = otlp.clone();
    jobs.start("otlp-spans", LONGEST, move |job| {
        let (otlp, running) = (for_spans.clone(), for_spans.running.subscribe());
        async move {
            send_spans(&otlp, &job).await;
            drop(running);
        }
    });
    let (recorder, otlp) = (recorder.clone(), otlp.clone());
    jobs.start("otlp-metrics", LONGEST.max(otlp.interval), move |job| {
        let (recorder, otlp, view) = (recorder.clone(), otlp.clone(), view.clone());
        let running = otlp.running.subscribe();
        async move {
            send_metrics(&recorder, &otlp, view, &job).await;
            drop(running);
        }
    });
}

/// Sends spans until the server stops, and then the rest.
async fn send_spans(otlp: &Otlp, job: &LongJob) {
    let (Some(mut lane), Some(identity)) = (otlp.lane("/v1/traces", 1, &otlp.spans), otlp.identity.get()) else {
        return;
    };
    let (mut closing, resource, server) = (otlp.closing.subscribe(), identity.resource(), identity.server());
    loop {
        job.moved();
        if otlp.queue.len() == 0 {
            if *closing.borrow() {
                return;
            }
            until_closing(&mut closing, otlp.queue.filled()).await;
            continue;
        }
        if otlp.queue.len() < SPANS_MAX as u64 {
            until_closing(&mut closing, sleep(BATCH_DELAY)).await;
        }
        let parts = otlp.queue.take(SPANS_MAX);
        let items = parts.iter().map(|(_, range)| range.len() as u64).sum();
        let hand = InHand::of(&otlp.spans, items);
        let spans = spans_of(&parts, identity, &server);
        let request = TraceRequest { resource_spans: vec![of_spans(resource.clone(), spans)] };
        let sent = lane.send(&request, items).await;
        let goes_on = again(&mut lane, sent, &mut closing, job).await;
        hand.settle();
        if !goes_on {
            return lane.drop_items(otlp.queue.len());
        }
    }
}

/// The spans of events.
fn spans_of(parts: &[Part], identity: &Identity, server: &ServerName) -> Vec<Span> {
    let events = parts.iter().flat_map(|(batch, range)| &batch[range.clone()]);
    events.map(|event| span(event, (identity.facts)(&event.subject.repository), server)).collect()
}

/// Sends metrics at the interval until the server stops, and then once more.
async fn send_metrics<F>(recorder: &Arc<Recorder>, otlp: &Otlp, view: impl Fn() -> F, job: &LongJob)
where
    F: Future<Output = Option<MetricsView>>,
{
    let (Some(mut lane), Some(identity)) = (otlp.lane("/v1/metrics", 2, &otlp.points), otlp.identity.get()) else {
        return;
    };
    let (mut closing, resource) = (otlp.closing.subscribe(), identity.resource());
    // All repositories and hosts by name, because the operator of the server chose the receiver. If they cannot be read, as when the folder
    // is closed, the former ones are named.
    let mut seen = Arc::new(view().await.unwrap_or_default());
    loop {
        until_closing(&mut closing, sleep(otlp.interval)).await;
        job.moved();
        let is_last = *closing.borrow();
        if is_last && lane.failed > 0 {
            return;
        }
        let mut of_job = Job::begin(recorder, "otlp");
        if let Some(now) = view().await {
            seen = Arc::new(now);
        }
        let families = figures(recorder, &seen).await;
        // Whatever was sent since the last time.
        of_job.add_all(Op::OtlpSend, otlp.spans.tally());
        of_job.add_all(Op::OtlpSend, otlp.points.tally());
        let metrics = metrics::metrics(families, recorder.started(), identity.clock.now());
        let items = metrics.iter().map(metrics::points).sum::<usize>() as u64;
        let request = MetricsRequest { resource_metrics: vec![of_metrics(resource.clone(), metrics)] };
        let sent = lane.send(&request, items).await;
        of_job.end_as(&sent);
        // Figures are cumulative: the next ones have all that these would have told.
        if let Err(Repeat { body, items, pause }) = sent {
            if body.is_some() {
                lane.drop_items(items);
            }
            until_closing(&mut closing, sleep(pause.saturating_sub(otlp.interval))).await;
        }
        if is_last {
            return;
        }
    }
}

/// Waits after a failure, and sends the same request again while that may help. `false`: the server stops, and the receiver is away.
async fn again(
    lane: &mut Lane,
    mut sent: Result<(), Repeat>,
    closing: &mut watch::Receiver<bool>,
    job: &LongJob,
) -> bool {
    while let Err(Repeat { body, items, pause }) = sent {
        until_closing(closing, sleep(pause)).await;
        job.moved();
        match body {
            None => return !*closing.borrow(),
            Some(_) if *closing.borrow() => {
                lane.drop_items(items);
                return false;
            }
            Some(body) => sent = lane.send_bytes(body, items).await,
        }
    }
    true
}

/// All figures, read on a thread that may wait for gauges.
async fn figures(recorder: &Arc<Recorder>, view: &Arc<MetricsView>) -> Vec<MetricFamily> {
    let (recorder, view) = (recorder.clone(), view.clone());
    spawn_blocking(move || recorder.metric_families(&view)).await.unwrap_or_default()
}

/// Waits for `wait`, or until the server stops.
async fn until_closing(closing: &mut watch::Receiver<bool>, wait: impl Future<Output = ()>) {
    let mut wait = pin!(wait);
    let mut stops = pin!(async {
        if closing.wait_for(|closing| *closing).await.is_err() {
            pending::<()>().await;
        }
    });
    poll_fn(|cx| if stops.as_mut().poll(cx).is_ready() { Poll::Ready(()) } else { wait.as_mut().poll(cx) }).await;
}

fn scope() -> Option<Scope> {
    Some(Scope { name: "daylight".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}

fn of_spans(resource: Resource, spans: Vec<Span>) -> ResourceSpans {
    let scope_spans = vec![ScopeSpans { scope: scope(), spans }];
    ResourceSpans { resource: Some(resource), scope_spans, schema_url: SCHEMA.to_owned() }
}

fn of_metrics(resource: Resource, metrics: Vec<super::proto::Metric>) -> ResourceMetrics {
    let scope_metrics = vec![ScopeMetrics { scope: scope(), metrics }];
    ResourceMetrics { resource: Some(resource), scope_metrics, schema_url: SCHEMA.to_owned() }
}
