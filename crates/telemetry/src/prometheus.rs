//! `/metrics`: everything that is counted, in the text format of Prometheus.

mod bounds;
mod loops;
mod page;
mod process;
mod repositories;
mod requests;
mod upstreams;

use crate::{MetricsView, Recorder};
use page::Page;

pub(crate) fn render(recorder: &Recorder, view: &MetricsView) -> String {
    let mut page = Page::default();
    let totals = recorder.totals();
    process::write(&mut page, recorder.started());
    requests::write(&mut page, &totals);
    repositories::write_single(&mut page, &recorder.single_figures());
    let (counted, mut listed) = (&totals.counts.repositories, recorder.listed());
    listed.fill(view, |name| counted.named(name).map_or(0, |counts| counts.requests));
    repositories::write(&mut page, counted, &listed, view);
    repositories::write_each(&mut page, &recorder.figures_of_each(), &listed, view);
    upstreams::write(&mut page, &recorder.upstreams(), view);
    bounds::write(&mut page, &recorder.bounds());
    loops::write(&mut page, &recorder.loop_monitors());
    page.text()
}

#[cfg(test)]
mod tests;
