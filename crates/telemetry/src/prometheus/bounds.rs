//! The families of bounds. Bounds in bytes have families of their own, so that the sum of a family has a unit.

use super::page::Page;
use crate::{Bound, Unit};
use std::sync::Arc;

pub(super) fn write(page: &mut Page, bounds: &[Arc<Bound>]) {
    let (of_bytes, of_items): (Vec<_>, Vec<_>) = bounds.iter().partition(|bound| bound.name().unit() == Unit::Bytes);
    let doc = "1; the setting that governs the limit";
    let mut family = page.family("bound_info", "gauge", doc);
    for bound in bounds {
        let [name, which] = labels(bound);
        family.sample(&[name, which, ("setting", bound.setting().unwrap_or(""))], 1);
    }
    let mut both = |name: &str, doc: &str, read: fn(&Bound) -> u64| {
        gauges(page, name, doc, &of_items, read);
        gauges(page, &format!("{name}_bytes"), &format!("{doc}, in bytes"), &of_bytes, read);
    };
    both("bound_limit", "The largest amount that may be in use", Bound::capacity);
    both("bound_used", "The amount in use", Bound::used);
    both("bound_peak", "The largest amount that was ever in use", Bound::highest);
    let all: Vec<_> = bounds.iter().collect();
    gauges(page, "bound_waiting", "Callers that wait for a place", &all, Bound::waiters);
    let mut rejected = page.family("bound_rejected_total", "counter", "Requests for a place that were rejected");
    for bound in &all {
        rejected.sample(&labels(bound), bound.rejected());
    }
    let waits: Vec<_> = all.iter().map(|bound| (bound, bound.waits())).collect();
    let mut counts = page.family("bound_waits_total", "counter", "Waits for a place that have ended");
    for (bound, waits) in &waits {
        counts.sample(&labels(bound), waits.count());
    }
    let doc = "The time that callers waited for a place";
    let mut seconds = page.family("bound_waited_seconds_total", "counter", doc);
    for (bound, waits) in &waits {
        seconds.sample(&labels(bound), waits.sum() as f64 / 1e9);
    }
}

fn gauges(page: &mut Page, name: &str, doc: &str, bounds: &[&Arc<Bound>], read: fn(&Bound) -> u64) {
    let mut family = page.family(name, "gauge", doc);
    for bound in bounds {
        family.sample(&labels(bound), read(bound));
    }
}

fn labels(bound: &Bound) -> [(&'static str, &str); 2] {
    [("bound", bound.name().as_str()), ("which", bound.which())]
}
