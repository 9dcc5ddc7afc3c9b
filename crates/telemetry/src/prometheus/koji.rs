//! The family about calls to Koji hubs.

use super::page::Page;
use crate::KojiCalls;

pub(super) fn write(page: &mut Page, calls: &KojiCalls) {
    let doc = "Calls to Koji hubs, by method and outcome: an answer, a fault, or why there was neither";
    let mut family = page.family("koji_calls_total", "counter", doc);
    for (method, outcome, count) in calls.counts() {
        family.sample(&[("method", method), ("outcome", outcome)], count);
    }
}
