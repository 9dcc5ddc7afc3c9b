//! The figures of the tries in metrics.

use super::Acme;
use std::sync::{Arc, Weak};
use telemetry::{By, Metric, Recorder, lock};

/// Adds them. `acme` may end before the recorder does.
pub(super) fn show(acme: &Arc<Acme>, recorder: &Recorder) {
    let weak: Weak<Acme> = Arc::downgrade(acme);
    let doc = "Tries to get a certificate from the authority of `server.acme`, by whether they brought one";
    recorder.figures(Metric::counter("acme_orders_total", doc), By::Label("outcome"), {
        let weak = weak.clone();
        move || {
            let Some(acme) = weak.upgrade() else { return Vec::new() };
            let state = lock(&acme.state);
            let outcomes = [("issued", state.issued), ("failed", state.failed)];
            outcomes.map(|(outcome, count)| (outcome.to_owned(), count as f64)).into()
        }
    });
    let doc = "When the next try to get a certificate is, in seconds since 1970; only after one that failed";
    recorder.figures(Metric::gauge("acme_next_order_timestamp_seconds", doc), By::Label("authority"), move || {
        let acme = weak.upgrade();
        let next = |acme: &Arc<Acme>| Some((acme.host.clone(), lock(&acme.state).next()?.0 as f64 / 1e3));
        acme.as_ref().and_then(next).into_iter().collect()
    });
}
