//! What the head of a backend's response must not say. hyper reads these responses one way; the client, or a proxy on the way to it,
//! could read them another way, and take a part of one response for the next one.

use http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use http::{Method, Response, StatusCode};
use std::time::Duration;

/// Removes the framing of the connection from the head, and tells why it cannot be used.
pub(super) fn check<B>(
    response: &mut Response<B>,
    method: &Method,
    asked_to_upgrade: bool,
) -> Result<(), &'static str> {
    let status = response.status();
    let headers = response.headers_mut();
    if status == StatusCode::SWITCHING_PROTOCOLS && !asked_to_upgrade {
        return Err("it changes the protocol, and nobody asked for that");
    }
    if status == StatusCode::NO_CONTENT || status.is_informational() {
        // They have no body, whatever they say (RFC 9112 6.3).
        headers.remove(CONTENT_LENGTH);
        headers.remove(TRANSFER_ENCODING);
        return Ok(());
    }
    if headers.contains_key(TRANSFER_ENCODING) {
        let has_body = method != Method::HEAD && status != StatusCode::NOT_MODIFIED;
        if has_body && headers.contains_key(CONTENT_LENGTH) {
            return Err("it has both `Transfer-Encoding` and `Content-Length`");
        }
        if has_body && !is_chunked(headers) {
            return Err("it has a `Transfer-Encoding` other than `chunked`");
        }
        // The body is given without its chunks.
        headers.remove(TRANSFER_ENCODING);
    }
    one_length(headers)
}

fn is_chunked(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(TRANSFER_ENCODING).iter();
    let first = values.next().is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"chunked"));
    first && values.next().is_none()
}

/// Several equal lengths become one (RFC 9112 6.3).
fn one_length(headers: &mut HeaderMap) -> Result<(), &'static str> {
    let mut values = headers.get_all(CONTENT_LENGTH).iter();
    let Some(first) = values.next() else { return Ok(()) };
    if values.next().is_none() && is_length(first.as_bytes()) {
        return Ok(());
    }
    let all = headers.get_all(CONTENT_LENGTH).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut lengths = all.map(<[u8]>::trim_ascii);
    let Some(length) = lengths.next().filter(|length| is_length(length)).map(<[u8]>::to_vec) else {
        return Err("its `Content-Length` is not a number");
    };
    if !lengths.all(|other| other == length) {
        return Err("it has several `Content-Length`");
    }
    let length = HeaderValue::from_bytes(&length).map_err(|_| "its `Content-Length` is not a number")?;
    headers.insert(CONTENT_LENGTH, length);
    Ok(())
}

/// The time of `Keep-Alive: timeout=5`, which Node and Apache send (RFC 2068 19.7.1.1).
pub(super) fn idle_limit(headers: &HeaderMap) -> Option<Duration> {
    let parameters = headers.get("keep-alive")?.to_str().ok()?.split(',').map(str::trim);
    let seconds =
        parameters.filter_map(|parameter| parameter.split_once('=')).find(|(name, _)| name.trim() == "timeout")?;
    seconds.1.trim().parse().ok().map(Duration::from_secs)
}

/// Digits, and few enough for 64 bits.
fn is_length(value: &[u8]) -> bool {
    (1..=19).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(status: u16, method: Method, headers: &[(&str, &str)]) -> Result<Vec<String>, &'static str> {
        let mut response =
            headers.iter().fold(Response::builder().status(status), |built, (name, value)| built.header(*name, *value));
        let mut response = std::mem::take(&mut response).body(()).unwrap();
        check(&mut response, &method, false)?;
        Ok(response.headers().iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect())
    }

    #[test]
    fn a_head_that_frames_its_body_in_two_ways_is_refused() {
        let both = [("transfer-encoding", "chunked"), ("content-length", "3")];
        assert!(checked(200, Method::GET, &both).is_err());
        assert_eq!(checked(200, Method::HEAD, &both).unwrap(), ["content-length: 3"]);
        assert_eq!(checked(304, Method::GET, &both).unwrap(), ["content-length: 3"]);
        assert!(checked(204, Method::GET, &both).unwrap().is_empty());
        for encoding in ["gzip, chunked", "gzip", "identity", "chunked, chunked", "xchunked", ""] {
            assert!(checked(200, Method::GET, &[("transfer-encoding", encoding)]).is_err(), "{encoding}");
        }
        assert!(
            checked(200, Method::GET, &[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")]).is_err()
        );
        assert!(checked(200, Method::GET, &[("transfer-encoding", "Chunked")]).unwrap().is_empty());
    }

    #[test]
    fn equal_lengths_become_one_and_others_are_refused() {
        for lengths in [vec!["3"], vec!["3", "3"], vec!["3, 3"], vec!["3,3", "3"]] {
            let headers: Vec<_> = lengths.iter().map(|length| ("content-length", *length)).collect();
            assert_eq!(checked(200, Method::GET, &headers).unwrap(), ["content-length: 3"], "{lengths:?}");
        }
        for lengths in [
            vec!["3", "4"],
            vec!["3,4"],
            vec!["+3"],
            vec!["0x3"],
            vec![""],
            vec!["3,"],
            vec!["-3"],
            vec!["99999999999999999999"],
        ] {
            let headers: Vec<_> = lengths.iter().map(|length| ("content-length", *length)).collect();
            for method in [Method::GET, Method::HEAD] {
                assert!(checked(200, method, &headers).is_err(), "{lengths:?}");
            }
        }
    }

    #[test]
    fn a_change_of_protocol_that_nobody_asked_for_is_refused() {
        let mut response = Response::builder().status(101).body(()).unwrap();
        assert!(check(&mut response, &Method::GET, false).is_err());
        assert!(check(&mut response, &Method::GET, true).is_ok());
    }

    #[test]
    fn a_server_may_tell_how_long_it_keeps_a_connection() {
        for (value, limit) in [
            ("timeout=5", Some(5)),
            ("timeout=5, max=100", Some(5)),
            ("max=1,timeout = 0", Some(0)),
            ("max=9", None),
            ("timeout=x", None),
        ] {
            let headers = HeaderMap::from_iter([(
                http::header::HeaderName::from_static("keep-alive"),
                HeaderValue::from_static(value),
            )]);
            assert_eq!(idle_limit(&headers), limit.map(Duration::from_secs), "{value}");
        }
        assert_eq!(idle_limit(&HeaderMap::new()), None);
    }
}
