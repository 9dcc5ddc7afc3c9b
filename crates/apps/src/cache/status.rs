//! `Cache-Status` (RFC 9211): what the cache did with a request. The fields of other caches come before it.

use super::rules::storable::Unstorable;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::fmt::Write;

pub(crate) const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
/// What a fresh response says.
pub(crate) const HIT: &str = "daylight; hit";

telemetry::closed_list! {
    /// Why a request went to the application (RFC 9211, 2.2).
    pub(crate) enum Forwarded {
        /// Nothing is stored for its URL.
        UriMiss = "fwd=uri-miss",
        /// Nothing is stored for its headers.
        VaryMiss = "fwd=vary-miss",
        /// The stored response needs a validation.
        Stale = "fwd=stale",
        /// The client wishes so.
        Request = "fwd=request",
        /// Responses to its method are not stored.
        Method = "fwd=method",
        /// It is none for a cache: it has a body, or names another method in a header.
        Bypass = "fwd=bypass",
        /// A part of something that is not stored.
        Partial = "fwd=partial",
    }
}

/// What was done with a request that went to the application.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    pub(crate) forwarded: Forwarded,
    /// The status of the application, if it was another one than that of the reply.
    pub(crate) status: Option<StatusCode>,
    /// It waited for the response to another request, which did not help.
    pub(crate) collapsed: bool,
    /// The response is stored, or why not.
    pub(crate) stored: Result<(), Option<Unstorable>>,
}

impl Report {
    /// A report of a request that was passed on.
    pub(crate) fn of(forwarded: Forwarded) -> Self {
        Self { forwarded, status: None, collapsed: false, stored: Err(None) }
    }

    /// Its member of `Cache-Status`.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("daylight; {}", self.forwarded.as_str());
        if let Some(status) = self.status {
            let _ = write!(text, "; fwd-status={}", status.as_u16());
        }
        if self.collapsed {
            text.push_str("; collapsed");
        }
        match self.stored {
            Ok(()) => text.push_str("; stored"),
            Err(Some(why)) => {
                let _ = write!(text, "; detail={}", why.as_str());
            }
            Err(None) => {}
        }
        text
    }

    /// Adds it to the headers of a reply.
    pub(crate) fn add(&self, headers: &mut HeaderMap) {
        add(headers, &self.text());
    }
}

/// Adds a member after those of other caches.
pub(crate) fn add(headers: &mut HeaderMap, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.append(CACHE_STATUS, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_after_those_of_other_caches() {
        let mut headers = HeaderMap::from_iter([(CACHE_STATUS, HeaderValue::from_static("origin; hit"))]);
        let report = Report {
            status: Some(StatusCode::NOT_MODIFIED),
            collapsed: true,
            stored: Ok(()),
            ..Report::of(Forwarded::Stale)
        };
        report.add(&mut headers);
        Report { stored: Err(Some(Unstorable::SetCookie)), ..Report::of(Forwarded::UriMiss) }.add(&mut headers);
        Report::of(Forwarded::Method).add(&mut headers);
        let lines: Vec<_> = headers.get_all(CACHE_STATUS).iter().map(|line| line.to_str().unwrap()).collect();
        let expected = [
            "origin; hit",
            "daylight; fwd=stale; fwd-status=304; collapsed; stored",
            "daylight; fwd=uri-miss; detail=set-cookie",
            "daylight; fwd=method",
        ];
        assert_eq!(lines, expected);
    }
}
