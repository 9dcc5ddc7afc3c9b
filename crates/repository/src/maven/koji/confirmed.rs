//! When the map of a Koji repository was confirmed, and its figures in the metrics.

use crate::repository::{Repository, RepositoryTable};
use arc_swap::ArcSwap;
use std::sync::Arc;
use telemetry::{By, Clock, Fold, Metric, Millis, Reason, Recorder};

/// When the map of a Koji repository was confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KojiConfirmed {
    /// When the last look confirmed it. After a start without a look: when it last changed.
    pub at: Millis,
    /// When the hub was last looked at; 0: not since the start.
    pub looked: Millis,
    /// Why no look has confirmed it since.
    pub failure: Option<Reason>,
}

impl Repository {
    /// When its map was confirmed. `None`: it is no repository of a Koji hub, or no map is in memory.
    pub fn koji_confirmed(&self) -> Option<KojiConfirmed> {
        self.record.koji()?;
        let known = self.shared.koji().known(self.origin)?;
        Some(KojiConfirmed { at: known.checked, looked: known.tried, failure: known.failed })
    }
}

/// Adds the figures of maps to the metrics.
pub(crate) fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
    let show = |name, doc, figure: fn(&Repository, Millis) -> Option<f64>| {
        let (known, clock): (_, Clock) = (known.clone(), recorder.clock().clone());
        recorder.figures(Metric::gauge(name, doc), By::Repository(Fold::Max), move || {
            let (known, now) = (known.load_full(), clock.now());
            let of = |one: &Arc<Repository>| {
                one.record.koji()?;
                Some((one.record.name.clone(), figure(one, now)?))
            };
            known.by_name.values().filter_map(of).collect()
        });
    };
    let doc = "The newest event of its hub that a look of a Koji repository saw";
    show("koji_last_event", doc, |one, _| Some(one.shared.koji().known(one.origin)?.event.0 as f64));
    let doc = "How long ago a look last confirmed the map of a Koji repository";
    show("koji_map_age_seconds", doc, |one, now| Some((now.0 - one.koji_confirmed()?.at.0).max(0) as f64 / 1e3));
    let doc = "Calls of its hub for each request that the map of a Koji repository answered, since the start";
    show("koji_calls_per_request", doc, |one, _| one.shared.koji().counted.calls_per_request());
}
