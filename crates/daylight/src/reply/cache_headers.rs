//! Headers that say whether a file of an upstream came from the cache, and why an answer may lack the newest changes.

use http::HeaderMap;
use http::header::{self, HeaderName, HeaderValue};
use repository::{Freshness, How};
use telemetry::{Event, Reason};

/// `Cache-Status` (RFC 9211).
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
/// Why the answer is stale.
const STALE: HeaderName = HeaderName::from_static("daylight-stale");

/// Inserts the headers. Only a stale file has an `Age`: other replies may be cached as pages, in which the age would not grow.
pub(crate) fn insert(headers: &mut HeaderMap, freshness: Freshness) {
    let status = match freshness.how {
        How::Kept => HeaderValue::from_static("daylight; hit"),
        How::Fetched => HeaderValue::from_static("daylight; fwd=uri-miss; stored"),
        How::Confirmed => HeaderValue::from_static("daylight; fwd=stale; fwd-status=304"),
        How::Stale(why) => {
            mark_stale(headers, why);
            headers.insert(header::AGE, HeaderValue::from(freshness.age_s));
            HeaderValue::from_static("daylight; hit; detail=stale")
        }
    };
    headers.insert(CACHE_STATUS, status);
}

/// Tells why the upstream could not confirm the answer.
pub(crate) fn mark_stale(headers: &mut HeaderMap, why: Reason) {
    headers.insert(STALE, HeaderValue::from_static(why.as_str()));
}

/// Tells that changes of other machines may be missing. A page that is kept with this header holds no longer than that
/// ([`store::Freshness`]).
pub(crate) fn mark_unconfirmed(headers: &mut HeaderMap, event: &mut Event) {
    if !headers.contains_key(STALE) {
        mark_stale(headers, Reason::TruthUnreachable);
        if event.detail.is_empty() {
            event.detail =
                "the database was not heard for a second, so changes of other machines may be missing".to_owned();
        }
    }
}
