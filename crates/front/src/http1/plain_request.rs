//! Reads plain requests as hyper reads them: `GET` and `HEAD` without a body that keep the connection open.

use crate::limits::Limits;
use crate::request::trace;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use httparse::{Header, Status};
use std::mem::MaybeUninit;
use std::ops::Range;

/// The most header lines of a plain request.
const LINES: usize = 48;

/// Uninitialized memory for the header lines.
pub(super) fn lines<'a>() -> [MaybeUninit<Header<'a>>; LINES] {
    [const { MaybeUninit::uninit() }; LINES]
}

/// A plain request, borrowed from the buffer that it was read into.
pub(super) struct PlainRequest<'a> {
    bytes: &'a [u8],
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: &'a str,
    pub(super) lines: &'a [Header<'a>],
    /// The number of `Host` lines.
    pub(super) hosts: usize,
    /// The first `User-Agent`.
    pub(super) agent: Option<&'a [u8]>,
    /// It asks for a range, has conditions, or belongs to a trace that the client records.
    pub(super) special: bool,
}

/// The kind of a header line.
#[derive(PartialEq)]
enum About {
    Host,
    Agent,
    Condition,
    Connection,
    Trace,
    /// It declares a body, or requests another protocol.
    Body,
    Other,
}

impl<'a> PlainRequest<'a> {
    /// Parses a request that fills `bytes` exactly. `None`: it is not plain, or not valid.
    pub(super) fn read(
        bytes: &'a [u8],
        lines: &'a mut [MaybeUninit<Header<'a>>; LINES],
        limits: &Limits,
    ) -> Option<Self> {
        if bytes.len() > limits.head || !bytes.ends_with(b"\r\n\r\n") {
            return None;
        }
        let mut parsed = httparse::Request::new(&mut []);
        let Ok(Status::Complete(len)) = parsed.parse_with_uninit_headers(bytes, lines) else { return None };
        let method = match parsed.method? {
            "GET" => Method::GET,
            "HEAD" => Method::HEAD,
            _ => return None,
        };
        let target = parsed.path.filter(|target| target.starts_with('/'))?;
        let lines: &[Header<'_>] = parsed.headers;
        if len != bytes.len() || parsed.version != Some(1) || lines.len() > limits.headers {
            return None;
        }
        let mut plain = Self { bytes, method, target, lines, hosts: 0, agent: None, special: false };
        for Header { name, value } in lines {
            match about(name) {
                About::Host => plain.hosts += 1,
                About::Agent => plain.agent = plain.agent.or(Some(value)),
                About::Condition => plain.special = true,
                About::Trace => plain.special |= trace::may_be_sampled(value),
                About::Connection if value.eq_ignore_ascii_case(b"keep-alive") => {}
                About::Connection | About::Body => return None,
                About::Other => {}
            }
        }
        Some(plain)
    }

    /// The lines of `Accept-Encoding`.
    pub(super) fn codings(&self) -> impl Iterator<Item = &'a str> {
        self.values("accept-encoding")
    }

    /// The lines of `Accept`.
    pub(super) fn accepts(&self) -> impl Iterator<Item = &'a str> {
        self.values("accept")
    }

    fn values(&self, name: &'static str) -> impl Iterator<Item = &'a str> {
        let lines = self.lines.iter().filter(move |line| line.name.eq_ignore_ascii_case(name));
        lines.filter_map(|line| std::str::from_utf8(line.value).ok())
    }

    /// An owned copy.
    pub(super) fn parts(&self) -> Option<Parts> {
        let (mut head, ()) = Request::new(()).into_parts();
        let all = Bytes::copy_from_slice(self.bytes);
        let kept = |part: &[u8]| Some(all.slice(place(self.bytes, part)?));
        head.method = self.method.clone();
        head.uri = Uri::from_maybe_shared(kept(self.target.as_bytes())?).ok()?;
        head.headers.reserve(self.lines.len());
        for line in self.lines {
            let name = HeaderName::from_bytes(line.name.as_bytes()).ok()?;
            let value = match line.value {
                b"" => HeaderValue::from_static(""),
                value => HeaderValue::from_maybe_shared(kept(value)?).ok()?,
            };
            head.headers.append(name, value);
        }
        Some(head)
    }
}

fn about(name: &str) -> About {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    match name.len() {
        4 if is("host") => About::Host,
        5 if is("range") => About::Condition,
        6 if is("expect") => About::Body,
        7 if is("upgrade") => About::Body,
        10 if is("user-agent") => About::Agent,
        10 if is("connection") => About::Connection,
        11 if is("traceparent") => About::Trace,
        14 if is("content-length") => About::Body,
        17 if is("transfer-encoding") => About::Body,
        _ if name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("if-")) => About::Condition,
        _ => About::Other,
    }
}

/// The range of `part` in `whole`.
fn place(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let from = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    (from + part.len() <= whole.len()).then(|| from..from + part.len())
}
