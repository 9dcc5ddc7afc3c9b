//! A page that was read from its entry, with the headers that clients get.

use super::accepts::Accepts;
use super::purges::Purges;
use crate::cache::key::KeyRef;
use crate::cache::rules::fields::{elements, joined};
use crate::cache::rules::tags::{TAG_FIELDS, Tags};
use crate::cache::rules::update::for_clients;
use crate::cache::status;
use crate::cache::stored::{self, date};
use bytes::Bytes;
use format::page::coding::Coding;
use format::page::{Page, Unusable};
use front::KernelCopy;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use std::sync::OnceLock;
use telemetry::{Millis, PageOutcome};

/// The headers with the tags of response_bank's pages. Its own names are in the plural.
const BANK_TAGS: [&str; 4] = ["surrogate-keys", "cache-tags", TAG_FIELDS[0], TAG_FIELDS[1]];
/// What `Cache-Status` tells of most pages, after the members of other caches (RFC 9211).
pub(super) const SENT: &str = "daylight; hit; detail=page";
/// Bytes of an entry of a table of headers, beside its texts.
const EACH_HEADER: usize = 136;

/// A page.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(super) status: StatusCode,
    coding: Coding,
    coded: Form,
    /// The form without a coding, or why there is none, once a client has needed it.
    decoded: Option<Result<Form, Unusable>>,
    stored_s: Option<i64>,
    /// `None`: more than are known.
    tags: Option<Tags>,
    pub(super) life: Life,
}

/// A form in which clients get a page.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// As HTTP/1.1 sends it. Made when it is first needed.
    head: OnceLock<Bytes>,
    /// The body in the kernel's memory.
    pub(super) copy: KernelCopy,
}

impl Form {
    fn new(headers: HeaderMap, body: Bytes) -> Self {
        Self { headers, body, head: OnceLock::new(), copy: KernelCopy::default() }
    }

    /// The head as HTTP/1.1 sends it, without `Date`, `Age` and the empty line.
    pub(super) fn head(&self, status: StatusCode) -> Bytes {
        self.head.get_or_init(|| stored::head(status, &self.headers, self.body.len())).clone()
    }

    /// About how many bytes it takes, beside its body.
    fn weight(&self) -> usize {
        // The table, and the head.
        const EACH_LINE: usize = EACH_HEADER + 4;
        let lines = self.headers.iter().map(|(name, value)| 2 * (name.as_str().len() + value.len()) + EACH_LINE);
        lines.sum::<usize>() + KernelCopy::weight(&self.body)
    }
}

/// How long a page is used.
#[derive(Debug, Clone)]
pub(super) enum Life {
    /// While it is the present version (response_bank, cacheable).
    Version {
        /// It is.
        present: bool,
    },
    /// For a time (HC1).
    Timed(Times),
}

/// The times of a page, in seconds.
#[derive(Debug, Clone)]
pub(super) struct Times {
    pub(super) fresh: u32,
    pub(super) stale_while: u32,
    pub(super) stale_error: u32,
    /// The counters that must have these values: the keys of the store.
    pub(super) counters: Box<[Counter]>,
}

/// A counter and the value while which a page holds.
#[derive(Debug, Clone)]
pub(super) struct Counter {
    pub(super) key: Bytes,
    pub(super) value: Bytes,
}

impl Made {
    /// The page of response_bank or cacheable. `tag`: what its `ETag` is, if its headers do not tell.
    pub(super) fn versioned(mut page: Page, present: bool, tag: Option<&str>) -> Result<Self, PageOutcome> {
        if ![200, 301, 404].contains(&page.status) {
            return Err(PageOutcome::Status);
        }
        let has_tag = page.headers.iter().any(|(name, _)| **name == *"etag");
        if let Some(tag) = tag.filter(|_| !has_tag) {
            page.headers.push(("etag".into(), Bytes::copy_from_slice(tag.as_bytes())));
        }
        Self::of(page, &[], None, Life::Version { present })
    }

    /// The page of HC1. `selected_by`: the headers of the request that select it among others of its URL.
    pub(super) fn timed(
        page: Page,
        selected_by: &[Box<str>],
        tags: &[Bytes],
        times: Times,
    ) -> Result<Self, PageOutcome> {
        const STATUSES: [u16; 14] = [200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 451];
        if !STATUSES.contains(&page.status) {
            return Err(PageOutcome::Status);
        }
        Self::of(page, selected_by, Some(Tags::listed(tags.iter().map(|tag| &**tag))), Life::Timed(times))
    }

    fn of(page: Page, selected_by: &[Box<str>], tags: Option<Option<Tags>>, life: Life) -> Result<Self, PageOutcome> {
        let Page { status, headers: lines, coding, body, stored_s } = page;
        let status = StatusCode::from_u16(status).map_err(|_| PageOutcome::Status)?;
        let mut headers = HeaderMap::with_capacity(lines.len() + 4);
        for (name, value) in lines {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| PageOutcome::Unknown)?;
            headers.append(name, HeaderValue::from_maybe_shared(value).map_err(|_| PageOutcome::Unknown)?);
        }
        let tags = tags.unwrap_or_else(|| Tags::in_fields(&headers, &BANK_TAGS));
        for_clients(&mut headers);
        vary(&mut headers, selected_by, coding != Coding::Identity).ok_or(PageOutcome::Unknown)?;
        if let (Life::Timed(_), Some(stored)) = (&life, stored_s) {
            date(&mut headers, Millis(stored.saturating_mul(1000)));
        }
        if let Some(coding) = coding.as_str() {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        status::add(&mut headers, SENT);
        Ok(Self { status, coding, coded: Form::new(headers, body), decoded: None, stored_s, tags, life })
    }

    /// The coding of its body.
    pub(super) fn coding(&self) -> Coding {
        self.coding
    }

    /// The form for a client that accepts these codings, if there is one now.
    pub(super) fn form(&self, accepts: Accepts) -> Option<&Form> {
        if accepts.takes(self.coding) {
            return Some(&self.coded);
        }
        self.decoded.as_ref()?.as_ref().ok().filter(|_| accepts.takes(Coding::Identity))
    }

    /// Why it has no form without a coding.
    pub(super) fn undecodable(&self) -> Option<Unusable> {
        self.decoded.as_ref()?.as_ref().err().copied()
    }

    /// The same page with the form without a coding, or why there is none. `limit`: the most bytes of its body.
    pub(super) fn decode(&self, limit: usize) -> Self {
        let decoded = self.coding.decode(&self.coded.body, limit);
        Self { decoded: Some(decoded.map(|body| self.uncoded(body.into()))), ..self.clone() }
    }

    fn uncoded(&self, body: Bytes) -> Form {
        let mut headers = self.coded.headers.clone();
        headers.remove(header::CONTENT_ENCODING);
        // The tag names other bytes. The application itself sends the tags of its versions with any coding.
        let weak = match headers.get(header::ETAG) {
            Some(tag) if tag.as_bytes().starts_with(b"\"") && matches!(self.life, Life::Timed(_)) => {
                HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()).ok()
            }
            _ => None,
        };
        if let Some(weak) = weak {
            headers.insert(header::ETAG, weak);
        }
        Form::new(headers, body)
    }

    /// When it was stored, in seconds since 1970.
    pub(super) fn stored_s(&self) -> Option<i64> {
        self.stored_s
    }

    /// Its age in milliseconds, at least: it was stored within that second.
    pub(super) fn age_ms(&self, now: Millis) -> Option<i64> {
        Some(now.0.saturating_sub(self.stored_s?.saturating_mul(1000)).max(0))
    }

    /// Whether it was purged since it was stored.
    pub(super) fn is_purged(&self, purges: &Purges, url: &KeyRef<'_>) -> bool {
        purges.reach(self.stored_s, url, self.tags.as_ref())
    }

    /// Whether it has this tag.
    pub(super) fn has_tag(&self, tag: &[u8]) -> bool {
        self.tags.as_ref().is_none_or(|tags| tags.has(tag))
    }

    /// About how many bytes it takes, beside the value that it was read from.
    pub(super) fn weight(&self) -> usize {
        let decoded =
            self.decoded.as_ref().and_then(|form| form.as_ref().ok()).map_or(0, |form| form.weight() + form.body.len());
        let counters = match &self.life {
            Life::Timed(times) => times.counters.iter().map(|counter| size_of::<Counter>() + counter.key.len()).sum(),
            Life::Version { .. } => 0,
        };
        self.coded.weight() + decoded + counters + self.tags.as_ref().map_or(0, Tags::weight)
    }
}

/// Completes `Vary`: it names the headers that select the page, and `Accept-Encoding` if the page has a coding. `None`: the page says
/// that it depends on more than that, so it is not for every request for this URL.
fn vary(headers: &mut HeaderMap, selected_by: &[Box<str>], has_coding: bool) -> Option<()> {
    const ACCEPT_ENCODING: &str = "accept-encoding";
    let stored = joined(headers, "vary").unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for name in elements(&stored)? {
        let name = std::str::from_utf8(name).ok()?;
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if !is(ACCEPT_ENCODING) && !selected_by.iter().any(|known| is(known)) {
            return None;
        }
        names.push(name.to_owned());
    }
    let added = selected_by.iter().map(|name| &**name).chain(has_coding.then_some("Accept-Encoding"));
    let mut complete = true;
    for name in added {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
            complete = false;
        }
    }
    if !complete {
        headers.insert(header::VARY, HeaderValue::try_from(names.join(", ")).ok()?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(lines: &[(&str, &str)], coding: Coding) -> Page {
        let headers = lines.iter().map(|(name, value)| ((*name).into(), Bytes::copy_from_slice(value.as_bytes())));
        let body = Bytes::from_static(b"body");
        Page { status: 200, headers: headers.collect(), coding, body, stored_s: Some(1_793_534_400) }
    }

    fn times() -> Times {
        Times { fresh: 1, stale_while: 2, stale_error: 3, counters: Box::default() }
    }

    #[test]
    fn vary_has_the_stored_names_the_selecting_headers_and_the_coding_once_each() {
        for (stored, selected_by, coding, expected) in [
            (&[][..], &[][..], Coding::Identity, None),
            (&[], &[], Coding::Gzip, Some("Accept-Encoding")),
            (&[("vary", "accept-encoding")], &[], Coding::Gzip, Some("accept-encoding")),
            (&[("vary", "accept-encoding")], &[], Coding::Identity, Some("accept-encoding")),
            (&[], &["accept-language"], Coding::Identity, Some("accept-language")),
            (
                &[("vary", "Accept-Language")],
                &["accept-language"],
                Coding::Brotli,
                Some("Accept-Language, Accept-Encoding"),
            ),
        ] {
            let selected_by: Vec<Box<str>> = selected_by.iter().map(|name| Box::from(*name)).collect();
            let made = Made::timed(page(stored, coding), &selected_by, &[], times()).unwrap();
            let vary = made.coded.headers.get("vary").map(|value| value.to_str().unwrap());
            assert_eq!(vary, expected, "{stored:?}");
        }
    }

    #[test]
    fn a_page_that_depends_on_other_headers_than_its_key_is_not_used() {
        for vary in ["*", "cookie", "accept-encoding, Cookie"] {
            let made = Made::timed(page(&[("vary", vary)], Coding::Identity), &["accept".into()], &[], times());
            assert_eq!(made.unwrap_err(), PageOutcome::Unknown, "{vary}");
        }
    }

    #[test]
    fn a_status_that_is_only_for_one_request_is_not_used() {
        for (status, timed, versioned) in [
            (200, true, true),
            (301, true, true),
            (410, true, false),
            (304, false, false),
            (206, false, false),
            (500, false, false),
            (401, false, false),
        ] {
            let page = || Page { status, ..page(&[], Coding::Identity) };
            assert_eq!(Made::timed(page(), &[], &[], times()).is_ok(), timed, "{status}");
            assert_eq!(Made::versioned(page(), true, None).is_ok(), versioned, "{status}");
        }
    }

    #[test]
    fn clients_get_no_tags_of_caches_and_a_tag_of_the_entry_is_not_replaced() {
        let lines = [("surrogate-key", "a b"), ("cache-tags", "c"), ("content-type", "text/html")];
        let made = Made::versioned(page(&lines, Coding::Identity), true, Some("cacheable:x")).unwrap();
        assert!([&b"a"[..], b"b", b"c"].iter().all(|tag| made.has_tag(tag)) && !made.has_tag(b"d"));
        let headers = &made.coded.headers;
        assert!(!headers.contains_key("surrogate-key") && !headers.contains_key("date"));
        assert_eq!(headers["etag"], "cacheable:x");
        let made = Made::versioned(page(&[("etag", "\"own\"")], Coding::Identity), true, Some("cacheable:x")).unwrap();
        assert_eq!(made.coded.headers.get_all("etag").iter().collect::<Vec<_>>(), ["\"own\""]);
    }
}
