//! The families of cost classes. A class has lines after its first request.

use super::page::Page;
use crate::counts::class_counts::Classes;
use crate::histogram::durations::LIMITS;
use crate::{Class, Outcome};

pub(super) fn write(page: &mut Page, classes: &Classes) {
    let requested =
        || Class::ALL.iter().map(|class| (class.as_str(), classes.of(*class))).filter(|(_, it)| it.durations.count > 0);
    let doc = "How requests of a cost class ended; answers from memory have no class";
    let mut family = page.family("class_outcomes_total", "counter", doc);
    for (class, counts) in requested() {
        for outcome in Outcome::ALL {
            family.sample(&[("class", class), ("outcome", outcome.as_str())], counts.outcomes[*outcome as usize]);
        }
    }
    let doc = "From the first byte of a request of a cost class to the last byte of its response";
    let mut family = page.family("class_duration_seconds", "histogram", doc);
    for (class, counts) in requested() {
        let taken = &counts.durations;
        let up_to = LIMITS.iter().zip(taken.up_to()).map(|((_, text), (_, count))| (*text, count));
        family.buckets(&[("class", class)], up_to, taken.count, taken.nanos as f64 / 1e9);
    }
}
