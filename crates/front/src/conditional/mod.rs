//! The only code about 304, 412, ranges and `HEAD`: it turns a complete reply into the requested part.
//!
//! RFC 9110, 13.2.2 gives the order: `If-Match`, else `If-Unmodified-Since`; then `If-None-Match`, else
//! `If-Modified-Since`; then `Range`, if `If-Range` allows it. Conditions on changes are not evaluated here, as the
//! change has already been made: the handler decides them with it. A request for several ranges gets the whole body, as the standard allows.

use crate::reply::Body;
use crate::reply::Ranges;
use crate::reply::Reply;
use crate::reply::UnchangedDates;
pub use checkpoints::Checkpoints;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use md5::{Digest, Md5};
use tags::{Tag, Tags};

/// The conditions of a request. They are copied because the handler owns the rest of the request.
#[derive(Debug, Default)]
pub struct Conditions {
    matches: Vec<HeaderValue>,
    unmodified_since: Option<HeaderValue>,
    none_match: Vec<HeaderValue>,
    modified_since: Option<HeaderValue>,
    range: Option<HeaderValue>,
    if_range: Option<HeaderValue>,
}

impl Conditions {
    /// Reads the conditions.
    pub fn new(headers: &HeaderMap) -> Self {
        let mut conditions = Self::default();
        // One pass over all headers: most requests have few headers and none of these.
        for (name, value) in headers {
            let first = match *name {
                header::IF_MATCH => {
                    conditions.matches.push(value.clone());
                    continue;
                }
                header::IF_NONE_MATCH => {
                    conditions.none_match.push(value.clone());
                    continue;
                }
                header::IF_UNMODIFIED_SINCE => &mut conditions.unmodified_since,
                header::IF_MODIFIED_SINCE => &mut conditions.modified_since,
                header::RANGE => &mut conditions.range,
                header::IF_RANGE => &mut conditions.if_range,
                _ => continue,
            };
            first.get_or_insert_with(|| value.clone());
        }
        conditions
    }

    /// The opaque parts of the tags in `If-None-Match`, for a weak comparison.
    fn tags(&self) -> impl Iterator<Item = &str> {
        tags(&self.none_match).map(|tag| tag.opaque)
    }

    /// Whether the client's partial copy is of the current body: a strong comparison (RFC 9110, 13.1.1 and 13.1.4).
    /// Maven's resolver continues a download with `Range` and `If-Unmodified-Since`, and starts again after a 412.
    fn expects_it(&self, headers: &HeaderMap) -> bool {
        if !self.matches.is_empty() {
            let ours = tag(headers).filter(|ours| ours.strong);
            return tags(&self.matches).any(|theirs| theirs.opaque == "*" || Some(theirs) == ours);
        }
        let until = self.unmodified_since.as_ref().and_then(date);
        until.is_none_or(|until| modified(headers).is_none_or(|modified| modified <= until))
    }

    fn holds_it(&self, headers: &HeaderMap, unchanged: UnchangedDates) -> bool {
        if !self.none_match.is_empty() {
            let ours = tag(headers).map(|tag| tag.opaque);
            return self.tags().any(|held| held == "*" || Some(held) == ours);
        }
        let since = self.modified_since.as_ref().and_then(date);
        since.is_some_and(|since| modified(headers).is_some_and(|modified| unchanged.hold(modified, since)))
    }

    /// Whether the range is of the current body: a strong comparison (RFC 9110, 13.1.5). A date is strong here,
    /// because nothing that is sent in ranges changes twice within a second.
    fn range_applies(&self, headers: &HeaderMap) -> bool {
        match &self.if_range {
            None => true,
            Some(tag) if tag.as_bytes().starts_with(b"\"") => headers.get(header::ETAG) == Some(tag),
            Some(at) => date(at).is_some_and(|at| modified(headers) == Some(at)),
        }
    }
}

/// The conditions of a change (RFC 9110, 13.1), which the handler decides with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeConditions {
    /// The tags of `If-Match` without their quotes, each with whether it is strong; `None`: there is no such header.
    pub matches: Option<Vec<(String, bool)>>,
    /// The tags of `If-None-Match`.
    pub none_match: Option<Vec<(String, bool)>>,
    /// The date of `If-Unmodified-Since`. One that cannot be read is ignored, as the standard requires.
    pub unmodified_since: Option<std::time::SystemTime>,
}

impl ChangeConditions {
    /// Reads the conditions.
    pub fn new(headers: &HeaderMap) -> Self {
        let Conditions { matches, none_match, unmodified_since, .. } = Conditions::new(headers);
        let owned = |lines: &[HeaderValue]| tags(lines).map(|tag| (tag.opaque.to_owned(), tag.strong)).collect();
        let some = |lines: Vec<HeaderValue>| (!lines.is_empty()).then(|| owned(&lines));
        let unmodified_since = unmodified_since.as_ref().and_then(date);
        Self { matches: some(matches), none_match: some(none_match), unmodified_since }
    }
}

/// The part of a body that a `Range` selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selection {
    /// All of it: there is no range, or several, or one that is not understood.
    Whole,
    /// From the first number up to, but not including, the second.
    Bytes(u64, u64),
    /// Nothing: the range lies behind the end.
    Beyond,
}

/// A reply that another server made for this very request. Only a body that must not be sent is left out, and its length is that of
/// the bytes.
fn verbatim(mut reply: Reply, method: &Method) -> Reply {
    if reply.status == StatusCode::SWITCHING_PROTOCOLS {
        return reply;
    }
    let has_no_length = reply.status.is_informational() || reply.status == StatusCode::NO_CONTENT;
    let is_bare = has_no_length || is_bodiless(reply.status) || !sends_body(method);
    // A 304 and a reply to `HEAD` may name the length that a `GET` would have (RFC 9110, 8.6).
    if has_no_length || !is_bare {
        reply.headers.remove(header::CONTENT_LENGTH);
    }
    if is_bare {
        if let Some(len) = reply.body.len().filter(|_| !is_bodiless(reply.status) && !reply.body.is_empty()) {
            reply.headers.insert(header::CONTENT_LENGTH, len.into());
        }
        reply.body = Body::Empty;
    }
    reply
}

/// The length that a 304 names. Only that of another server names one.
pub(crate) fn named_length(reply: &Reply) -> Option<u64> {
    let length = reply.headers.get(header::CONTENT_LENGTH).filter(|_| reply.status == StatusCode::NOT_MODIFIED)?;
    length.to_str().ok()?.parse().ok()
}

/// Turns a complete `reply` into the part that was requested.
pub fn apply(mut reply: Reply, method: &Method, conditions: &Conditions) -> Reply {
    if reply.verbatim {
        return verbatim(reply, method);
    }
    let reads = method == Method::GET || method == Method::HEAD;
    if reads && reply.status == StatusCode::OK {
        if !conditions.expects_it(&reply.headers) {
            return without_body(reply, StatusCode::PRECONDITION_FAILED);
        }
        if conditions.holds_it(&reply.headers, reply.unchanged) {
            return without_body(reply, StatusCode::NOT_MODIFIED);
        }
        announce_ranges(&mut reply.headers, &reply.ranges);
        if method == Method::GET && conditions.range.is_some() && conditions.range_applies(&reply.headers) {
            let len = reply.body.len();
            reply = match len.map(|len| (part(&reply, len, conditions), len)) {
                None | Some((Selection::Whole, _)) => reply,
                Some((Selection::Bytes(from, to), len)) => partial(reply, from, to, len),
                Some((Selection::Beyond, len)) => beyond(reply, len),
            };
        }
    }
    if is_bodiless(reply.status) {
        reply.body = Body::Empty;
    } else if !sends_body(method) {
        // If the length is unknown here, a `GET` would not tell it either.
        if let Some(len) = reply.body.len() {
            reply.headers.insert(header::CONTENT_LENGTH, len.into());
        }
        reply.body = Body::Empty;
    }
    reply
}

/// Adds `Accept-Ranges` where ranges are allowed.
pub(crate) fn announce_ranges(headers: &mut HeaderMap, ranges: &Ranges) {
    if ranges.any() {
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    }
}

/// Whether the headers of a request ask for a range.
pub(crate) fn asks_for_range(headers: &HeaderMap) -> bool {
    headers.contains_key(header::RANGE)
}

/// Whether a reply with this status has neither a body nor a length.
pub(crate) fn is_bodiless(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Whether a reply to this method has a body: a reply to `HEAD` is only the head.
pub(crate) fn sends_body(method: &Method) -> bool {
    *method != Method::HEAD
}

/// Headers that identify the client's copy stay. Headers that describe the bytes go with the bytes (RFC 9110,
/// 15.4.5).
fn without_body(mut reply: Reply, status: StatusCode) -> Reply {
    reply.status = status;
    reply.body = Body::Empty;
    for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE, header::CONTENT_LENGTH] {
        reply.headers.remove(name);
    }
    if reply.headers.contains_key(header::ETAG) {
        reply.headers.remove(header::LAST_MODIFIED);
    }
    reply
}

fn partial(mut reply: Reply, from: u64, to: u64, len: u64) -> Reply {
    let range = format!("bytes {from}-{}/{len}", to - 1);
    reply.status = StatusCode::PARTIAL_CONTENT;
    reply.body = match reply.body {
        Body::Empty => Body::Empty,
        Body::Bytes(bytes) => Body::Bytes(bytes.slice(index(from)..index(to))),
        Body::Rope(rope) => Body::Rope(rope.slice(from, to)),
        Body::File { file, from: start, .. } => Body::File { file, from: start + from, len: to - from },
        Body::Growing(growing) => Body::Growing(growing.slice(from, to)),
        // It has no length, so no range is cut from it.
        endless @ (Body::Live(_) | Body::Stream(_) | Body::Tunnel(_)) => endless,
    };
    with_content_range(reply, range)
}

fn beyond(reply: Reply, len: u64) -> Reply {
    let range = format!("bytes */{len}");
    with_content_range(without_body(reply, StatusCode::RANGE_NOT_SATISFIABLE), range)
}

fn with_content_range(mut reply: Reply, range: String) -> Reply {
    if let Ok(range) = HeaderValue::try_from(range) {
        reply.headers.insert(header::CONTENT_RANGE, range);
    }
    reply
}

fn part(reply: &Reply, len: u64, conditions: &Conditions) -> Selection {
    let wanted = conditions.range.as_ref().and_then(|range| range.to_str().ok()).and_then(ByteRange::read);
    match (&reply.ranges, wanted) {
        (Ranges::None, _) | (_, None) => Selection::Whole,
        (Ranges::Bytes, Some(wanted)) => wanted.of_length(len),
        // `If-Range` proves that the client holds a part of this very body.
        (Ranges::Prefix(_), Some(wanted))
            if conditions.if_range.is_some() && !reply.headers.contains_key(header::CONTENT_ENCODING) =>
        {
            match wanted.of_length(len) {
                Selection::Beyond => Selection::Whole,
                part => part,
            }
        }
        (Ranges::Prefix(known), Some(ByteRange { first: Some(from), last: None })) => {
            after_prefix(reply, len, known, conditions, from)
        }
        (Ranges::Prefix(_), Some(_)) => Selection::Whole,
    }
}

/// A range as the client wrote it. Without `first`, `last` is the number of bytes at the end.
#[derive(Debug, Clone, Copy)]
struct ByteRange {
    first: Option<u64>,
    last: Option<u64>,
}

impl ByteRange {
    /// Reads a single range of bytes. `None` for any other unit, for several ranges, and for a first byte behind the last.
    fn read(range: &str) -> Option<Self> {
        let (unit, spec) = range.split_once('=')?;
        let (first, last) = spec.trim().split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        let orderly = match (first, last) {
            (None, None) => false,
            (Some(first), Some(last)) => first <= last,
            _ => true,
        };
        (unit.eq_ignore_ascii_case("bytes") && orderly).then_some(Self { first, last })
    }

    /// The part of a body of this length that the range selects.
    fn of_length(self, len: u64) -> Selection {
        let (from, to) = match (self.first, self.last) {
            (Some(first), last) => (first, last.map_or(len, |last| last.saturating_add(1).min(len))),
            (None, last) => (len.saturating_sub(last.unwrap_or(0)), len),
        };
        if from < to { Selection::Bytes(from, to) } else { Selection::Beyond }
    }
}

/// Digits, or nothing. A number that is too large to parse is larger than any body.
fn number(digits: &str) -> Option<Option<u64>> {
    if digits.is_empty() {
        return Some(None);
    }
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| Some(digits.parse().unwrap_or(u64::MAX)))
}

/// Between rewrites, bytes are only appended to a compact index. Bundler asks for `bytes=<size - 1>-` with the MD5 of
/// its copy (1.12 to 1.14: `bytes=<size>-`). A reply with only the tail is correct only if the copy is a prefix of this
/// body; otherwise the client would assemble a file that matches no digest. A 416 makes clients fetch the full index
/// anyway, so the whole body is sent instead.
fn after_prefix(reply: &Reply, len: u64, known: &Checkpoints, conditions: &Conditions, from: u64) -> Selection {
    if from >= len || reply.headers.contains_key(header::CONTENT_ENCODING) || !conditions.tags().any(is_md5) {
        return Selection::Whole;
    }
    let (at, mut state) = known.before(from);
    let Some(before) = hashed(&reply.body, at, from, &mut state)
        .then(|| state.clone())
        .filter(|_| hashed(&reply.body, from, from + 1, &mut state))
    else {
        return Selection::Whole;
    };
    let proofs = [hex(&state.finalize()), hex(&before.finalize())];
    if conditions.tags().any(|held| proofs.iter().any(|proof| proof.eq_ignore_ascii_case(held))) {
        Selection::Bytes(from, len)
    } else {
        Selection::Whole
    }
}

/// Hashes a part of a body in memory. Returns whether the body is in memory.
fn hashed(body: &Body, from: u64, to: u64, state: &mut Md5) -> bool {
    match body {
        Body::Bytes(bytes) => state.update(&bytes[index(from)..index(to)]),
        Body::Rope(rope) => rope.clone().slice(from, to).for_each(|piece| state.update(&piece)),
        Body::Empty | Body::File { .. } | Body::Growing(_) | Body::Live(_) | Body::Stream(_) | Body::Tunnel(_) => {
            return false;
        }
    }
    true
}

fn is_md5(tag: &str) -> bool {
    tag.len() == 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

fn tags(lines: &[HeaderValue]) -> impl Iterator<Item = Tag<'_>> {
    lines.iter().filter_map(|line| line.to_str().ok()).flat_map(Tags)
}

/// The tag of the current body.
fn tag(headers: &HeaderMap) -> Option<Tag<'_>> {
    Tags(headers.get(header::ETAG)?.to_str().ok()?).next()
}

fn date(value: &HeaderValue) -> Option<std::time::SystemTime> {
    httpdate::parse_http_date(value.to_str().ok()?).ok()
}

fn modified(headers: &HeaderMap) -> Option<std::time::SystemTime> {
    headers.get(header::LAST_MODIFIED).and_then(date)
}

pub(crate) mod checkpoints;
mod tags;
#[cfg(test)]
mod tests;
