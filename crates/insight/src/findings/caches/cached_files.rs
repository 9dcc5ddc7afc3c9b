//! Cached files of upstreams are evicted and fetched again, while the disk has room.

use super::sized::CACHED;
use super::too_small::problem;
use crate::findings::check::{Check, FindingKind, Problem, Verdict};
use crate::signals::seen::Seen;
use serde_json::json;

pub(super) const CHECK: Check = Check {
    key: "cached-files-evicted-too-early",
    kind: FindingKind::Cause,
    about: "Cached files of upstreams are evicted and fetched again, and the disk has room for them.",
    when: "in five minutes files were evicted, and at least 100 requests waited for a download of a file that a larger cache would \
           have had, by its reuse curve, for 5 s and 1 % of the time of all requests",
    unless: "fewer than a tenth of the files were evicted meanwhile, or the disk has no room",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look: |seen| Verdict::Looked(fetched_again(seen).into_iter().collect()),
};

fn fetched_again(seen: &Seen) -> Option<Problem> {
    let evidence = json!({
        "where": [["kind", "=", "request"], ["flight_wait_ms", ">", 0]], "by": ["repository"],
        "measures": ["count", "sum(flight_wait_ms)", "sum(upstream_bytes)"],
    });
    Some(Problem { evidence, ..problem(seen, &CACHED)? })
}
