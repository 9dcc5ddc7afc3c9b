//! One page: its representations, and the facts that an event needs.

use super::Validity;
use crate::body::kernel_copy::KernelCopy;
use crate::conditional;
use crate::http1::response_head;
use crate::reply::Body;
use crate::reply::DAYLIGHT_EVENT;
use crate::reply::Ranges;
use crate::reply::Reply;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use telemetry::{Reason, Subject};

/// A smaller body fits into one packet without compression.
const SMALLEST: usize = 1 << 10;
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

pub(super) struct Page {
    pub(super) valid: Arc<Validity>,
    pub(super) status: StatusCode,
    pub(super) identity: Representation,
    pub(super) gzip: GzipState,
    pub(super) ranges: Ranges,
    pub(super) subject: Subject,
    pub(super) reason: Option<Reason>,
    /// About how many bytes the page takes.
    pub(super) weight: u64,
}

/// Headers and body in one coding.
#[derive(Debug, Clone)]
pub(super) struct Representation {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The body in the kernel's memory.
    pub(super) copy: KernelCopy,
    /// The head as HTTP/1.1 sends it, without the headers that differ in each reply.
    pub(super) head: Bytes,
}

/// The state of the gzip representation.
#[derive(Debug)]
pub(super) enum GzipState {
    /// The page cannot be compressed, or not enough.
    Unfit,
    /// It can be made. The flag is set when it was requested.
    Possible(AtomicBool),
    /// It is made.
    Ready(Representation),
}

impl Page {
    /// A page from `reply`, if its body is in memory. `key` is the weight of its key.
    pub(super) fn new(
        reply: &Reply,
        key: usize,
        valid: Arc<Validity>,
        subject: Subject,
        reason: Option<Reason>,
    ) -> Option<Self> {
        const FIXED: usize = 512;
        let Body::Bytes(body) = &reply.body else { return None };
        let mut headers = reply.headers.clone();
        // Replaced in each reply. A value is set here so that the headers of a hit need not grow, which costs more than
        // copying them.
        headers.insert(DAYLIGHT_EVENT, HeaderValue::from_static("0000000000000000"));
        // `Cache-Status` describes how this reply was found, and the next one is a hit (RFC 9211).
        if headers.contains_key(&CACHE_STATUS) {
            headers.insert(CACHE_STATUS, HeaderValue::from_static("daylight; hit"));
        }
        conditional::announce_ranges(&mut headers, &reply.ranges);
        // A copy: the reply's body may be a slice that keeps a much larger buffer alive.
        let identity = Representation::new(reply.status, headers, Bytes::copy_from_slice(body));
        let weight = (FIXED + key) as u64 + identity.weight();
        let fit = reply.status == StatusCode::OK && fits(&identity);
        let gzip = if fit { GzipState::Possible(AtomicBool::new(false)) } else { GzipState::Unfit };
        let (status, ranges) = (reply.status, reply.ranges.clone());
        Some(Self { valid, status, identity, gzip, ranges, subject, reason, weight })
    }

    /// The same page with its gzip representation.
    pub(super) fn with_gzip(&self, body: Bytes) -> Self {
        let gzip = self.identity.coded(self.status, HeaderValue::from_static("gzip"), body);
        let (valid, identity, subject) = (self.valid.clone(), self.identity.clone(), self.subject.clone());
        let weight = self.weight + gzip.weight();
        let (status, ranges, reason) = (self.status, self.ranges.clone(), self.reason);
        Self { valid, status, identity, gzip: GzipState::Ready(gzip), ranges, subject, reason, weight }
    }

    /// The representation for one client. `gzip` returns whether the client accepts gzip.
    pub(super) fn representation(&self, gzip: impl Fn() -> bool) -> &Representation {
        match &self.gzip {
            GzipState::Ready(form) if gzip() => form,
            _ => &self.identity,
        }
    }

    /// Whether this client is the first to ask for a gzip representation that can be made.
    pub(super) fn lacks_gzip(&self, gzip: impl Fn() -> bool) -> bool {
        match &self.gzip {
            GzipState::Possible(asked) => !asked.load(Relaxed) && gzip() && !asked.swap(true, Relaxed),
            _ => false,
        }
    }

    /// The compressor refused the page: the next client may ask again.
    pub(super) fn shed(&self) {
        if let GzipState::Possible(asked) = &self.gzip {
            asked.store(false, Relaxed);
        }
    }
}

impl Representation {
    fn new(status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        let lasting = headers.iter().filter(|(name, _)| **name != DAYLIGHT_EVENT);
        let head = response_head::begin(status, lasting, Some(body.len())).into_boxed_slice().into();
        Self { headers, body, copy: KernelCopy::default(), head }
    }

    fn weight(&self) -> u64 {
        const EACH_HEADER: usize = 64;
        let headers = self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + EACH_HEADER);
        let bodies = self.body.len() + KernelCopy::weight(&self.body);
        (headers.sum::<usize>() + self.head.len() + bodies) as u64
    }

    /// The representation in another coding. Its tag becomes weak, because the bytes differ while the meaning does not
    /// (RFC 9110, 8.8.1). Bundler removes the `W/` and compares the rest with the MD5 of the decoded body, and
    /// `Repr-Digest` is also of the decoded body.
    fn coded(&self, status: StatusCode, coding: HeaderValue, body: Bytes) -> Self {
        let mut headers = self.headers.clone();
        headers.insert(header::CONTENT_ENCODING, coding);
        if let Some(tag) = headers.get_mut(header::ETAG)
            && !tag.as_bytes().starts_with(b"W/")
            && let Ok(weak) = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat())
        {
            *tag = weak;
        }
        Self::new(status, headers, body)
    }
}

/// Whether a gzip representation may be made: it must be text, and its `Vary` must allow other codings.
fn fits(form: &Representation) -> bool {
    const TEXT: [&str; 4] = ["text/", "application/json", "application/xml", "image/svg+xml"];
    let text = |name| form.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    form.body.len() >= SMALLEST
        && TEXT.iter().any(|kind| text(header::CONTENT_TYPE).starts_with(kind))
        && text(header::VARY).split(',').any(|name| name.trim().eq_ignore_ascii_case("accept-encoding"))
}
