//! A stored response, and the replies that are made from it.

use super::purges::Stamp;
use super::rules::fields::Fields;
use super::rules::freshness::Freshness;
use super::rules::storable::Storable;
use super::rules::tags::Tags;
use super::rules::update::{for_clients, for_storage};
use super::rules::usable::{Terms, Trouble};
use super::rules::vary::Vary;
use super::status::{self, HIT};
use bytes::Bytes;
use front::{Body, KernelCopies, KernelCopy, Ranges, Reply, StoredReply};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use std::sync::Mutex;
use std::time::{Duration, UNIX_EPOCH};
use telemetry::{Layer, Millis, Reason, Subject, lock};

/// A stored response.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) status: StatusCode,
    /// As the application sent them, with `Date`, without `Age` and `Content-Length`.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The body in the kernel's memory.
    copy: KernelCopy,
    /// As HTTP/1.1 sends it, in a reply that is a fresh hit.
    head: Bytes,
    vary: Vary,
    pub(crate) terms: Terms,
    pub(crate) freshness: Freshness,
    pub(crate) stamp: Stamp,
    pub(crate) tags: Tags,
    /// About how many bytes it takes.
    pub(crate) weight: u64,
    hidden: Mutex<Option<Hidden>>,
}

/// The trouble that a stale response hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) trouble: Trouble,
    /// For the reply and its event.
    pub(crate) reason: Reason,
    at: Millis,
}

impl Hidden {
    /// How long later requests do not wait for the same trouble, in milliseconds.
    const LASTS: i64 = 120_000;

    pub(crate) fn new(trouble: Trouble, reason: Reason, at: Millis) -> Self {
        Self { trouble, reason, at }
    }
}

impl Stored {
    /// A response with these headers, which have a `Date`.
    pub(crate) fn new(status: StatusCode, headers: &HeaderMap, body: Bytes, storable: Storable, stamp: Stamp) -> Self {
        // The entry and its share of the table's spare places; the allocations of a response and its key.
        const EACH_HEADER: usize = 136;
        const ALLOCATIONS: usize = 320;
        let Storable { policy, freshness, vary, tags } = storable;
        let headers = for_storage(headers, &policy.directives);
        let mut shown = headers.clone();
        for_clients(&mut shown);
        announce_ranges(&mut shown, status);
        status::add(&mut shown, HIT);
        let head = head(status, &shown, body.len());
        let table: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + EACH_HEADER).sum();
        let parts =
            size_of::<Self>() + ALLOCATIONS + table + head.len() + vary.weight() + tags.weight() + stamp.weight();
        let weight = (parts + body.len() + KernelCopy::weight(&body)) as u64;
        let (copy, terms) = (KernelCopy::default(), Terms::of(&policy.directives));
        Self {
            status,
            headers,
            body,
            copy,
            head,
            vary,
            terms,
            freshness,
            stamp,
            tags,
            weight,
            hidden: Mutex::default(),
        }
    }

    /// It hides trouble from now on.
    pub(crate) fn hide(&self, hidden: Hidden) {
        *lock(&self.hidden) = Some(hidden);
    }

    /// The trouble that it hid not long ago.
    pub(crate) fn hidden(&self, now: Millis) -> Option<Hidden> {
        lock(&self.hidden).filter(|hidden| now.0 - hidden.at.0 < Hidden::LASTS)
    }

    /// Whether it is for requests with these headers.
    pub(crate) fn is_for(&self, request: &dyn Fields) -> bool {
        self.vary.matches(request)
    }

    /// The values of the headers that select among the responses of its URL.
    pub(crate) fn selecting(&self, request: &dyn Fields) -> Vec<u8> {
        self.vary.values(request)
    }

    /// The reply to a plain request.
    pub(crate) fn plain(&self, now: Millis, copies: &KernelCopies, subject: Subject) -> StoredReply {
        let (head, body, age) = (self.head.clone(), self.body.clone(), Some(self.freshness.age(now)));
        let file = copies.of(&self.body, &self.copy);
        StoredReply { status: self.status, head, age, body, file, layer: Layer::AppCache, subject }
    }

    /// The reply to any request, on whose conditions and ranges the front then decides. `said`: the member of `Cache-Status`.
    pub(crate) fn reply(&self, now: Millis, said: &str) -> Reply {
        let mut headers = self.headers.clone();
        for_clients(&mut headers);
        headers.insert(header::AGE, self.freshness.age(now).into());
        status::add(&mut headers, said);
        let ranges = if takes_ranges(&headers, self.status) { Ranges::Bytes } else { Ranges::None };
        let body = if self.body.is_empty() { Body::Empty } else { Body::Bytes(self.body.clone()) };
        Reply { headers, body, ranges, ..Reply::new(self.status) }
    }
}

/// Sets `Date` where the application sent none (RFC 9110, 6.6.1).
pub(crate) fn date(headers: &mut HeaderMap, now: Millis) {
    if !headers.contains_key(header::DATE) {
        let since = Duration::from_secs(now.seconds().max(0).cast_unsigned());
        if let Ok(date) = HeaderValue::from_str(&httpdate::fmt_http_date(UNIX_EPOCH + since)) {
            headers.insert(header::DATE, date);
        }
    }
}

fn takes_ranges(headers: &HeaderMap, status: StatusCode) -> bool {
    status == StatusCode::OK && headers.get(header::ACCEPT_RANGES).is_none_or(|ranges| ranges != "none")
}

fn announce_ranges(headers: &mut HeaderMap, status: StatusCode) {
    if takes_ranges(headers, status) {
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    }
}

/// The head as HTTP/1.1 sends it, with the length of the body and without the empty line.
pub(crate) fn head(status: StatusCode, headers: &HeaderMap, len: usize) -> Bytes {
    let mut head = Vec::with_capacity(64 * (headers.len() + 2));
    let mut line = |parts: &[&[u8]]| parts.iter().chain(&[&b"\r\n"[..]]).for_each(|part| head.extend_from_slice(part));
    line(&[b"HTTP/1.1 ", status.as_str().as_bytes(), b" ", status.canonical_reason().unwrap_or("<none>").as_bytes()]);
    headers.iter().for_each(|(name, value)| line(&[name.as_str().as_bytes(), b": ", value.as_bytes()]));
    if status != StatusCode::NO_CONTENT {
        line(&[header::CONTENT_LENGTH.as_str().as_bytes(), b": ", len.to_string().as_bytes()]);
    }
    head.into_boxed_slice().into()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cache::key::KeyRef;
    use crate::cache::purges::Purges;
    use crate::cache::rules::asked::Asked;
    use crate::cache::rules::freshness::Exchanged;
    use crate::cache::rules::policy::Policy;
    use crate::cache::rules::storable::storable;
    use crate::cache::status::CACHE_STATUS;
    use http::{HeaderName, Method};

    pub(crate) const NOW: Millis = Millis(1_793_534_400_000);

    pub(crate) fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    /// A stored response to a request with these headers.
    pub(crate) fn stored(
        purges: &Purges,
        key: &KeyRef<'_>,
        request: &HeaderMap,
        response: &HeaderMap,
        body: &str,
    ) -> Option<Stored> {
        let mut response = response.clone();
        date(&mut response, NOW);
        let asked = Asked::of(&Method::GET, request, false).unwrap();
        let policy = Policy::of(&response, NOW.seconds());
        let at = Exchanged { asked: NOW, answered: NOW };
        let storable = storable(&asked, request, StatusCode::OK, &response, policy, at).ok()?;
        let stamp = purges.stamp(purges.begin(), key, &storable.tags);
        Some(Stored::new(StatusCode::OK, &response, Bytes::copy_from_slice(body.as_bytes()), storable, stamp))
    }

    #[test]
    fn the_prepared_head_and_the_reply_say_the_same_and_no_tag_is_in_them() {
        let purges = Purges::default();
        let key = KeyRef::new(false, "shop", "/").unwrap();
        let response = headers(&[
            ("cache-control", "max-age=60"),
            ("surrogate-key", "secret"),
            ("x", "1"),
            ("x", "2"),
            ("cache-status", "inner; hit"),
            ("age", "5"),
        ]);
        let stored = stored(&purges, &key, &HeaderMap::new(), &response, "body").unwrap();
        let copies = KernelCopies::new("shop", 1, &telemetry::Recorder::silent(telemetry::Clock::default()));
        let plain = stored.plain(NOW.plus(Duration::from_secs(7)), &copies, Subject::default());
        let text = std::str::from_utf8(&plain.head).unwrap();
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n") && !text.contains("secret"),
            "{text}"
        );
        for line in [
            "cache-control: max-age=60",
            "x: 1",
            "x: 2",
            "date: Sun, 01 Nov 2026 12:00:00 GMT",
            "content-length: 4",
            "accept-ranges: bytes",
            "cache-status: inner; hit\r\ncache-status: daylight; hit",
        ] {
            assert!(text.contains(&format!("{line}\r\n")), "{line} in {text}");
        }
        assert!(!text.contains("age: 5") && plain.age == Some(12));
        let reply = stored.reply(NOW, "daylight; hit");
        assert_eq!(
            (&reply.headers["age"], &reply.headers["date"]),
            (&5.into(), &HeaderValue::from_static("Sun, 01 Nov 2026 12:00:00 GMT"))
        );
        assert_eq!(reply.headers.get_all(CACHE_STATUS).iter().count(), 2);
        assert!(!reply.headers.contains_key("surrogate-key") && !reply.verbatim);
    }

    #[test]
    fn the_weight_grows_with_each_part() {
        let purges = Purges::default();
        let key = KeyRef::new(false, "shop", "/").unwrap();
        let weight = |extra: &[(&'static str, &str)], body: &str| {
            let response = headers(&[&[("cache-control", "max-age=60")], extra].concat());
            stored(&purges, &key, &HeaderMap::new(), &response, body).unwrap().weight
        };
        let least = weight(&[], "");
        assert!(weight(&[], &"x".repeat(1000)) >= least + 1000);
        assert!(weight(&[("x", &"x".repeat(1000))], "") >= least + 2000);
        assert!(weight(&[("cache-tag", &"x".repeat(200))], "") >= least + 200);
        assert!(weight(&[("vary", "accept")], "") > least);
    }
}
