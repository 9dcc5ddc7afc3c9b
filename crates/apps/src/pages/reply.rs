//! The reply with a page.

use super::made::{Form, Life, Made, SENT};
use crate::cache::status::{self, CACHE_STATUS};
use front::{Body, Reply};
use http::{HeaderValue, header};
use telemetry::{Millis, PageOutcome};

/// What `Cache-Status` tells of a page (RFC 9211).
fn said(outcome: PageOutcome) -> &'static str {
    match outcome {
        PageOutcome::HitTolerated => "daylight; hit; detail=page-tolerated",
        PageOutcome::HitStale => "daylight; hit; detail=page-stale",
        PageOutcome::HitError => "daylight; hit; detail=page-error",
        _ => SENT,
    }
}

/// The reply with a form of a page, to any request: the front decides about its conditions. There are no ranges.
pub(super) fn reply(made: &Made, form: &Form, outcome: PageOutcome, now: Millis) -> Reply {
    let mut headers = form.headers.clone();
    if let (Life::Timed(_), Some(age)) = (&made.life, made.age_ms(now)) {
        headers.insert(header::AGE, (age / 1000).cast_unsigned().into());
    }
    if outcome != PageOutcome::Hit {
        let mut lines: Vec<HeaderValue> = headers.get_all(CACHE_STATUS).iter().cloned().collect();
        lines.pop();
        headers.remove(CACHE_STATUS);
        for line in lines {
            headers.append(CACHE_STATUS, line);
        }
        status::add(&mut headers, said(outcome));
    }
    let body = if form.body.is_empty() { Body::Empty } else { Body::Bytes(form.body.clone()) };
    Reply { headers, body, ..Reply::new(made.status) }
}
