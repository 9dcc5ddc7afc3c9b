//! The families about jobs that run for as long as the server, and about probes.

use super::page::Page;
use crate::LongJob;
use crate::recorder::probes::Probes;
use std::sync::Arc;

pub(super) fn write(page: &mut Page, jobs: &[Arc<LongJob>], probes: &Probes) {
    let views: Vec<_> = jobs.iter().map(|job| job.view()).collect();
    let doc = "Panics of jobs that run for as long as the server; each was started again";
    let mut panics = page.family("long_job_panics_total", "counter", doc);
    for view in &views {
        panics.sample(&[("job", view.name)], view.panics as f64);
    }
    let doc = "The time since a job that runs for as long as the server last did something, or found nothing to do";
    let mut ages = page.family("long_job_heartbeat_age_seconds", "gauge", doc);
    for view in &views {
        if let Some(age) = view.age {
            ages.sample(&[("job", view.name)], age.as_secs_f64());
        }
    }
    let (inside, outside, unanswered) = probes.figures();
    let doc = "How long the server took to answer its own probe through its public socket, as it measures requests, and as a client does";
    let mut durations = page.family("probe_duration_seconds", "histogram", doc);
    durations.histogram(&[("side", "inside")], &inside);
    durations.histogram(&[("side", "outside")], &outside);
    page.family(
        "probes_unanswered_total",
        "counter",
        "Probes of the server to itself that had no answer: none came within five seconds, or no event loop went on",
    )
    .sample(&[], unanswered as f64);
}
