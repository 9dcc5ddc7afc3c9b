//! The families of open findings, and whether the server is ready.

use super::page::Page;
use crate::{MetricsView, OpenFinding};
use std::collections::BTreeMap;

pub(super) fn write(page: &mut Page, view: &MetricsView) {
    let doc = "1 while the readiness probe is answered with 200";
    page.family("ready", "gauge", doc).sample(&[], u8::from(view.ready));
    // A scrape fails if a series is in it twice.
    let mut each: BTreeMap<[(&str, &str); 2], (u64, u64)> = BTreeMap::new();
    for OpenFinding { finding, subject, lost_ms_per_hour } in &view.findings {
        let (open, lost_ms) = each.entry([("finding", finding), ("subject", subject)]).or_default();
        (*open, *lost_ms) = (*open + 1, *lost_ms + lost_ms_per_hour);
    }
    let doc = "1 for each open finding that is not muted; those whose subject the reader may not see are added up";
    let mut family = page.family("finding_open", "gauge", doc);
    each.iter().for_each(|(labels, (open, _))| family.sample(labels, open));
    let doc = "Client seconds that an open finding costs in an hour";
    let mut family = page.family("finding_lost_seconds_per_hour", "gauge", doc);
    each.iter().for_each(|(labels, (_, lost_ms))| family.sample(labels, *lost_ms as f64 / 1e3));
}
