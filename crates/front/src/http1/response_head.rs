//! Writes the head of a reply as HTTP/1.1: the status, and a line for each header.

use crate::conditional::is_bodiless;
use crate::date;
use crate::reply::DAYLIGHT_EVENT;
use http::{HeaderName, HeaderValue, StatusCode, header};
use telemetry::EventId;

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
pub(crate) fn end(head: &mut Vec<u8>, date: &[u8]) {
    line(head, &header::DATE, date);
    head.extend_from_slice(b"\r\n");
}

/// Adds `Age`, the id of the event and the empty line.
pub(crate) fn aged(head: &mut Vec<u8>, age: u64, event: EventId) {
    line(head, &header::AGE, HeaderValue::from(age).as_bytes());
    line(head, &DAYLIGHT_EVENT, &event.digits());
    head.extend_from_slice(b"\r\n");
}

/// The lines that differ in each reply, and the empty line.
const OWN: &[u8; 73] = b"daylight-event: 0000000000000000\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";

/// Adds the id of the event, `Date` and the empty line, in one piece.
pub(crate) fn own(head: &mut Vec<u8>, event: EventId, date: &[u8; date::LEN]) {
    const EVENT: usize = 16;
    const DATE: usize = 40;
    let mut own = *OWN;
    own[EVENT..EVENT + 16].copy_from_slice(&event.digits());
    own[DATE..DATE + date::LEN].copy_from_slice(date);
    head.extend_from_slice(&own);
}
