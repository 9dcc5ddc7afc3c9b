//! `/metrics`: everything that is counted, in the text format of Prometheus.

mod apps;
mod bounds;
mod caches;
mod classes;
mod database;
mod findings;
pub(crate) mod gauge;
pub(crate) mod gauge_reader;
mod gauges;
mod http_server;
mod jobs;
mod koji;
mod limit;
mod limits;
mod loops;
mod machine;
pub(crate) mod metric;
pub(crate) mod metrics_view;
mod page;
mod pools;
mod process;
mod repositories;
mod repository_times;
mod requests;
pub(crate) mod scrapes;
mod threads;
mod upstreams;
pub(crate) mod values;

use crate::{Full, Layer, MetricFamily, MetricsView, Recorder, Tick};
use page::Page;
use std::sync::Arc;
use std::time::Duration;

/// How long gauges may take together.
const GAUGES: Duration = Duration::from_secs(1);

impl Recorder {
    /// All figures in the text format of Prometheus, for a reader who may see `view`.
    pub fn prometheus(&self, view: &MetricsView) -> String {
        self.scrapes().timed(|| render(self, view))
    }

    /// The same figures as values, for other protocols. Gauges may take a second together, for which it blocks.
    pub fn metric_families(&self, view: &MetricsView) -> Vec<MetricFamily> {
        self.scrapes().timed(|| {
            let mut page = write(Page::of_values(), self, view);
            limit::cut(&mut page, limit::SERIES_MAX);
            page.values()
        })
    }

    /// Has the same text written by a thread of its own, which passes it to `gets`, as a gzip stream if `gzip`. Fails if too many callers
    /// wait.
    pub fn scrape(
        self: &Arc<Self>,
        view: MetricsView,
        gzip: bool,
        gets: impl FnOnce(Arc<[u8]>) + Send + 'static,
    ) -> Result<(), Full> {
        let recorder = Arc::downgrade(self);
        let write = move |view: &MetricsView| Some(recorder.upgrade()?.prometheus(view));
        self.scrapes().ask(write, view, gzip, Box::new(gets))
    }
}

fn render(recorder: &Recorder, view: &MetricsView) -> String {
    let mut page = write(Page::default(), recorder, view);
    limit::cut(&mut page, limit::SERIES_MAX);
    page.text()
}

fn write(mut page: Page, recorder: &Recorder, view: &MetricsView) -> Page {
    let now = Tick::now();
    let all = recorder.gauges().read(now, GAUGES, &recorder.log());
    let totals = recorder.totals();
    process::write(&mut page, recorder.started());
    findings::write(&mut page, view);
    requests::write(&mut page, &totals);
    classes::write(&mut page, &totals.counts.classes);
    http_server::write(&mut page, &totals);
    database::write(&mut page, &totals);
    gauges::write_single(&mut page, &all, now);
    let (counted, mut listed) = (&totals.counts.repositories, recorder.listed());
    listed.fill(view, |name| counted.named(name).map_or(0, |counts| counts.requests));
    repositories::write(&mut page, counted, &listed, view);
    repository_times::write(&mut page, &totals.counts.repository_times, &listed, view);
    repositories::write_outcomes(&mut page, counted, &listed, view);
    gauges::write_each(&mut page, &all, now, &listed, view);
    drop(listed);
    upstreams::write(&mut page, &recorder.upstreams(), view);
    koji::write(&mut page, recorder.koji_calls());
    apps::write(&mut page, &totals, view);
    let bounds = recorder.bounds();
    upstreams::write_lookups(&mut page, &totals);
    upstreams::write_connections(&mut page, &bounds, view);
    bounds::write(&mut page, &bounds);
    let page_hits = totals
        .counts
        .requests
        .iter()
        .filter(|(kind, _)| kind.layer == Layer::Page)
        .map(|(_, counts)| counts.durations.count)
        .sum();
    caches::write(&mut page, &bounds, page_hits);
    pools::write(&mut page, &recorder.pools());
    loops::write(&mut page, &recorder.loop_monitors());
    jobs::write(&mut page, &recorder.long_jobs(), recorder.probes());
    let sample = recorder.machine().sample().unwrap_or_default();
    machine::write(&mut page, &sample, recorder.machine());
    threads::write(&mut page, &sample.threads);
    gauges::write_off(&mut page, &all, now);
    let (answers, nanos) = recorder.scrapes().cost();
    process::write_scrapes(&mut page, answers, nanos + recorder.gauges().nanos());
    page
}

#[cfg(test)]
mod tests;
