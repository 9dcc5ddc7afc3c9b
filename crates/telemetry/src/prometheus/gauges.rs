//! The families of figures that are read on demand.

use super::page::Page;
use super::repositories::fold;
use crate::Tick;
use crate::prometheus::gauge::Gauge;
use crate::prometheus::metric::By;
use crate::prometheus::metrics_view::{Listed, MetricsView};
use std::sync::Arc;

/// Figures without a label.
pub(super) fn write_single(page: &mut Page, all: &[Arc<Gauge>], now: Tick) {
    for gauge in all.iter().filter(|gauge| gauge.by.is_none()) {
        let mut family = page.family(gauge.metric.name, gauge.metric.kind.as_str(), gauge.metric.doc);
        gauge.values(now).iter().for_each(|(_, value)| family.sample(&[], value));
    }
}

/// Figures with one label.
pub(super) fn write_each(page: &mut Page, all: &[Arc<Gauge>], now: Tick, listed: &Listed, view: &MetricsView) {
    for gauge in all {
        let Some(by) = gauge.by else { continue };
        let mut family = page.family(gauge.metric.name, gauge.metric.kind.as_str(), gauge.metric.doc);
        let values = gauge.values(now);
        match by {
            By::Label(label) => values.iter().for_each(|(name, value)| family.sample(&[(label, name)], value)),
            By::Repository(how) => {
                let each = values.iter().map(|(name, value)| (name.as_str(), *value));
                let folded = fold(view, listed, each, how);
                folded.iter().for_each(|(name, value)| family.sample(&[("repository", name)], value));
            }
        }
    }
}

/// The gauges that are switched off.
pub(super) fn write_off(page: &mut Page, all: &[Arc<Gauge>], now: Tick) {
    let doc = "1 while a metric is left out for ten minutes, because reading it took longer than 5 ms twice";
    let mut off = page.family("metric_off", "gauge", doc);
    for gauge in all {
        off.sample(&[("metric", gauge.metric.name)], u8::from(gauge.is_off(now)));
    }
}
