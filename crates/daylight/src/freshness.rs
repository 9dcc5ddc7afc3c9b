//! What clients and people are told of how a file of an upstream came to be answered with.

use http::HeaderMap;
use http::header::{self, HeaderName, HeaderValue};
use repository::{Freshness, How};

/// RFC 9211.
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
/// Why what is answered with is older than it should be.
const STALE: HeaderName = HeaderName::from_static("daylight-stale");

/// Says it in the headers of a reply. The age only of what is old: other replies may be kept as pages, and those do not
/// count on.
pub(crate) fn tell(headers: &mut HeaderMap, freshness: Freshness) {
    let status = match freshness.how {
        How::Kept => HeaderValue::from_static("daylight; hit"),
        How::Fetched => HeaderValue::from_static("daylight; fwd=uri-miss; stored"),
        How::Confirmed => HeaderValue::from_static("daylight; fwd=stale; fwd-status=304"),
        How::Stale(why) => {
            headers.insert(STALE, HeaderValue::from_static(why.as_str()));
            headers.insert(header::AGE, HeaderValue::from(freshness.age_s));
            HeaderValue::from_static("daylight; hit; detail=stale")
        }
    };
    headers.insert(CACHE_STATUS, status);
}
