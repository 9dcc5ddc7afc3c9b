//! The head of a response as the client gets it.

use super::request_head::remove_connection;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use telemetry::{Event, Text};

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
const TEXT_EVENT_STREAM: &str = "text/event-stream";

/// Removes what belongs to the connection to the backend. `Trailer` stays: the front passes trailers on that it names.
pub(super) fn clean(headers: &mut HeaderMap) {
    let trailer: Vec<HeaderValue> = headers.get_all(header::TRAILER).iter().cloned().collect();
    remove_connection(headers);
    for names in trailer {
        headers.append(header::TRAILER, names);
    }
}

/// How a response is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Buffering {
    /// Received at the speed of the backend, into a spool.
    Spooled,
    /// Piece by piece, because the application asks for it as of nginx (`X-Accel-Buffering: no`).
    Declined,
    /// Piece by piece, as an event stream, also with parameters. It may end between any two events.
    Events,
}

/// How the response is to be passed on. The header that tells it is taken off.
pub(super) fn buffering(headers: &mut HeaderMap) -> Buffering {
    let asked = headers.remove(X_ACCEL_BUFFERING).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"no"));
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind.eq_ignore_ascii_case(TEXT_EVENT_STREAM) {
        true => Buffering::Events,
        false if asked => Buffering::Declined,
        false => Buffering::Spooled,
    }
}

/// Whether a response has no body, whatever its headers say (RFC 9112, 6.3).
pub(super) fn has_no_body(method: &Method, status: StatusCode) -> bool {
    *method == Method::HEAD || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED
}

/// The times that the application tells, as it sent them, cut to a limit.
pub(super) fn server_timing(headers: &HeaderMap) -> Text {
    let mut all = String::new();
    for line in headers.get_all(SERVER_TIMING).iter().filter_map(|line| line.to_str().ok()) {
        if !all.is_empty() {
            all.push_str(", ");
        }
        all.push_str(line);
    }
    Event::text(&all).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn fields_of_the_connection_stay_there() {
        let mut head = headers(&[
            ("connection", "close, X-Mine"),
            ("x-mine", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-authenticate", "Basic"),
            ("transfer-encoding", "Chunked"),
            ("trailer", "x-sum"),
            ("upgrade", "h2c"),
            ("server-timing", "db;dur=53"),
            ("server-timing", "app;dur=7"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ]);
        assert_eq!(server_timing(&head), "db;dur=53, app;dur=7");
        clean(&mut head);
        let mut left: Vec<_> = head.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let mut kept = vec![
            ("server-timing", "db;dur=53"),
            ("server-timing", "app;dur=7"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
            ("trailer", "x-sum"),
        ];
        left.sort_unstable();
        kept.sort_unstable();
        assert_eq!(left, kept);
    }

    #[test]
    fn an_event_stream_is_one_with_parameters_too_and_buffering_can_be_declined() {
        for (line, expected) in [
            (("content-type", "text/event-stream"), Buffering::Events),
            (("content-type", "Text/Event-Stream; charset=utf-8"), Buffering::Events),
            (("content-type", "text/event-stream-like"), Buffering::Spooled),
            (("content-type", "text/html"), Buffering::Spooled),
            (("x-accel-buffering", "NO"), Buffering::Declined),
            (("x-accel-buffering", "yes"), Buffering::Spooled),
        ] {
            let mut head = headers(&[line]);
            assert_eq!(buffering(&mut head), expected, "{line:?}");
            assert!(!head.contains_key("x-accel-buffering"));
        }
    }
}
