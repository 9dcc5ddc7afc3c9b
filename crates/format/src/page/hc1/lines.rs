//! The lines of an entry: headers of the page, and lines for the cache, which begin with `@`.

use super::super::coding::Coding;
use super::super::{HEADERS_MAX, HEADERS_MAX_BYTES, Unusable};
use super::{COUNTER_MAX_BYTES, COUNTERS_MAX, TAG_MAX_BYTES, TAGS_MAX, VARY_MAX};
use bytes::Bytes;

/// Headers that no entry has: those of one user, of one connection or of one reply (RFC 9110, 7.6.1, 8.6 and 14.4; RFC 9111, 5.1), and
/// orders to the server in front of the application, which a client must not get.
const FORBIDDEN: [&str; 19] = [
    "age",
    "cache-tag",
    "connection",
    "content-length",
    "content-range",
    "date",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "set-cookie",
    "surrogate-control",
    "surrogate-key",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "www-authenticate",
    "x-accel-redirect",
    "x-sendfile",
];
/// Headers that a reply has once (RFC 9110, 8.3, 8.4, 8.8 and 10.2.2).
const SINGLE: [&str; 5] = ["content-encoding", "content-type", "etag", "last-modified", "location"];

/// What the lines of a page say.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) headers: Vec<(Box<str>, Bytes)>,
    pub(super) coding: Coding,
    pub(super) tags: Vec<Bytes>,
    pub(super) counters: Vec<(Box<str>, Bytes)>,
}

/// Splits all that follows the first line into the lines, each with its end, and the body.
pub(super) fn split(rest: &[u8]) -> Result<(&[u8], &[u8]), Unusable> {
    let (mut at, mut lines) = (0, 0);
    loop {
        let open = rest.get(at..).unwrap_or_default();
        let within = open.get(..(HEADERS_MAX_BYTES + 2).saturating_sub(at)).unwrap_or(open);
        let Some(end) = within.iter().position(|byte| *byte == b'\n') else {
            return Err(if within.len() < open.len() { Unusable::TooLarge } else { Unusable::Unknown });
        };
        if end == 1 && open.first() == Some(&b'\r') {
            return Ok((rest.get(..at).unwrap_or_default(), open.get(2..).unwrap_or_default()));
        }
        at += end + 1;
        lines += 1;
        if lines > HEADERS_MAX {
            return Err(Unusable::TooLarge);
        }
    }
}

/// Each line as its name and its value.
fn fields(head: &[u8]) -> impl Iterator<Item = Result<(&str, &[u8]), Unusable>> {
    head.split_inclusive(|byte| *byte == b'\n').map(|line| field(line).ok_or(Unusable::Unknown))
}

fn field(line: &[u8]) -> Option<(&str, &[u8])> {
    let line = line.strip_suffix(b"\r\n")?;
    let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':')?);
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let value = value.get(1..)?;
    let begin = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(begin, |last| last + 1);
    let value = value.get(begin..end)?;
    // RFC 9110, 5.5: visible bytes, spaces and tabs.
    let plain = value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~' | 0x80..));
    (is_name(name.strip_prefix(b"@").unwrap_or(name)) && plain).then_some((std::str::from_utf8(name).ok()?, value))
}

/// A token (RFC 9110, 5.6.2) in lower case.
fn is_name(name: &[u8]) -> bool {
    let known = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(byte);
    !name.is_empty() && name.iter().all(known)
}

/// Reads the lines of a page. `head` is a part of `value`.
pub(super) fn read(value: &Bytes, head: &[u8]) -> Result<Lines, Unusable> {
    let mut lines = Lines::default();
    // The headers that may occur once, and did.
    let mut seen: Vec<&str> = Vec::new();
    for field in fields(head) {
        let (name, text) = field?;
        if SINGLE.contains(&name) || name.starts_with('@') {
            if seen.contains(&name) {
                return Err(Unusable::Unknown);
            }
            seen.push(name);
        }
        match name {
            "@tags" => lines.tags = tags(value, text)?,
            "@while" => lines.counters = counters(value, text).ok_or(Unusable::Unknown)?,
            "content-encoding" => {
                lines.coding = match text {
                    b"gzip" => Coding::Gzip,
                    b"br" => Coding::Brotli,
                    _ => return Err(Unusable::Unknown),
                }
            }
            _ if name.starts_with('@') || name.starts_with("daylight-") || FORBIDDEN.contains(&name) => {
                return Err(Unusable::Unknown);
            }
            _ => lines.headers.push((name.into(), value.slice_ref(text))),
        }
    }
    Ok(lines)
}

/// Parts of a value between spaces.
fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b' ').filter(|part| !part.is_empty())
}

/// A purge must reach each page with its tag: so no tag is left out.
fn tags(value: &Bytes, text: &[u8]) -> Result<Vec<Bytes>, Unusable> {
    let visible = |tag: &[u8]| tag.iter().all(|byte| byte.is_ascii_graphic() && *byte != b',');
    let mut tags = Vec::new();
    for tag in parts(text) {
        if !visible(tag) {
            return Err(Unusable::Unknown);
        }
        if tags.len() == TAGS_MAX || tag.len() > TAG_MAX_BYTES {
            return Err(Unusable::TooLarge);
        }
        tags.push(value.slice_ref(tag));
    }
    Ok(tags)
}

fn counters(value: &Bytes, text: &[u8]) -> Option<Vec<(Box<str>, Bytes)>> {
    let fits = |part: &[u8]| (1..=COUNTER_MAX_BYTES).contains(&part.len()) && part.iter().all(u8::is_ascii_graphic);
    let mut counters: Vec<(Box<str>, Bytes)> = Vec::new();
    for counter in parts(text) {
        let (name, count) = counter.split_at(counter.iter().position(|byte| *byte == b'=')?);
        let count = count.get(1..)?;
        let known = counters.iter().any(|(known, _)| known.as_bytes() == name);
        if counters.len() == COUNTERS_MAX || known || !fits(name) || !fits(count) {
            return None;
        }
        counters.push((std::str::from_utf8(name).ok()?.into(), value.slice_ref(count)));
    }
    // A writer that names no counter has lost the condition.
    (!counters.is_empty()).then_some(counters)
}

/// Reads the lines of an entry that names the headers which the page depends on: a `vary` line, and nothing else.
pub(super) fn vary(head: &[u8]) -> Result<Vec<Box<str>>, Unusable> {
    let mut fields = fields(head);
    let (Some(field), None) = (fields.next(), fields.next()) else { return Err(Unusable::Unknown) };
    let ("vary", names) = field? else { return Err(Unusable::Unknown) };
    let mut varies: Vec<Box<str>> = Vec::new();
    for name in names.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
        let known = varies.iter().any(|known| known.as_bytes() == name);
        // The coding is no variant: a page is decoded for clients without it.
        if !is_name(name) || matches!(name, b"*" | b"accept-encoding") || known || varies.len() == VARY_MAX {
            return Err(Unusable::Unknown);
        }
        varies.push(std::str::from_utf8(name).map_err(|_| Unusable::Unknown)?.into());
    }
    Ok(varies)
}
