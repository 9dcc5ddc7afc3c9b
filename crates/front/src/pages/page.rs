//! A complete answer: its forms, and what an event needs to be whole without facts anybody.

use super::kernel_copy::KernelCopy;
use crate::http1::response_head;
use crate::reply::Body;
use crate::reply::DAYLIGHT_EVENT;
use crate::reply::Ranges;
use crate::reply::Reply;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use telemetry::{Reason, Subject};

/// Less fits into one packet as it is.
const SMALLEST: usize = 1 << 10;
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

pub(super) struct Page<S> {
    pub(super) stamp: S,
    pub(super) status: StatusCode,
    pub(super) identity: Representation,
    pub(super) gzip: GzipState,
    pub(super) ranges: Ranges,
    pub(super) subject: Subject,
    pub(super) reason: Option<Reason>,
    /// Bytes that it takes, roughly.
    pub(super) weight: u64,
}

/// Headers and body in one coding.
#[derive(Debug, Clone)]
pub(super) struct Representation {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The same where the kernel can send it from.
    pub(super) copy: KernelCopy,
    /// What HTTP/1.1 says before it, without what each reply says anew.
    pub(super) head: Bytes,
}

/// How far the gzip form is.
#[derive(Debug)]
pub(super) enum GzipState {
    /// There will be none.
    Unfit,
    /// It can be made; whether somebody has asked for it.
    Possible(AtomicBool),
    /// Here it is.
    Ready(Representation),
}

impl<S> Page<S> {
    /// What `reply` says, if it is in memory. `key` is the weight of what it will be found by.
    pub(super) fn new(reply: &Reply, key: usize, stamp: S, subject: Subject, reason: Option<Reason>) -> Option<Self> {
        const FIXED: usize = 512;
        let Body::Bytes(body) = &reply.body else { return None };
        let mut headers = reply.headers.clone();
        // Set anew on the way out. They are here so that a hit's headers need not grow, which costs more than their copy.
        headers.insert(DAYLIGHT_EVENT, HeaderValue::from_static("0000000000000000"));
        // Whatever was done for who asked first, nothing is for the next (RFC 9211).
        if headers.contains_key(&CACHE_STATUS) {
            headers.insert(CACHE_STATUS, HeaderValue::from_static("daylight; hit"));
        }
        if reply.ranges.any() {
            headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        }
        // A copy: the reply's may be a small part of something large that it would keep alive.
        let identity = Representation::new(reply.status, headers, Bytes::copy_from_slice(body));
        let weight = (FIXED + key) as u64 + identity.weight();
        let fit = reply.status == StatusCode::OK && fits(&identity);
        let gzip = if fit { GzipState::Possible(AtomicBool::new(false)) } else { GzipState::Unfit };
        let (status, ranges) = (reply.status, reply.ranges.clone());
        Some(Self { stamp, status, identity, gzip, ranges, subject, reason, weight })
    }

    /// The same page with its gzip form.
    pub(super) fn with_gzip(&self, body: Bytes) -> Self
    where
        S: Clone,
    {
        let gzip = self.identity.coded(self.status, HeaderValue::from_static("gzip"), body);
        let (stamp, identity, subject) = (self.stamp.clone(), self.identity.clone(), self.subject.clone());
        let weight = self.weight + gzip.weight();
        let (status, ranges, reason) = (self.status, self.ranges.clone(), self.reason);
        Self { stamp, status, identity, gzip: GzipState::Ready(gzip), ranges, subject, reason, weight }
    }

    /// The form for somebody: `gzip` tells whether they take that.
    pub(super) fn form(&self, gzip: impl Fn() -> bool) -> &Representation {
        match &self.gzip {
            GzipState::Ready(form) if gzip() => form,
            _ => &self.identity,
        }
    }

    /// Whether somebody is the first to ask for a gzip form that could be made.
    pub(super) fn lacks_gzip(&self, gzip: impl Fn() -> bool) -> bool {
        match &self.gzip {
            GzipState::Possible(asked) => !asked.load(Relaxed) && gzip() && !asked.swap(true, Relaxed),
            _ => false,
        }
    }

    /// The gzip form was asked for in vain: the next one may try again.
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

    /// The same in another coding. Its tag is the same, but weak: the bytes differ, and what they mean does not (RFC 9110,
    /// 8.8.1). Bundler takes the `W/` off and compares the rest with the MD5 of what it has decoded, which is also what
    /// `Repr-Digest` is of.
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

/// Whether a gzip form may be made: whoever made the reply says by `Vary` that it may come in several, and it is text.
fn fits(form: &Representation) -> bool {
    const TEXT: [&str; 4] = ["text/", "application/json", "application/xml", "image/svg+xml"];
    let text = |name| form.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    form.body.len() >= SMALLEST
        && TEXT.iter().any(|kind| text(header::CONTENT_TYPE).starts_with(kind))
        && text(header::VARY).split(',').any(|name| name.trim().eq_ignore_ascii_case("accept-encoding"))
}
