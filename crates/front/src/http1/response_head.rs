//! Writes the head of a reply as HTTP/1.1: the status, and a line for each header.

use crate::conditional::is_bodiless;
use http::{HeaderName, HeaderValue, StatusCode, header};

/// Capacity that is enough for most heads.
const ROOM: usize = 640;

/// Status and headers, without `Date` and the empty line at the end. `body` is the length of the body, if the head is
/// to contain it.
pub(crate) fn begin<'a>(
    status: StatusCode,
    headers: impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)>,
    body: Option<usize>,
) -> Vec<u8> {
    let mut head = Vec::with_capacity(ROOM);
    head.extend_from_slice(b"HTTP/1.1 ");
    head.extend_from_slice(status.as_str().as_bytes());
    head.push(b' ');
    head.extend_from_slice(status.canonical_reason().unwrap_or("<none>").as_bytes());
    head.extend_from_slice(b"\r\n");
    // A reply to `HEAD` already has a length.
    let mut sized = is_bodiless(status);
    for (name, value) in headers.filter(|(name, _)| *name != header::DATE) {
        sized |= *name == header::CONTENT_LENGTH;
        line(&mut head, name, value.as_bytes());
    }
    if let Some(len) = body.filter(|_| !sized) {
        line(&mut head, &header::CONTENT_LENGTH, HeaderValue::from(len).as_bytes());
    }
    head
}

/// Adds a header.
pub(crate) fn line(head: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
        head.extend_from_slice(part);
    }
}

/// Adds `Date` and the empty line.
pub(crate) fn end(head: &mut Vec<u8>, date: &HeaderValue) {
    line(head, &header::DATE, date.as_bytes());
    head.extend_from_slice(b"\r\n");
}
