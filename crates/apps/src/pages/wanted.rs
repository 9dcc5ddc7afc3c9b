//! The requests that a page may answer: plain reads that the application would answer in the same way for everybody.

use super::accepts::Accepts;
use crate::cache::key::KeyRef;
use crate::cache::rules::asked::Asked;
use crate::cache::rules::fields::{Fields, joined};
use crate::options::{PageFormat, PagesOptions};
use format::page::coding::Coding;
use format::page::key::stored_coding;
use http::{HeaderMap, Method, header};
use std::borrow::Cow;

/// A request that a page may answer.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    /// Its URL.
    pub(super) url: KeyRef<'a>,
    /// The coding in the key of its page.
    pub(super) coding: Coding,
    pub(super) accepts: Accepts,
    pub(super) headers: &'a HeaderMap,
}

impl<'a> Wanted<'a> {
    /// Reads a request. `None`: it goes to the application, whatever is stored.
    pub(crate) fn of(
        options: &PagesOptions,
        url: KeyRef<'a>,
        method: &Method,
        headers: &'a HeaderMap,
        has_body: bool,
    ) -> Option<Self> {
        let asked = Asked::of(method, headers, has_body)?;
        // A reload of a browser reaches the application.
        let insists = asked.directives.no_cache || asked.directives.no_store;
        if asked.authorized || insists || headers.contains_key(header::UPGRADE) {
            return None;
        }
        let is_keyed = options.format != PageFormat::Hc1;
        let bypasses = &options.bypass_cookies;
        let (_, query) = split(url.target());
        if (!bypasses.is_empty() && has_cookie(headers, bypasses)) || (is_keyed && has_switch(query)) {
            return None;
        }
        let accepts = Accepts::of(headers);
        let coding = if is_keyed { keyed_coding(headers) } else { Coding::Identity };
        (!accepts.is_none()).then_some(Self { url, coding, accepts, headers })
    }

    /// Its path, and its query, which is empty if there is none.
    pub(super) fn path_and_query(&self) -> (&'a str, &'a str) {
        split(self.url.target())
    }
}

pub(super) fn split(target: &str) -> (&str, &str) {
    target.split_once('?').unwrap_or((target, ""))
}

/// The coding that response_bank chooses. To the application several lines are one.
fn keyed_coding(headers: &HeaderMap) -> Coding {
    let mut lines = headers.get_all(header::ACCEPT_ENCODING).iter();
    match (lines.next(), lines.next()) {
        (None, _) => stored_coding(b""),
        (Some(line), None) => stored_coding(line.as_bytes()),
        _ => stored_coding(&joined(headers, "accept-encoding").unwrap_or_default()),
    }
}

/// Whether one of these cookies is sent. `,` counts as a separator too, as it did for older applications (RFC 2965).
fn has_cookie(headers: &HeaderMap, names: &[String]) -> bool {
    let mut has = false;
    headers.each("cookie", &mut |line| {
        let mut cookies = line.split(|byte| matches!(byte, b';' | b','));
        has |= cookies.any(|cookie| {
            let name = cookie.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
            names.iter().any(|known| known.as_bytes() == name)
        });
    });
    has
}

/// Whether a query has one of response_bank's switches: `cache=false`, `fill_cache=true`.
pub(super) fn has_switch(query: &str) -> bool {
    query.split(['&', ';']).any(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        matches!((&*decoded(name), &*decoded(value)), (b"cache", b"false") | (b"fill_cache", b"true"))
    })
}

/// A name or a value of a query without its percent-encoding.
fn decoded(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'%') {
        return Cow::Borrowed(bytes);
    }
    let (mut all, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let code = digits.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        all.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    fn is_wanted(format: PageFormat, method: Method, target: &str, lines: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        let options = PagesOptions { bypass_cookies: vec!["_session".to_owned()], ..PagesOptions::of(format) };
        let url = KeyRef::new(false, "shop", target).unwrap();
        Wanted::of(&options, url, &method, &headers, false).is_some()
    }

    #[test]
    fn a_request_that_the_application_might_answer_for_one_user_goes_to_it() {
        let asks = |lines: &[(&'static str, &str)]| is_wanted(PageFormat::Hc1, Method::GET, "/", lines);
        for lines in [
            &[][..],
            &[("cookie", "a=b; _sessions=1; x_session=2")],
            &[("cookie", "a=_session")],
            &[("cache-control", "max-age=0")],
            &[("range", "bytes=0-1")],
            &[("if-none-match", "\"x\"")],
        ] {
            assert!(asks(lines), "{lines:?}");
        }
        for lines in [
            &[("authorization", "Basic x")][..],
            &[("cookie", "_session")],
            &[("cookie", "a=b"), ("cookie", "c=d;_session=")],
            &[("cookie", "a=b, _session =x")],
            &[("cache-control", "no-cache")],
            &[("cache-control", "max-age=0, No-Store")],
            &[("pragma", "no-cache")],
            &[("upgrade", "websocket")],
            &[("x-http-method-override", "DELETE")],
            &[("x_http_method_override", "DELETE")],
            &[("accept-encoding", "identity;q=0")],
        ] {
            assert!(!asks(lines), "{lines:?}");
        }
        assert!(is_wanted(PageFormat::Hc1, Method::HEAD, "/", &[]));
        assert!(!is_wanted(PageFormat::Hc1, Method::POST, "/", &[]));
    }

    #[test]
    fn the_switches_of_response_bank_reach_the_application() {
        for (query, is_switch) in [
            ("", false),
            ("cache", false),
            ("cache=true&fill_cache=false", false),
            ("xcache=false", false),
            ("a=b&cache=false", true),
            ("fill_cache=true;x", true),
            ("c%61che=f%61lse", true),
            ("cache=false%", false),
            ("%zz=%6&%66ill_cache=%74%72ue", true),
            ("cache=%C3", false),
        ] {
            assert_eq!(has_switch(query), is_switch, "{query}");
            let target = format!("/x?{query}");
            assert_eq!(is_wanted(PageFormat::ResponseBank, Method::GET, &target, &[]), !is_switch);
            assert!(is_wanted(PageFormat::Hc1, Method::GET, &target, &[]));
        }
    }
}
